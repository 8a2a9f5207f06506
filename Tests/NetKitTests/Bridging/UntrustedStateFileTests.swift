import NetKitCompat
import NetKitTesting
import Testing

@testable import NetKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Files that another user could have placed in a state directory are neither used nor shown.
@Suite(.timeLimit(.minutes(5)))
struct UntrustedStateFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func credentialsAreNotReadFromAFolderWritableByOthers() async throws {
        let tree = try TemporaryTree()
        let path = tree.file("kept")
        let space = ProtectionSpace(scheme: "http", host: "a.example", port: 80, realm: "r")
        try await CredentialStore(folder: path).set(.basic(user: "me", password: "p"), for: space, isKept: true)
        #expect(try await CredentialStore(folder: path).credentials(for: space)?.user == "me")
        #expect(unsafe chmod(path, 0o777) == 0)
        let error = await #expect(throws: NetError.self) {
            try await CredentialStore(folder: path).credentials(for: space)
        }
        #expect(error?.code == .file && error?.message.contains("chmod go-w") == true)
        #expect(unsafe chmod(path, 0o700) == 0)
    }

    @Test func partialDownloadsInAFolderWritableByOthersAreNotResumed() async throws {
        #expect(unsafe chmod(folder.path, 0o777) == 0)
        let agent = Agent(transport: StubTransport())
        let error = await #expect(throws: NetError.self) { try await agent.resumePartialDownloads(in: folder.path) }
        #expect(error?.code == .file && error?.message.contains("chmod go-w") == true)
        await #expect(throws: NetError.self) { try await agent.partialDownloads(in: folder.path) }
        await #expect(throws: NetError.self) { try await agent.adoptDownloads(in: folder.path) }
        await #expect(throws: NetError.self) { try await agent.purgePartialDownloads(in: folder.path, olderThan: nil) }
    }

    @Test func plantedDownloadRecordIsReportedWithItsReason() async throws {
        let stub = StubTransport()
        try folder.write(
            Array("netkit partial download 1\nurl http://evil.example/\n".utf8), to: "z.part.nk", mode: 0o622)
        try folder.write([], to: "z.part", mode: 0o666)
        let agent = Agent(transport: stub)
        let results = try await agent.resumePartialDownloads(in: folder.path)
        #expect(results.count == 1 && results.first?.0.partialPath == folder.file("z.part"))
        #expect(results.first?.0.url == "" && results.first?.0.path == "")
        guard case .failure(let error) = results.first?.1 else { return #expect(Bool(false)) }
        #expect(error.code == .file && error.message.contains("z.part.nk"))
        #expect(stub.requests.isEmpty)
        #expect(try await agent.partialDownloads(in: folder.path).isEmpty)
    }
}

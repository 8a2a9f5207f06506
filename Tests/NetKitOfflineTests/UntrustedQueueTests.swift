import NetKit
import NetKitOffline
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Files that another user could have placed in the directory of a queue are not sent.
@Suite(.timeLimit(.minutes(5)))
struct UntrustedQueueTests {
    private static let stranger: uid_t = 65534
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func planted(_ url: String = "http://a.example/loot", bodyFile: String? = nil) -> [UInt8] {
        let body = bodyFile.map { #","bodyFile":"\#($0)""# } ?? ""
        return Array(
            #"{"expiresAt":9e9,"fields":[],"id":1,"keptAt":1,"method":"PUT","url":"\#(url)"\#(body)}"#.utf8)
    }

    /// Checks both queues in the same directory.
    private func assertQueuesRefuse(_ part: String, _ place: SourceLocation = #_sourceLocation) throws {
        let offline = #expect(throws: NetError.self, sourceLocation: place) {
            try OfflineQueue(folder: folder.path, reachability: Reachability(), onOutcome: { _ in })
        }
        let upload = #expect(throws: NetError.self, sourceLocation: place) { try UploadQueue(folder: folder.path) }
        for error in [offline, upload] {
            #expect(error?.code == .file, sourceLocation: place)
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")", sourceLocation: place)
        }
    }

    @Test(arguments: [0o777, 0o770, 0o775, 0o702])
    func queueRefusesAFolderWritableByOthers(mode: mode_t) throws {
        try folder.write(planted(), to: "000000000001.json")
        #expect(unsafe chmod(folder.path, mode) == 0)
        try assertQueuesRefuse("chmod go-w")
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        #expect(try UploadQueue(folder: folder.path).uploads.count == 1)
    }

    @Test(arguments: [0o666, 0o660, 0o602])
    func queueRefusesARequestFileWritableByOthers(mode: mode_t) throws {
        try folder.write(planted(), to: "000000000001.json", mode: mode)
        try assertQueuesRefuse("000000000001.json")
    }

    @Test func queueRefusesASymbolicLinkAsARequestFile() throws {
        try folder.write(planted(), to: "elsewhere")
        try folder.link("000000000001.json", to: folder.file("elsewhere"))
        try assertQueuesRefuse("symbolic link")
    }

    @Test func queueRefusesAFolderBehindASymbolicLink() throws {
        let other = try TemporaryFolder()
        try other.link("queue", to: folder.path)
        for path in ["queue", "queue/"] {
            let error = #expect(throws: NetError.self) { try UploadQueue(folder: other.file(path)) }
            #expect(error?.message.contains("symbolic link") == true)
        }
    }

    @Test func queueRefusesABodyFileWritableByOthers() throws {
        try folder.write(planted(bodyFile: folder.file("000000000001.body")), to: "000000000001.json", mode: 0o600)
        try folder.write(Array("mine".utf8), to: "000000000001.body", mode: 0o660)
        try assertQueuesRefuse("000000000001.body")
    }

    /// Only root can create files of another user.
    @Test(.enabled(if: geteuid() == 0)) func queueRefusesFilesOfAnotherUser() throws {
        try folder.write(planted(), to: "000000000001.json", mode: 0o600)
        let record = folder.file("000000000001.json")
        #expect(unsafe chmod(folder.path, 0o1777) == 0)
        #expect(unsafe chown(record, Self.stranger, Self.stranger) == 0)
        try assertQueuesRefuse("belongs to user 65534")
        #expect(unsafe chown(record, 0, 0) == 0)
        #expect(try UploadQueue(folder: folder.path).uploads.count == 1)
        #expect(unsafe chown(folder.path, Self.stranger, Self.stranger) == 0)
        try assertQueuesRefuse("belongs to user 65534")
    }

    @Test func queueAcceptsItsOwnFilesInItsOwnFolder() async throws {
        let tree = try TemporaryTree()
        let path = tree.file("made/here")
        do {
            let queue = try UploadQueue(folder: path)
            let body = Body.text(String(repeating: "x", count: 100_000))
            try await queue.add(Request<Void>("http://a.example/", method: .put, body: body))
        }
        #expect(try UploadQueue(folder: path).uploads.count == 1)
    }
}

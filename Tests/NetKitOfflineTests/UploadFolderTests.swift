import NetKit
import NetKitOffline
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Ownership of an upload queue's directory.
struct UploadFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func directoryHasOneQueue() throws {
        var first: UploadQueue? = try UploadQueue(folder: folder.path)
        let error = #expect(throws: NetError.self) { try UploadQueue(folder: folder.path) }
        #expect(error?.code == .file && error?.nativeCode == Int(EWOULDBLOCK))
        #expect(error?.message.contains("used by another queue") == true)
        #expect(first != nil)
        first = nil
        _ = try UploadQueue(folder: folder.path)
    }

    private func descriptors(of path: String) -> [Int32] {
        var wanted = stat()
        guard unsafe stat(path, &wanted) == 0 else { return [] }
        return (0..<min(getdtablesize(), 1 << 16)).filter { descriptor in
            var found = stat()
            return unsafe fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino
                && found.st_dev == wanted.st_dev
        }
    }

    @Test func folderIsReleasedAlthoughAChildProcessInheritedIt() throws {
        var first: UploadQueue? = try UploadQueue(folder: folder.path)
        // Between fork() and exec() a child process has all descriptors.
        let inherited = descriptors(of: folder.path).map { dup($0) }
        defer { inherited.forEach { _ = close($0) } }
        #expect(inherited.count == 1 && first != nil)
        first = nil
        _ = try UploadQueue(folder: folder.path)
    }

    @Test func trailingClosureReceivesEachOutcome() async throws {
        let stub = StubTransport()
        stub.register("*", with: .status(503), .status(201))
        let (told, prepared, time) = (Collected<String>(), Collected<String>(), StubTime())
        let queue = try UploadQueue(folder: folder.path, time: time.source) { outcome in told.append("\(outcome)") }
        try await queue.add(Request<Void>("http://a.example/1", method: .put, body: .text("x")))
        await Agent(transport: stub).upload(queue, untilEmpty: true)
        #expect(told.values.count == 1 && told.values.first?.hasPrefix("answered") == true)
        let otherFolder = try TemporaryFolder()
        let other = try UploadQueue(
            folder: otherFolder.path, time: time.source, onOutcome: { outcome in told.append("\(outcome)") },
            prepare: { prepared.append($0.url) })
        try await other.add(Request<Void>("http://a.example/2", method: .put, body: .text("x")))
        await Agent(transport: stub).upload(other, untilEmpty: true)
        #expect(told.values.count == 2 && prepared.values == ["http://a.example/2"])
    }

    @Test func unusableFolderIsReported() throws {
        for path in ["", "/dev/null/x", "/proc/self/x"] {
            #expect(throws: NetError.self) { try UploadQueue(folder: path) }
        }
    }
}

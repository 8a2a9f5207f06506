#if os(Linux)
import Glibc
import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// Upload queues whose process is killed at any point, and the processes after it.
@Suite(.timeLimit(.minutes(5)))
struct UploadKillTests {
    private static let count = 6

    /// Runs one process: adds the uploads if there are none yet, and sends until it is killed.
    private static func live(in folder: String, files: String, server: String, point: String, number: Int) async throws
    {
        let queue = try UploadQueue(folder: folder, maxConcurrent: 2) { _ in
            if point == "told" {
                kill(getpid(), SIGKILL)
            }
        }
        if queue.uploads.isEmpty {
            for number in 0..<count {
                try await queue.add(
                    Request<Void>(
                        "\(server)/\(number)", method: .post, body: .file("\(files)/\(number)")),
                    keeping: number % 2 == 0 ? .copy : .path)
            }
        }
        let agent = Agent(configured: { $0.interceptors = [CancellingInterceptor(point: point, number: number)] })
        await agent.upload(queue, untilEmpty: true)
    }

    @Test(arguments: [("before", 1), ("before", 4), ("answered", 1), ("answered", 5), ("told", 0)])
    func everyFileArrivesWithItsOriginalKey(point: String, number: Int) async throws {
        let server = try LoopbackServer()
        server.script("*", Reply(status: 201))
        let (folder, files) = (try TemporaryFolder(), try TemporaryFolder())
        for number in 0..<Self.count {
            try files.write(pattern(20_000, from: number), to: "\(number)")
        }
        let (queuePath, filePath, url) = (folder.path, files.path, server.url(""))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [queuePath = queuePath as String, filePath = filePath as String, url = url as String, point, number] in
            try await Self.live(in: queuePath, files: filePath, server: url, point: point, number: number)
        }
        // The next process is killed at its first response. The last one is not killed.
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [queuePath = queuePath as String, filePath = filePath as String, url = url as String] in
            try await Self.live(in: queuePath, files: filePath, server: url, point: "answered", number: 1)
        }
        let lastQueue = try UploadQueue(folder: folder.path)
        #expect(!lastQueue.uploads.isEmpty)
        await Agent().upload(lastQueue, untilEmpty: true)
        #expect(folder.names == [])
        var keys: [String: Set<String>] = [:]
        for index in 0..<server.requestCount {
            let received = server.received(index)
            let path = String(received.requestLine.split(separator: " ")[1])
            keys[path, default: []].formUnion(received.values(named: "Idempotency-Key"))
            let number = try #require(Int(path.dropFirst()))
            #expect(received.body == pattern(20_000, from: number))
        }
        #expect(keys.keys.sorted() == (0..<Self.count).map { "/\($0)" })
        #expect(keys.values.allSatisfy { $0.count == 1 })
        #expect(Set(keys.values.flatMap { $0 }).count == Self.count)
    }

    @Test func folderIsLockedAgainstAnotherProcess() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let queue = try UploadQueue(folder: path)
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            do {
                _ = try UploadQueue(folder: path)
            } catch let error as NetError {
                exit(error.code == .file ? 7 : 8)
            }
        }
        #expect(queue.uploads.isEmpty)
    }
}
#endif

#if os(Linux)
import Glibc
import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// Offline queues whose process is killed at any point, and the processes after it.
@Suite(.timeLimit(.minutes(5)))
struct OfflineQueueCrashTests {
    /// Sends every request to a server on this machine, which is always reachable.
    private struct Leading: Interceptor {
        let server: String

        func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
            var led = call
            led.request.url = call.request.url.replacing(OfflineQueueCrashTests.host, with: server)
            return try await next(led)
        }
    }

    private static let count = 6
    private static let host = "http://a.example"

    /// Runs one process: queues requests while the network is unreachable, then sends them until it is killed.
    private static func live(in folder: String, server: String, point: String, number: Int) async throws {
        let path = StubPath(.notReachable)
        let queue = try OfflineQueue(folder: folder, reachability: Reachability(path)) { _ in
            if point == "reported" {
                kill(getpid(), SIGKILL)
            }
        }
        let layers: [any Interceptor] = [
            queue, CancellingInterceptor(point: point, number: number), Leading(server: server),
        ]
        let agent = Agent(configured: { $0.interceptors = layers })
        if queue.requests.isEmpty {
            for number in 0..<count {
                let request = Request<Void>("\(host)/\(number)", method: .put, body: .text("body \(number)"))
                _ = try? await agent.send(request)
            }
            if point == "kept" {
                kill(getpid(), SIGKILL)
            }
        }
        path.set(.viaWiFiOrWired)
        await agent.drain(queue)
    }

    @Test(arguments: [
        ("kept", 0), ("before", 1), ("before", 4), ("answered", 1), ("answered", 5), ("reported", 0),
    ])
    func everyRequestArrivesInOrderAndAtMostOneTwice(point: String, number: Int) async throws {
        let server = try LoopbackServer()
        server.script("*", Reply(status: 201))
        let folder = try TemporaryFolder()
        let (path, url) = (folder.path, server.url(""))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, url = url as String, point, number] in
            try await Self.live(in: path, server: url, point: point, number: number)
        }
        // The next process is killed at its first response. The last one is not killed.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, url = url as String] in
            try await Self.live(in: path, server: url, point: "answered", number: 1)
        }
        let (outcomeStream, ended) = AsyncStream.makeStream(of: Void.self)
        let lastQueue = try OfflineQueue(folder: path, reachability: Reachability(StubPath())) { _ in
            ended.yield()
        }
        let left = lastQueue.requests.count
        #expect(left > 0)
        let agent = Agent(configured: { $0.interceptors = [lastQueue, Leading(server: url)] })
        let drain = Task { await agent.drain(lastQueue) }
        var outcomes = outcomeStream.makeAsyncIterator()
        for _ in 0..<left {
            await outcomes.next()
        }
        drain.cancel()
        await drain.value
        #expect(lastQueue.requests.isEmpty)
        var seen: [Int] = []
        for index in 0..<server.requestCount {
            let received = server.received(index)
            let number = try #require(received.requestLine.split(separator: " ")[1].dropFirst().first?.wholeNumberValue)
            #expect(received.body == Array("body \(number)".utf8))
            seen.append(number)
        }
        #expect(seen == seen.sorted() && Set(seen) == Set(0..<Self.count))
        // Each killed process had one request in flight.
        #expect(seen.count <= Self.count + 2)
    }
}
#endif

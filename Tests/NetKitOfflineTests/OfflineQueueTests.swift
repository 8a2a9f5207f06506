import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// Requests that are queued while the network is unreachable, and sent in order when it is reachable.
struct OfflineQueueTests {
    private let stub = StubTransport()
    private let path = StubPath(.notReachable)
    private let time = StubTime()
    private let reachability: Reachability
    private let folder: TemporaryFolder
    private let outcomes = OutcomeRecorder()

    /// Records the outcomes of queued requests.
    private final class OutcomeRecorder: Sendable {
        private let list = Lock<[String]>([])
        private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        var all: [String] { list.withLock { $0 } }

        func note(_ outcome: OfflineQueue.Outcome) {
            let line =
                switch outcome {
                case .answered(let request, let response): "\(request.id) answered \(response.status)"
                case .failed(let request, let error): "\(request.id) failed \(error.code)"
                case .expired(let request): "\(request.id) expired"
                }
            list.withLock { $0.append(line) }
            continuation.yield()
        }

        func wait(for count: Int) async {
            if all.count >= count {
                return
            }
            for await _ in stream where all.count >= count {
                return
            }
        }
    }

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.register("*", with: .text("done"))
    }

    private func queue(
        lifetime: Duration = .seconds(60), maxCount: Int = 100, maxBodyBytes: Int = 1000,
        isWanted: @escaping @Sendable (Request<Bytes>) -> Bool = { _ in true },
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws -> OfflineQueue {
        try OfflineQueue(
            folder: folder.path, reachability: reachability, lifetime: lifetime, maxCount: maxCount,
            maxBodyBytes: maxBodyBytes, time: time.source, onOutcome: { [outcomes] in outcomes.note($0) },
            isWanted: isWanted, prepare: prepare)
    }

    private func agent(_ queue: OfflineQueue) -> Agent {
        var configuration = Agent.Configuration(headers: ["X-App": "7"])
        configuration.interceptors = [queue]
        return Agent(configuration, transport: stub)
    }

    private func code(_ request: Request<Bytes>, _ agent: Agent) async -> NetError.Code? {
        do throws(NetError) {
            _ = try await agent.send(request)
            return nil
        } catch {
            return error.code
        }
    }

    private func put(_ place: String, _ text: String = "x") -> Request<Bytes> {
        Request<Bytes>("http://a.example\(place)", method: .put, body: .text(text))
    }

    @Test func idempotentRequestsAreQueuedAndSentInOrder() async throws {
        let queue = try queue()
        let agent = agent(queue)
        var keyed = Request<Bytes>("http://a.example/2", method: .post, body: .text("two"))
        keyed.headers["Idempotency-Key"] = "k-2"
        #expect(await code(put("/1", "one"), agent) == .queued)
        #expect(await code(keyed, agent) == .queued)
        #expect(await code(Request<Bytes>("http://a.example/3"), agent) == .queued)
        #expect(stub.requests.isEmpty)
        #expect(queue.requests.map(\.id) == [1, 2, 3])
        // `drain` may wait for the network before the path changes. The gate keeps that wait from advancing the
        // simulated clock, which would make the requests expire.
        time.hold(by: StubGate())
        let draining = Task { await agent.drain(queue) }
        path.set(.viaCellular)
        await outcomes.wait(for: 3)
        #expect(outcomes.all == ["1 answered 200", "2 answered 200", "3 answered 200"])
        #expect(stub.requests.map(\.path) == ["/1", "/2", "/3"])
        #expect(stub.requests[1].headers["Idempotency-Key"] == "k-2")
        #expect(Array(stub.requests[0].body) == Array("one".utf8))
        #expect(stub.requests[0].headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(folder.names == [] && queue.requests.isEmpty)
        draining.cancel()
        await draining.value
    }

    @Test func postWithoutAnIdempotencyKeyIsNotQueued() async throws {
        let queue = try queue()
        stub.register("/", with: .failure(.unreachable))
        let post = Request<Bytes>("http://a.example/", method: .post, body: .text("x"))
        #expect(await code(post, agent(queue)) == .unreachable)
        #expect(queue.requests.isEmpty && folder.names == [])
    }

    @Test func requestWithoutARouteIsQueued() async throws {
        path.set(.viaWiFiOrWired)
        let queue = try queue()
        stub.register("/no-route", with: .failure(.unreachable))
        stub.register("/refused", with: .failure(.refused))
        let agent = agent(queue)
        #expect(await code(put("/no-route"), agent) == .queued)
        #expect(await code(Request<Bytes>("http://a.example/refused"), agent) == .refused)
    }

    @Test func queueSurvivesARestartInOrder() async throws {
        do {
            let agent = agent(try queue())
            for number in 1...12 {
                #expect(await code(put("/\(number)"), agent) == .queued)
            }
        }
        try folder.write(Array("{\"id\":5".utf8), to: "000000000099.json")  // not a request: kept
        try folder.write(Array("half".utf8), to: "000000000004.json.nk-77.part")  // an interrupted write: removed
        let again = try queue()
        #expect(again.requests.map(\.id) == Array(1...12))
        #expect(!folder.names.contains("000000000004.json.nk-77.part"))
        #expect(folder.names.contains("000000000099.json"))
        path.set(.viaWiFiOrWired)
        let agent = agent(again)
        let draining = Task { await agent.drain(again) }
        await outcomes.wait(for: 12)
        draining.cancel()
        await draining.value
        #expect(stub.requests.map(\.path) == (1...12).map { "/\($0)" })
        #expect(again.requests.isEmpty)
    }

    @Test func queueFilesContainNoSecret() async throws {
        let queue = try queue(prepare: { request throws(NetError) in
            request.headers["Authorization"] = "Bearer fresh"
        })
        let agent = agent(queue)
        var request = put("/1")
        request.headers["Authorization"] = "Bearer hunter2"
        request.headers["Cookie"] = "sid=hunter2"
        request.headers["X-Api-Key"] = "hunter2"
        request.headers["Idempotency-Key"] = "k1"
        request.credentials = .basic(user: "u", password: "hunter2")
        #expect(await code(request, agent) == .queued)
        let written = String(decoding: try #require(folder.contents(of: "000000000001.json")), as: UTF8.self)
        #expect(!written.contains("hunter2") && written.contains("k1"))
        stub.register("/", with: .failure(.unreachable))
        for url in ["http://a.example/?access_token=hunter2", "http://u:hunter2@a.example/"] {
            #expect(await code(Request<Bytes>(url), agent) == .unreachable)
        }
        let login = Request<Bytes>(
            "http://a.example/", method: .put,
            body: Body(Bytes(Array(#"{"password":"hunter2"}"#.utf8)), contentType: "application/json"))
        #expect(await code(login, agent) == .unreachable)
        #expect(queue.refusal(of: Call(login)) == "its body contains a secret")
        #expect(folder.names.count == 1)
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 1)
        draining.cancel()
        #expect(stub.requests.last?.headers["Authorization"] == "Bearer fresh")
        #expect(stub.requests.last?.headers["X-App"] == "7")
    }

    @Test func queuedRequestExpires() async throws {
        let queue = try queue(lifetime: .seconds(10))
        let agent = agent(queue)
        #expect(await code(put("/1"), agent) == .queued)
        time.advance(by: .seconds(6))
        #expect(await code(put("/2"), agent) == .queued)
        time.advance(by: .seconds(6))
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 2)
        draining.cancel()
        #expect(outcomes.all == ["1 expired", "2 answered 200"])
        #expect(folder.names == [])
    }

    @Test func transientFailureKeepsTheQueuePosition() async throws {
        let queue = try queue()
        let agent = agent(queue)
        #expect(await code(put("/1"), agent) == .queued)
        #expect(await code(put("/2"), agent) == .queued)
        stub.register("/1", with: .failure(.reset), .status(503), .failure(.firstByteTimeout), .status(404))
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 2)
        draining.cancel()
        #expect(outcomes.all == ["1 answered 404", "2 answered 200"])
        #expect(stub.requests.map(\.path) == ["/1", "/1", "/1", "/1", "/2"])
        #expect(time.waits == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func permanentFailureRemovesTheRequest() async throws {
        let queue = try queue()
        let agent = agent(queue)
        #expect(await code(put("/1"), agent) == .queued)
        #expect(await code(put("/2"), agent) == .queued)
        stub.register("/1", with: .failure(.tlsUntrusted))
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 2)
        draining.cancel()
        #expect(outcomes.all == ["1 failed tlsUntrusted", "2 answered 200"])
    }

    @Test func changeDoesNotOvertakeAQueuedRequest() async throws {
        let queue = try queue()
        let agent = agent(queue)
        #expect(await code(put("/1", "old"), agent) == .queued)
        path.set(.viaWiFiOrWired)
        #expect(await code(put("/1", "new"), agent) == .queued)
        #expect(await code(Request<Bytes>("http://a.example/read"), agent) == nil)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 2)
        draining.cancel()
        #expect(stub.requests.map { String(decoding: Array($0.body), as: UTF8.self) } == ["", "old", "new"])
    }

    @Test func unqueueableRequestIsSentNormally() async throws {
        let queue = try queue(maxCount: 1, maxBodyBytes: 10) { $0.headers["X-Never"] == nil }
        let agent = agent(queue)
        stub.register("/", with: .failure(.unreachable))
        #expect(await code(put("/", "more than ten bytes"), agent) == .unreachable)
        var unwanted = put("/")
        unwanted.headers["X-Never"] = "1"
        #expect(await code(unwanted, agent) == .unreachable)
        let pieces = AsyncStream<Bytes> { $0.finish() }
        #expect(
            await code(
                Request<Bytes>("http://a.example/", method: .put, body: .once(length: 0, pieces)), agent)
                == .unreachable)
        await #expect(throws: NetError.self) { try await agent.stream(Request<Bytes>("http://a.example/")) }
        #expect(queue.requests.isEmpty)
        #expect(await code(put("/"), agent) == .queued)
        #expect(await code(put("/"), agent) == .unreachable)  // full
        #expect(await code(Request<Bytes>("http://localhost/ok"), agent) == nil)  // requests to this machine are sent
        #expect(queue.remove(1) && !queue.remove(1))
        #expect(folder.names == [])
    }

    @Test func fileBodyIsQueuedByItsPath() async throws {
        let other = try TemporaryFolder()
        try other.write(Array("content".utf8), to: "upload.txt")
        let queue = try queue()
        let agent = agent(queue)
        let upload = Request<Bytes>(
            "http://a.example/up", method: .put, body: .file(other.file("upload.txt"), contentType: "text/x"))
        #expect(await code(upload, agent) == .queued)
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        await outcomes.wait(for: 1)
        draining.cancel()
        #expect(Array(try #require(stub.requests.first).body) == Array("content".utf8))
        #expect(stub.requests.first?.headers["Content-Type"] == "text/x")
    }

    @Test func unusableDirectoryIsReportedImmediately() throws {
        try folder.write([], to: "file")
        for place in ["", "\(folder.path)/file", "\(folder.path)/file/below"] {
            let error = #expect(throws: NetError.self) {
                try OfflineQueue(folder: place, reachability: reachability)
            }
            #expect(error?.code == (place.isEmpty ? .usage : .file))
        }
    }

    @Test func trailingClosureReceivesEachOutcome() async throws {
        let outcomes = Collected<String>()
        let queue = try OfflineQueue(folder: folder.path, reachability: reachability) { outcome in
            outcomes.append("\(outcome)")
        }
        let agent = agent(queue)
        #expect(await code(put("/1"), agent) == .queued)
        #expect(outcomes.values.isEmpty)
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        while outcomes.values.isEmpty {
            await Task.yield()
        }
        draining.cancel()
        #expect(outcomes.values.first?.hasPrefix("answered") == true)
    }

    @Test func onlyOneDrainRuns() async throws {
        let queue = try queue()
        let agent = agent(queue)
        time.hold(by: StubGate())
        let first = Task { await agent.drain(queue) }
        #expect(await code(put("/1"), agent) == .queued)
        path.set(.viaWiFiOrWired)
        await outcomes.wait(for: 1)
        await agent.drain(queue)  // a second drain returns while the first one runs
        first.cancel()
        await first.value
    }

    @Test func queuedRequestCanHaveAnUnlimitedLifetime() async throws {
        let queue = try OfflineQueue(
            folder: folder.path, reachability: reachability, lifetime: .seconds(Int64.max),
            onOutcome: { [outcomes] in outcomes.note($0) })
        let agent = agent(queue)
        #expect(await code(put("/1"), agent) == .queued)
        let draining = Task { await agent.drain(queue) }
        path.set(.viaWiFiOrWired)
        await outcomes.wait(for: 1)
        draining.cancel()
        await draining.value
        #expect(outcomes.all == ["1 answered 200"])
    }
}

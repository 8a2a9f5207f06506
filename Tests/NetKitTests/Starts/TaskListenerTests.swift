import NetKit
import NetKitTesting
import Testing

/// Listeners of tasks, without the vocabulary of other libraries.
@Suite(.timeLimit(.minutes(5)))
struct TaskListenerTests {
    private let stub = StubTransport()
    private let log = Collected<String>()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    /// Records its notifications, and may replace the outcome.
    private struct Recorder: TaskListener {
        let name: String
        let log: Collected<String>
        var replaces = false
        var followsProgress = false
        var needsDecodedValue = false
        /// Whether it records the type and the text of the outcome.
        var isDescribing = false

        func willStart(_ task: NetKit.RequestTask) { log.append("\(name) will start") }
        func report(_ progress: TransferProgress, of task: NetKit.RequestTask) { log.append("\(name) progress") }
        func prepare<Value: Sendable>(
            _ outcome: Result<Value, NetError>, of task: NetKit.RequestTask
        ) async -> Result<Value, NetError> {
            log.append("\(name) prepare")
            if case .success(let value) = outcome, isDescribing {
                log.append("\(name) \(Value.self) \((value as? Response<String>)?.value ?? "")")
            }
            return replaces ? .failure(NetError(.decoding, "replaced by \(name)")) : outcome
        }
        func willStop(_ task: NetKit.RequestTask) { log.append("\(name) will stop") }
        func deliver<Value: Sendable>(
            _ outcome: Result<Value, NetError>, of task: NetKit.RequestTask
        ) -> Result<Value, NetError> {
            if case .failure(let error) = outcome {
                log.append("\(name) \(error.code)")
            } else {
                log.append("\(name) success")
            }
            return outcome
        }
        func didStop(_ task: NetKit.RequestTask) { log.append("\(name) did stop") }
        func cleared(_ task: NetKit.RequestTask) { log.append("\(name) cleared \(task.state)") }
    }

    private struct Greeting: Endpoint {
        typealias Value = String
        let path = "/"
        var listeners: [any TaskListener] = []
        var interceptors: [any Interceptor] = []
    }

    private static func ending(_ names: String...) -> [String] {
        ["prepare", "will stop", "success", "did stop", "cleared stopped"].flatMap { step in
            names.map { "\($0) \(step)" }
        }
    }

    @Test func listenersOfTheRequestPrecedeThoseOfTheStart() async throws {
        stub.register("/", with: .text("x"))
        let call = Greeting(listeners: [Recorder(name: "own", log: log)])
        _ = try await agent.start(call, options: .init(listeners: [Recorder(name: "start", log: log)])).value
        #expect(log.values == ["own will start", "start will start"] + Self.ending("own", "start"))
    }

    @Test func preparedOutcomeReachesTheNextListenersAndTheHandle() async throws {
        stub.register("/", with: .text("x"))
        let listeners = [Recorder(name: "1", log: log, replaces: true), Recorder(name: "2", log: log)]
        let handle = agent.start(Request<String>("/"), options: .init(listeners: listeners))
        let error = await #expect(throws: NetError.self) { try await handle.value }
        #expect(error?.message == "replaced by 1")
        #expect(log.values.contains("1 decoding") && log.values.contains("2 decoding"))
    }

    @Test func cancelledTaskHasNoOutcomeForItsListeners() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let handle = agent.start(Request<String>("/"), options: .init(listeners: [Recorder(name: "1", log: log)]))
        try await gate.waitForArrivals(1)
        handle.cancel()
        _ = await handle.result
        #expect(log.values == ["1 will start", "1 will stop", "1 did stop", "1 cleared stopped"])
    }

    @Test func listenersOfASentRequestAndOfABatchAreCalledOnce() async throws {
        stub.register("/", with: .text("x"))
        var request = Request<String>("/")
        request.listeners = [Recorder(name: "own", log: log)]
        _ = try await agent.send(request)
        #expect(log.values == ["own will start"] + Self.ending("own"))
        log.removeAll()
        var batch = Batch([Request<String>("/")])
        batch.listeners = [Recorder(name: "batch", log: log)]
        _ = try await agent.start(batch).value
        #expect(log.values == ["batch will start"] + Self.ending("batch"))
    }

    @Test func progressIsReportedOnlyToListenersThatFollowIt() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000))
        let listeners = [
            Recorder(name: "1", log: log, followsProgress: true), Recorder(name: "2", log: log),
        ]
        let request = Request<Bytes>(server.url("/"))
        #expect(try await Agent().start(request, options: .init(listeners: listeners)).value.bytes.count == 1_000_000)
        #expect(log.values.contains("1 progress") && !log.values.contains("2 progress"))
        #expect(log.values.last == "2 cleared stopped")
    }

    @Test func interceptorsOfAnEndpointWrapItsCalls() async throws {
        stub.register("/", with: .text("x"))
        let call = Greeting(interceptors: [Probe(name: "own", log: log)])
        #expect(try await agent.send(call).value == "x")
        #expect(log.values == ["own out send", "own back 200"])
    }

    @Test func handleOfARunningTaskWaitsForItsEnd() async throws {
        let gate = StubGate()
        stub.register("/", with: .failure(.reset).held(by: gate))
        let agent = agent
        let id = agent.start(Request<String>("/"), on: .here).id
        try await gate.waitForArrivals(1)
        let handle = try #require(agent.handle(of: id))
        gate.open()
        let error = await #expect(throws: NetError.self) { try await handle.value }
        #expect(error?.code == .reset)
        #expect(agent.handle(of: id) == nil)
    }

    @Test func listenersOfAStreamReceiveItsOutcomeAtItsEnd() async throws {
        stub.register("/", with: .text("x"))
        let call = Greeting(listeners: [
            Recorder(name: "1", log: log, isDescribing: true), Recorder(name: "2", log: log, needsDecodedValue: true),
        ])
        let stream = try await agent.stream(call)
        #expect(log.values == ["1 will start", "2 will start"])
        #expect(try await stream.collect(upTo: 9).count == 1)
        #expect(
            log.values.dropFirst(2) == [
                "1 prepare", "1 Response<()> ", "1 will stop", "2 will stop", "1 success", "1 did stop", "2 did stop",
                "1 cleared stopped", "2 cleared stopped",
            ])
    }

    @Test func listenerReplacesTheEndOfAStream() async throws {
        stub.register("/", with: .text("x"))
        let call = Greeting(listeners: [Recorder(name: "own", log: log, replaces: true)])
        let stream = try await agent.stream(call)
        let error = await #expect(throws: NetError.self) { try await stream.collect(upTo: 9) }
        #expect(error?.message == "replaced by own" && log.values.contains("own decoding"))
    }

    @Test func listenerReplacesTheErrorOfAStream() async throws {
        stub.register("/", with: .text("x", status: 404))
        let call = Greeting(listeners: [Recorder(name: "own", log: log, replaces: true)])
        let error = await #expect(throws: NetError.self) { try await agent.stream(call) }
        #expect(error?.message == "replaced by own")
        #expect(log.values.filter { $0 == "own prepare" || $0 == "own decoding" }.count == 2)
    }

    @Test func releasedStreamHasNoOutcomeForItsListeners() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent
        _ = try await agent.stream(Greeting(listeners: [Recorder(name: "own", log: log)]))
        #expect(log.values == ["own will start", "own will stop", "own did stop", "own cleared stopped"])
    }

    @Test(arguments: [false, true])
    func downloadAndOpenedResponseAreDecodedOnlyForListenersThatNeedTheValue(isNeeded: Bool) async throws {
        stub.register("/", with: .text("x"))
        let folder = try TemporaryFolder()
        let call = Greeting(listeners: [
            Recorder(name: "own", log: log, needsDecodedValue: isNeeded, isDescribing: true)
        ])
        _ = try await agent.download(call, to: folder.file("file"))
        _ = try await agent.open(call)
        let types = log.values.filter { $0.contains("Response") }
        let plain = ["own Response<DownloadedFile> ", "own ChainResponse "]
        #expect(types == (isNeeded ? ["own Response<String> x", "own Response<String> x"] : plain))
    }

    @Test func listenerThatNeedsTheValueRefusesADownload() async throws {
        stub.register("/", with: .text("x"))
        let folder = try TemporaryFolder()
        let call = Greeting(listeners: [Recorder(name: "own", log: log, replaces: true, needsDecodedValue: true)])
        let error = await #expect(throws: NetError.self) { try await agent.download(call, to: folder.file("file")) }
        #expect(error?.message == "replaced by own" && log.values.contains("own decoding"))
    }

    @Test func eachAnswerIsPreparedAndDelivered() async throws {
        stub.register("/", with: .text("x"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(60))]
        let agent = Agent(configuration, transport: stub)
        _ = try await agent.send(Request<String>("/"))
        var count = 0
        for try await _ in agent.answers(to: Greeting(listeners: [Recorder(name: "own", log: log)])) { count += 1 }
        #expect(count == 2)
        #expect(log.values == ["own will start", "own prepare", "own success"] + Self.ending("own"))
    }

    @Test func refusedStoredAnswerEndsTheSequence() async throws {
        stub.register("/", with: .text("x"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(60))]
        let agent = Agent(configuration, transport: stub)
        _ = try await agent.send(Request<String>("/"))
        let answers = agent.answers(to: Greeting(listeners: [Recorder(name: "own", log: log, replaces: true)]))
        let error = await #expect(throws: NetError.self) { for try await _ in answers {} }
        #expect(error?.message == "replaced by own")
        #expect(
            log.values == [
                "own will start", "own prepare", "own decoding", "own will stop", "own did stop",
                "own cleared stopped",
            ])
    }
}

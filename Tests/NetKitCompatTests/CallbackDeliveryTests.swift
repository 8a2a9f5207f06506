import Dispatch
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// The executor of a request task's notifications, and the objects that the task retains.
@Suite(.timeLimit(.minutes(5)))
struct CallbackDeliveryTests {
    private let stub = StubTransport()
    private let log = Collected<String>()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private static let key = DispatchSpecificKey<Int>()

    @Test func allCallbacksRunOnTheGivenQueue() async {
        stub.register("/", with: .text("x"), .failure(.reset))
        let queue = DispatchQueue(label: "own")
        queue.setSpecific(key: Self.key, value: 7)
        let check = Checking { DispatchQueue.getSpecific(key: Self.key) == 7 }
        await check.startTwice(from: agent, on: .queue(queue))
    }

    @Test func allCallbacksRunOnTheGivenActor() async {
        stub.register("/", with: .text("x"), .failure(.reset))
        let testActor = TestActor()
        let check = Checking {
            testActor.assertIsolated()
            return true
        }
        await check.startTwice(from: agent, on: .actor(testActor))
    }

    @Test func allCallbacksRunOnTheGivenExecutor() async throws {
        let server = try LoopbackServer()
        server.script("/", [.text("x"), Reply(status: 500)])
        let agent = Agent(.init(baseURL: server.url("/")))
        let loop = await thread(of: agent)
        let check = Checking { currentThread() == loop }
        await check.startTwice(from: agent, on: .executor(agent.executor))
        await agent.shutdown()
    }

    private func thread(of agent: Agent) async -> UInt {
        await withTaskExecutorPreference(agent.executor) { await threadHere() }
    }

    @concurrent
    private func threadHere() async -> UInt { currentThread() }

    @Test func progressIsDeliveredOnTheGivenExecutorAndNeverAfterTheEnd() async throws {
        // In YTKNetwork progress arrives on another queue than the other notifications (Y28).
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent(.init(baseURL: server.url("/")))
        let hearing = RecordingDelegate(log)
        let own = Counter()
        var request = Request<Bytes>("", method: .post, body: Body(Bytes(pattern(3_000_000))))
        request.progress = { _ in own.increment() }
        let options = StartOptions(progress: { [log] _ in log.append("progress \(whereNow())") })
        let response = try await agent.start(request, options: options, delegate: hearing).value
        #expect(response.bytes.count == 3_000_000)
        #expect(own.value > 0)
        let notified = log.values
        #expect(Set(notified).isSubset(of: ["sent main", "received main", "progress main"] + notified.suffix(2)))
        #expect(notified.contains("progress main"))
        #expect(notified.last == "cleared main" && notified.dropLast().last?.hasPrefix("finished") == true)
        #expect(!hearing.sent.values.isEmpty || !hearing.received.values.isEmpty)
        #expect(hearing.received.values.map(\.received) == hearing.received.values.map(\.received).sorted())
    }

    @Test func indicatorIsVisibleWhileARequestTaskRuns() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        stub.register("/fails", with: .failure(.reset))
        let indicator = LoadingIndicator(show: { [log] in log.append("show") }, hide: { [log] in log.append("hide") })
        let options = StartOptions(accessories: [indicator])
        let agent = agent
        let first = agent.start(Request<String>("/"), options: options)
        #expect(indicator.count == 1)
        let second = agent.start(Request<String>("/"), options: options)
        _ = await agent.start(Request<String>("/fails"), options: options).result
        second.cancel()
        _ = await second.result
        #expect(indicator.count == 1)
        #expect(log.values == ["show"])
        gate.open()
        _ = await first.result
        #expect(indicator.count == 0)
        #expect(log.values == ["show", "hide"])
    }

    // MARK: Retained objects

    @Test func closuresAreReleasedBeforeTheFinalCallback() async {
        stub.register("/", with: .text("x"))
        let log = log
        let hearing = RecordingDelegate(log)
        await releaseAll(hearing, cancelled: false)
        #expect(log.values == ["finished x main", "told", "closure gone", "cleared main"])
    }

    @Test func closuresOfACancelledTaskAreReleasedBeforeTheFinalCallback() async {
        stub.register("/", with: .text("x").held(by: StubGate()))
        let hearing = RecordingDelegate(log)
        await releaseAll(hearing, cancelled: true)
        #expect(log.values == ["closure gone", "cleared main"])
    }

    private func releaseAll(_ hearing: RecordingDelegate, cancelled: Bool) async {
        func begin() -> CallHandle<Response<String>> {
            let token = Token { [log] in log.append("closure gone") }
            let agent = agent
            return agent.start(Request<String>("/"), delegate: hearing) { [log] _ in
                withExtendedLifetime(token) { log.append("told") }
            }
        }
        // Runs on the main actor, so that the task cannot end before the closure is set.
        let handle = await MainActor.run { begin() }
        if cancelled {
            handle.cancel()
        }
        _ = await handle.result
    }

    @Test func accessoriesAndHooksAreReleasedWithTheTask() async {
        // In YTKNetwork a request retains its accessories, and so a screen retains itself (Y26).
        stub.register("/", with: .text("x"))
        let gone = Counter()
        func begin() -> CallHandle<Response<String>> {
            let token = Token { gone.increment() }
            var request = Request<String>("/")
            request.accessories = [AccessoryBlocks(didStop: { _ in withExtendedLifetime(token) {} })]
            request.hooks.filterSuccess = { response in withExtendedLifetime(token) { response } }
            return agent.start(request)
        }
        let handle = await MainActor.run { begin() }
        _ = await handle.result
        #expect(gone.value == 1)
        withExtendedLifetime(handle) {}
    }

    @Test func weakAccessoryIsNotRetained() async {
        stub.register("/", with: .text("x"))
        var request = Request<String>("/")
        let kept = RecordingAccessory("kept", log)
        do {
            let dropped = RecordingAccessory("dropped", log)
            request.accessories = [WeakAccessory(kept), WeakAccessory(dropped)]
            _ = await agent.start(request).result
        }
        _ = await agent.start(request).result
        #expect(log.values.count { $0.hasPrefix("kept") } == 6)
        #expect(log.values.count { $0.hasPrefix("dropped") } == 3)
        withExtendedLifetime(kept) {}
    }

    @Test func weakAccessoryForwardsEveryNotification() async throws {
        final class Complete: Accessory {
            let log: Collected<String>
            let followsProgress = true
            let needsDecodedValue = true

            init(_ log: Collected<String>) { self.log = log }

            func willStart(_ task: NetKit.RequestTask) { log.append("will start") }
            func report(_ progress: TransferProgress, of task: NetKit.RequestTask) {
                if log.values.last != "progress" { log.append("progress") }
            }
            func prepare<Value: Sendable>(
                _ outcome: Result<Value, NetError>, of task: NetKit.RequestTask
            ) async -> Result<Value, NetError> {
                log.append("prepare")
                return outcome
            }
            func willStop(_ task: NetKit.RequestTask) { log.append("will stop") }
            func deliver<Value: Sendable>(
                _ outcome: Result<Value, NetError>, of task: NetKit.RequestTask
            ) -> Result<Value, NetError> {
                log.append("deliver")
                return .failure(NetError(.decoding, "replaced"))
            }
            func didStop(_ task: NetKit.RequestTask) { log.append("did stop") }
            func cleared(_ task: NetKit.RequestTask) { log.append("cleared") }
        }
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000))
        let accessory = Complete(log)
        let weak = WeakAccessory(accessory)
        #expect(weak.needsDecodedValue)
        let request = Request<Bytes>(server.url("/"))
        let result = await Agent().start(request, options: .init(accessories: [weak])).result
        #expect(failureCode(of: result) == .decoding)
        #expect(
            log.values
                == ["will start", "progress", "prepare", "will stop", "deliver", "did stop", "cleared"])
        withExtendedLifetime(accessory) {}
    }

    @Test func delegateIsNotRetained() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let handle = agent.start(Request<String>("/"), delegate: RecordingDelegate(log))
        try await gate.waitForArrivals(1)
        gate.open()
        #expect(try await handle.value.value == "x")
        #expect(log.values.isEmpty)
    }

    @Test func startedTaskStaysAliveWithoutReferences() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let ended = Gate()
        func begin() -> WeakAgent {
            let agent = agent
            agent.start(Request<String>("/")) { [log] result in
                log.append("\((try? result.get().value) ?? "failed")")
                ended.open()
            }
            return WeakAgent(agent)
        }
        let observer = begin()
        try await gate.waitForArrivals(1)
        #expect(observer.agent != nil)
        gate.open()
        try await ended.opened()
        #expect(log.values == ["x"])
        while observer.agent != nil {
            await Task.yield()
        }
    }

    @Test func agentCanBeReleasedInItsOwnCallbacks() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        for moment in ["will start", "will stop", "filter", "closure", "did stop"] {
            let box = Collected<Agent>()
            let releaseAll: @Sendable (String) -> Void = { now in
                if now == moment {
                    box.removeAll()
                }
            }
            let handle = try start(at: server, in: box, releaseAll)
            let result = await handle.result
            #expect(failureCode(of: result) == nil, "\(moment)")
        }
        // The engine and its connections end with the agent.
        try await server.waitForSilence()
    }

    private func start(
        at server: LoopbackServer, in box: Collected<Agent>, _ releaseAll: @escaping @Sendable (String) -> Void
    ) throws -> CallHandle<Response<String>> {
        box.append(Agent())
        var request = Request<String>(server.url("/"))
        request.accessories = [
            AccessoryBlocks(
                willStart: { _ in releaseAll("will start") }, willStop: { _ in releaseAll("will stop") },
                didStop: { _ in releaseAll("did stop") })
        ]
        request.hooks.filterSuccess = {
            releaseAll("filter")
            return $0
        }
        return try #require(box.values.first).start(request) { _ in releaseAll("closure") }
    }
}

private actor TestActor {}

/// Request tasks whose notifications must all arrive on one executor.
private struct Checking {
    let isRight: @Sendable () -> Bool

    func startTwice(from agent: Agent, on delivery: Delivery) async {
        let notified = Counter()
        let check: @Sendable () -> Void = { [isRight] in
            #expect(isRight())
            notified.increment()
        }
        var request = Request<String>("/")
        request.url = agent.configuration.baseURL ?? "/"
        request.accessories = [AccessoryBlocks(willStop: { _ in check() }, didStop: { _ in check() })]
        request.hooks.filterSuccess = {
            check()
            return $0
        }
        request.hooks.filterFailure = {
            check()
            return $0
        }
        _ = await agent.start(request, on: delivery) { _ in
            check()
        } failure: { _ in
            #expect(Bool(false))
        }.result
        _ = await agent.start(request, on: delivery) { _ in check() }.result
        #expect(notified.value == 8)
    }
}

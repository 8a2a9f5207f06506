import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Listing, cancelling, pausing and reprioritizing request tasks.
@Suite(.timeLimit(.minutes(5)))
struct TaskRegistryTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent

    init() {
        agent = Agent(.init(baseURL: "http://stub/v1"), transport: stub)
        stub.register("*", with: .text("x").held(by: gate))
    }

    private struct Cities: RequestConvertible {
        var page = 1

        func request() async throws(NetError) -> Request<String> { Request("cities?page=\(page)") }
    }

    private struct Streets: RequestConvertible {
        func request() async throws(NetError) -> Request<String> { Request("cities") }
    }

    private func codes(
        _ handles: [CallHandle<Response<String>>]
    ) async -> [NetError.Code?] {
        gate.open()
        var codes: [NetError.Code?] = []
        for handle in handles {
            codes.append(failureCode(of: await handle.result))
        }
        return codes
    }

    private func start(_ path: String, method: NetKit.Method = .get, tag: Int = 0) -> CallHandle<Response<String>> {
        var request = Request<String>(path, method: method)
        request.tag = tag
        return agent.start(request)
    }

    @Test func taskIsCancelledByItsID() async throws {
        let handles = (0..<3).map { _ in start("a") }
        try await gate.waitForArrivals(3)
        #expect(agent.cancel(id: handles[1].id))
        #expect(await codes(handles) == [nil, .cancelled, nil])
        #expect(!agent.cancel(id: handles[1].id))
        #expect(!agent.cancel(id: 0))
    }

    @Test func tasksAreCancelledByTag() async throws {
        let handles = [start("a", tag: 1), start("b", tag: 2), start("c", tag: 1), start("d")]
        try await gate.waitForArrivals(4)
        #expect(agent.cancel(tag: 1) == 2)
        #expect(await codes(handles) == [.cancelled, nil, .cancelled, nil])
        #expect(agent.cancel(tag: 1) == 0)
    }

    @Test func tasksAreCancelledByRequestType() async throws {
        let cities = [1, 2, 3].map { agent.start(Cities(page: $0)) }
        let others = [agent.start(Streets()), start("cities?page=1")]
        try await gate.waitForArrivals(5)
        #expect(agent.cancel(every: Cities.self) == 3)
        #expect(await codes(cities + others) == [.cancelled, .cancelled, .cancelled, nil, nil])
    }

    @Test func typeIsCancelledBeforeItsRequestsAreMade() async {
        // The agent knows this type before the request is created.
        struct Slow: RequestConvertible {
            let gate: StubGate

            func request() async throws(NetError) -> Request<String> {
                try await gate.waitForArrivals(1)
                return Request("/")
            }
        }
        let handle = agent.start(Slow(gate: StubGate()))
        #expect(agent.requestTasks().map(\.state) == [.waiting])
        #expect(agent.cancel(every: Slow.self) == 1)
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test(
        arguments: zip(
            ["a", "a?x", "http://stub/v1/a", "/a", "http://other/v1/a", "http://STUB/v1/a", "/v1/a", "b"],
            [3, 3, 3, 1, 0, 3, 3, 0]))
    func tasksAreCancelledByPath(path: String, count: Int) async throws {
        let handles = [
            start("a"), start("a?y=1"), start("http://stub/v1/a#c"), start("/a"), start("c"), start("a/b"),
        ]
        try await gate.waitForArrivals(handles.count)
        #expect(agent.cancel(path: path) == count)
        let codes = await codes(handles)
        #expect(codes.count { $0 == .cancelled } == count)
        #expect(codes[4...] == [nil, nil])
    }

    @Test func pathCanBeLimitedToOneMethod() async throws {
        let handles = [start("a"), start("a", method: .post), start("a", method: "PURGE")]
        #expect(agent.cancel(path: "a", method: .post) == 1)
        #expect(agent.cancel(path: "a", method: .put) == 0)
        #expect(agent.cancel(path: "a", method: "PURGE") == 1)
        #expect(await codes(handles) == [nil, .cancelled, .cancelled])
    }

    @Test func allTasksAreCancelled() async throws {
        let handles = [start("a"), start("b"), agent.start(Cities())]
        try await gate.waitForArrivals(3)
        agent.cancelAll()
        #expect(await codes(handles) == [.cancelled, .cancelled, .cancelled])
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func tasksOfAnotherAgentAreNotCancelled() async throws {
        let other = Agent(.init(baseURL: "http://stub/v1"), transport: stub)
        let mine = start("a", tag: 1)
        let theirs = other.start(Cities())
        try await gate.waitForArrivals(2)
        other.cancel(tag: 1)
        #expect(!other.cancel(id: mine.id))
        agent.cancel(every: Cities.self)
        agent.cancelAll()
        #expect(await codes([mine, theirs]) == [.cancelled, nil])
    }

    @Test func runningTasksAreListedInStartOrder() async throws {
        var request = Request<String>("a", method: .post)
        request.tag = 4
        request.userInfo = ["who": "me"]
        let first = agent.start(request)
        let second = agent.start(Cities(page: 2))
        try await gate.waitForArrivals(2)
        let runs = agent.requestTasks()
        #expect(runs.map(\.id) == [first.id, second.id])
        #expect(runs.map(\.state) == [.running, .running])
        #expect(runs.map(\.kind) == [.request, .request])
        #expect(runs.map(\.tag) == [4, 0])
        #expect(runs.map(\.name) == ["", "Cities"])
        #expect(runs.map(\.url) == ["a", "cities?page=2"])
        #expect(runs.map(\.method) == [.post, .get])
        #expect(runs[0].userInfo["who"] as? String == "me")
        #expect(await codes([first, second]) == [nil, nil])
        #expect(agent.requestTasks().isEmpty)
        #expect(first.state == .stopped && !first.isCancelled)
    }

    // MARK: Calls without a request task

    @Test func taggedCallsAreListedAndCancelledByTag() async throws {
        var request = Request<String>("a")
        request.tag = 9
        let agent = agent
        let task = Task { [request] in await ending(of: request, from: agent) }
        let other = Task { await ending(of: Request<String>("b"), from: agent) }
        try await gate.waitForArrivals(2)
        #expect(agent.requestTasks().map(\.tag) == [9])
        #expect(agent.cancel(tag: 9) == 1)
        #expect(await task.value == .failed(.cancelled))
        gate.open()
        #expect(await other.value == .answered)
        #expect(await ending(of: request, from: agent) == .answered)
    }

    @Test func sentCallsNotifyTheirAccessoriesAndHooks() async throws {
        gate.open()
        let log = Collected<String>()
        var request = Request<String>("a")
        request.accessories = [RecordingAccessory("1", log)]
        request.hooks.filterSuccess = { $0.map { $0.value + "y" } }
        #expect(try await agent.send(request).value == "xy")
        #expect(
            log.values.map { $0.replacing(" elsewhere", with: "") } == ["1 will start", "1 will stop", "1 did stop"])
    }

    @Test func requestConvertibleAddsItsAccessoriesAndHooks() async throws {
        let log = Collected<String>()
        var hooks = OutcomeHooks<Response<String>>()
        hooks.filterSuccess = { $0.map { $0.value + "y" } }
        let call = Described(accessories: [RecordingAccessory("1", log)], hooks: hooks) { () throws(NetError) in
            Request("a")
        }
        let agent = agent
        let first = Task { try await agent.send(call).value }
        try await gate.waitForArrivals(1)
        #expect(agent.cancel(every: Described.self) == 1)
        await #expect(throws: NetError.self) { try await first.value }
        gate.open()
        #expect(try await agent.send(call).value == "xy")
        let once = ["1 will start", "1 will stop", "1 did stop"]
        #expect(log.values.map { $0.replacing(" elsewhere", with: "") } == once + once)
    }

    @Test func pathResolvesAgainstTheBaseOfTheRequest() async throws {
        var request = Request<String>("a")
        request.baseURL = "http://stub/v2"
        let handle = agent.start(request)
        let other = start("a")
        try await gate.waitForArrivals(2)
        #expect(agent.cancel(path: "http://stub/v2/a") == 1)
        #expect(await codes([handle, other]) == [.cancelled, nil])
    }

    @Test func cancellingATaskCancelsItsCalls() async throws {
        var request = Request<String>("a")
        request.tag = 1
        let task = Task { [agent, request] in await ending(of: request, from: agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        #expect(agent.requestTasks().isEmpty)
    }

    // MARK: Pausing

    @Test func taskPausedBeforeSendingIsNotSent() async throws {
        let agent = agent
        let pausing = AccessoryBlocks(willStart: { agent.handle(of: $0.id)?.pause() })
        let handle = agent.start(Request<String>("a"), options: .init(accessories: [pausing]))
        #expect(handle.task.isPaused && handle.state == .waiting)
        _ = await codes([start("b")])
        #expect(stub.requests.map(\.path) == ["/v1/b"])
        handle.resume()
        #expect(!handle.task.isPaused)
        #expect(try await handle.value.value == "x")
    }

    @Test func pausedTaskCanBeCancelled() async throws {
        let agent = agent
        let pausing = AccessoryBlocks(willStart: { agent.handle(of: $0.id)?.pause() })
        let handle = agent.start(Request<String>("a"), options: .init(accessories: [pausing]))
        handle.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test func allTasksPauseAndResume() async throws {
        let agent = agent
        let pausing = AccessoryBlocks(willStart: { _ in agent.pauseAll() })
        let handles = (0..<5).map {
            agent.start(Request<String>("\($0)"), options: .init(accessories: [pausing]))
        }
        #expect(!agent.requestTasks().contains { !$0.isPaused })
        agent.resumeAll()
        #expect(agent.requestTasks().allSatisfy { !$0.isPaused })
        #expect(await codes(handles) == [nil, nil, nil, nil, nil])
    }

    // MARK: Waiting tasks

    @Test func cancellingAWaiterDoesNotCancelTheTask() async throws {
        let handle = start("a")
        try await gate.waitForArrivals(1)
        let waiting = Task { await handle.result }
        waiting.cancel()
        #expect(failureCode(of: await waiting.value) == .cancelled)
        #expect(!handle.isCancelled)
        #expect(await codes([handle]) == [nil])
        #expect(await codes([handle]) == [nil])
    }
}

import Dispatch
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Notifications of a request task, their receivers and their order.
@Suite(.timeLimit(.minutes(5)))
struct RequestTaskTests {
    private let stub = StubTransport()
    private let log = Collected<String>()

    private func agent(_ interceptors: (any Interceptor)...) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        configuration.observers = [CallLog(log: log)]
        return Agent(configuration, transport: stub)
    }

    /// Hooks that record their notifications.
    private var hooks: OutcomeHooks<Response<String>> {
        var hooks = OutcomeHooks<Response<String>>()
        hooks.preprocessSuccess = { [log] response async throws(NetError) in
            log.append("preprocess \(response.value) \(whereNow())")
            return response
        }
        hooks.preprocessFailure = { [log] error in
            log.append("preprocess \(error.code) \(whereNow())")
            return error
        }
        hooks.filterSuccess = { [log] response in
            log.append("filter \(response.value) \(whereNow())")
            return response
        }
        hooks.filterFailure = { [log] error in
            log.append("filter \(error.code) \(whereNow())")
            return error
        }
        return hooks
    }

    /// A request with every kind of receiver.
    private var request: Request<String> {
        var request = Request<String>("/")
        request.accessories = [RecordingAccessory("1", log), RecordingAccessory("2", log)]
        request.hooks = hooks
        return request
    }

    @discardableResult
    private func start(
        _ call: some RequestConvertible<String>, from agent: Agent, _ options: StartOptions = .init(),
        then act: (CallHandle<Response<String>>) async throws -> Void = { _ in }
    ) async throws -> Result<Response<String>, NetError> {
        let hearing = RecordingDelegate(log)
        let handle = agent.start(call, options: options, delegate: hearing) { [log] response in
            log.append("success \(response.value) \(whereNow())")
        } failure: { [log] error in
            log.append("failure \(error.code) \(whereNow())")
        }
        try await act(handle)
        let result = await handle.result
        withExtendedLifetime(hearing) {}
        return result
    }

    private static let success = [
        "call started", "call answered", "preprocess x elsewhere", "1 will stop main", "2 will stop main",
        "filter x main", "finished x main", "success x main", "1 did stop main", "2 did stop main", "cleared main",
    ]

    private static func failure(_ code: NetError.Code) -> [String] {
        [
            "preprocess \(code) elsewhere", "1 will stop main", "2 will stop main", "filter \(code) main",
            "failed \(code) main", "failure \(code) main", "1 did stop main", "2 did stop main", "cleared main",
        ]
    }

    @MainActor @Test func successNotifiesInOrder() async throws {
        stub.register("/", with: .text("x"))
        try await start(request, from: agent())
        #expect(log.values == ["1 will start main", "2 will start main"] + Self.success)
    }

    @MainActor @Test func cachedResponseNotifiesLikeANetworkResponse() async throws {
        let cached = Wrapping { _, _ in ChainResponse(Response(status: 200, "x")) }
        try await start(request, from: agent(cached))
        #expect(log.values == ["1 will start main", "2 will start main"] + Self.success)
        #expect(stub.requests.isEmpty)
    }

    @MainActor @Test func failureNotifiesInOrder() async throws {
        stub.register("/", with: .failure(.reset))
        try await start(request, from: agent())
        #expect(
            log.values == ["1 will start main", "2 will start main", "call started", "call failed reset"]
                + Self.failure(.reset))
    }

    @Test func accessoriesAreNotifiedOnTheStartingThread() async {
        let threads = Collected<UInt>()
        let caller = await withCheckedContinuation { continuation in
            DispatchQueue(label: "caller").async { [self] in
                let blocks = AccessoryBlocks(willStart: { _ in threads.append(currentThread()) })
                agent().start(request, options: .init(accessories: [blocks]))
                continuation.resume(returning: currentThread())
            }
        }
        #expect(threads.values == [caller])
    }

    @MainActor @Test func errorWhileMakingARequestIsReportedAsAFailure() async throws {
        // In YTKNetwork the preprocessor runs on the caller's thread, and the closures are never released (Y13).
        let call = Described(accessories: request.accessories, hooks: hooks) { () throws(NetError) in
            throw NetError(.badParameter, "no")
        }
        try await start(call, from: agent())
        #expect(log.values == ["1 will start main", "2 will start main"] + Self.failure(.badParameter))
    }

    @MainActor @Test func invalidParameterIsReportedAsAFailure() async throws {
        var request = request
        request.body = nil
        request.url = "http://a b:c/"
        try await start(request, from: agent())
        #expect(Array(log.values.suffix(9)) == Self.failure(.badURL))
    }

    // MARK: Cancellation

    @MainActor @Test func cancelledTaskEndsSilently() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let result = try await start(request, from: agent()) { handle in
            try await gate.waitForArrivals(1)
            handle.cancel()
            #expect(handle.isCancelled)
        }
        #expect(throws: NetError.self) { try result.get() }
        #expect(
            log.values == [
                "1 will start main", "2 will start main", "call started", "call failed cancelled", "1 will stop main",
                "2 will stop main", "1 did stop main", "2 did stop main", "cleared main",
            ])
    }

    @MainActor @Test func cancelledTaskIsReportedWhenRequested() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        var options = StartOptions()
        options.reportsCancellation = true
        try await start(request, from: agent(), options) { handle in
            try await gate.waitForArrivals(1)
            handle.cancel()
        }
        #expect(
            log.values == ["1 will start main", "2 will start main", "call started", "call failed cancelled"]
                + Self.failure(.cancelled))
    }

    @Test func taskCancelledImmediatelySendsNothing() async {
        let callCount = Counter()
        let call = Described { () throws(NetError) in
            callCount.increment()
            return Request<String>("/")
        }
        let accessory = AccessoryBlocks(willStart: { [log] run in log.append("will start") })
        let agent = agent()
        let cancelling = AccessoryBlocks(willStart: { agent.cancel(id: $0.id) })
        let handle = agent.start(call, options: .init(accessories: [accessory, cancelling]))
        let result = await handle.result
        #expect(failureCode(of: result) == .cancelled)
        #expect(handle.state == .stopped)
        #expect(log.values == ["will start"])
        #expect(callCount.value == 0 && stub.requests.isEmpty)
    }

    @MainActor @Test func cancellingOnTheDeliveryExecutorStopsAllCallbacks() async {
        stub.register("/", with: .text("x"))
        let agent = agent()
        for round in 0..<200 {
            let isCancelled = Counter()
            let handle = agent.start(Request<String>("/")) { _ in
                #expect(isCancelled.value == 0)
            }
            for _ in 0..<(round % 20) {
                await Task.yield()
            }
            handle.cancel()
            let wasInTime = handle.isCancelled
            if wasInTime {
                isCancelled.increment()
            }
            let code = failureCode(of: await handle.result)
            #expect(code == (wasInTime ? .cancelled : nil))
        }
    }

    @MainActor @Test func cancellingInsideTheCompletionChangesNothing() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let blocks = AccessoryBlocks(
            willStop: { agent.cancel(id: $0.id) }, didStop: { agent.cancel(id: $0.id) })
        let result = try await start(Request<String>("/"), from: agent, .init(accessories: [blocks]))
        #expect(failureCode(of: result) == nil)
        #expect(log.values.suffix(3) == ["finished x main", "success x main", "cleared main"])
    }

    // MARK: Receivers

    @Test func hooksCanReplaceTheOutcome() async throws {
        stub.register("/", with: .text("x"))
        stub.register("/fails", with: .failure(.reset))
        var request = Request<String>("/")
        request.hooks.preprocessSuccess = { $0.map { $0.value + "y" } }
        request.hooks.filterSuccess = { $0.map { $0.value + "z" } }
        #expect(try await agent().start(request).value.value == "xyz")
        request.hooks.preprocessSuccess = { _ async throws(NetError) in throw NetError(.decoding, "no") }
        request.hooks.filterFailure = { NetError(.internal, "was \($0.code)") }
        #expect(netError(of: await agent().start(request).result)?.message == "was decoding")
        request.url = "/fails"
        request.hooks.preprocessFailure = { NetError(.shapeMismatch, "\($0.code)") }
        #expect(netError(of: await agent().start(request).result)?.message == "was shapeMismatch")
    }

    @Test func delegateMethodsAreOptional() async throws {
        // In YTKNetwork each missing method is a crash (Y12).
        final class Deaf: RequestTaskDelegate {}
        stub.register("/", with: .text("x"))
        stub.register("/fails", with: .failure(.reset))
        let deaf = Deaf()
        #expect(try await agent().start(Request<String>("/"), delegate: deaf).value.value == "x")
        #expect(failureCode(of: await agent().start(Request<String>("/fails"), delegate: deaf).result) == .reset)
        withExtendedLifetime(deaf) {}
    }

    @Test func completionReceivesBothOutcomes() async {
        stub.register("/", with: .text("x"), .failure(.reset))
        let agent = agent()
        for _ in 0..<2 {
            _ = await agent.start(Request<String>("/")) { [log] result in
                MainActor.assertIsolated()
                log.append("\((try? result.get().value) ?? "failed")")
            }.result
        }
        #expect(log.values.filter { !$0.hasPrefix("call") } == ["x", "failed"])
    }

    @Test func requestOfAConvertibleAddsItsAccessories() async throws {
        stub.register("/", with: .text("x"))
        let own = RecordingAccessory("own", log)
        let later = RecordingAccessory("later", log)
        let call = Described(tag: 3, accessories: [own]) { () throws(NetError) in
            var request = Request<String>("/")
            request.accessories = [later]
            request.userInfo = ["key": 5]
            return request
        }
        _ = await agent().start(call, on: .queue(DispatchQueue(label: "q"))).result
        let expectedLog = ["call started", "call answered", "own will stop", "later will stop", "own did stop"]
        #expect(
            log.values.map { $0.replacing(" elsewhere", with: "") }
                == ["own will start", "later will start"] + expectedLog + ["later did stop"])
        let last = try #require(own.runs.values.last)
        #expect(last.tag == 3 && last.userInfo["key"] as? Int == 5 && last.url == "/" && last.method == .get)
        #expect(last.name == "Described" && last.kind == .request)
        #expect(Set(own.runs.values.map(\.id)) == Set(later.runs.values.map(\.id)))
    }

    @Test func oneRequestCanBeStartedConcurrently() async {
        // In YTKNetwork a second start replaces the first (Y21).
        stub.register("/", with: .text("x"))
        let agent = agent()
        let request = request
        let handles = (0..<50).map { _ in agent.start(request) }
        for handle in handles {
            let code = failureCode(of: await handle.result)
            #expect(code == nil)
        }
        #expect(Set(handles.map(\.id)).count == 50)
        #expect(log.values.count { $0 == "1 did stop main" } == 50)
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func taskIDIsTheIDOfItsCall() async throws {
        stub.register("/", with: .status(503), .text("x"))
        let events = Collected<Event>()
        let numbers = Collected<UInt64>()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [Watcher(events: events)]
        configuration.interceptors = [
            Retry(time: StubTime().source),
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                numbers.append(call.id)
                return try await next(call)
            },
        ]
        let agent = Agent(configuration, transport: stub)
        let handle = agent.start(Request<String>("/"))
        _ = try await handle.value
        #expect(numbers.values == [handle.id, handle.id])
        #expect(Set(events.values.map(\.callID)) == [handle.id])
        // Sending an event's request again is a new call.
        let again = try #require(events.values.first?.request)
        _ = try await agent.send(again)
        #expect(numbers.values.count == 3 && numbers.values.last != handle.id)
    }
}

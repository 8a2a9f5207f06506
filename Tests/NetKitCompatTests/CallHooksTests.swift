import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct CallHooksTests {
    fileprivate let stub = StubTransport()
    fileprivate let log = Collected<String>()

    /// Returns hooks that record their notifications.
    fileprivate func hooks() -> CallHooks {
        let log = log
        var hooks = CallHooks()
        hooks.shouldCall = { call in
            log.append("should call \(call.parameters?["a"] != nil)")
            return true
        }
        hooks.afterCalling = { call in log.append("after calling \(call.request.headers["X-Inner"] ?? "-")") }
        hooks.didReceive = { _, outcome in
            switch outcome {
            case .answered(let response): log.append("did receive \(response.status)")
            case .failed(let error): log.append("did receive \(error.code)")
            }
        }
        hooks.beforeSuccess = { _, response in
            log.append("before success")
            return true
        }
        hooks.afterSuccess = { _, response in log.append("after success \(response.bytes.text)") }
        hooks.beforeFailure = { _, error in
            log.append("before failure")
            return true
        }
        hooks.afterFailure = { _, error in log.append("after failure \(error.code)") }
        return hooks
    }

    fileprivate func agent(_ interceptors: (any Interceptor)..., observers: [any Observer] = []) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.interceptors = interceptors
        configuration.observers = observers
        return Agent(configuration, transport: stub)
    }

    // In CTNetworking the after-hook ran before the caller was notified (C10).
    @Test func successHooksRunInOrderAndTheLastRunsAfterTheCaller() async throws {
        stub.register("*", with: .text("x"))
        let log = log
        struct Stopping: Observer {
            let log: Collected<String>
            func observe(_ event: Event) {
                if case .stopping = event.change { log.append("stopping") }
            }
        }
        let inner = Wrapping { (call, next) async throws(NetError) -> ChainResponse in
            var call = call
            call.request.headers["X-Inner"] = "1"
            return try await next(call)
        }
        _ = try await agent(hooks(), inner, observers: [Stopping(log: log)])
            .send(Request<String>("x", parameters: ["a": 1]))
        #expect(
            log.values == [
                "should call true", "after calling 1", "did receive 200", "before success", "stopping",
                "after success x",
            ])
    }

    // In CTNetworking every failure except timeout and cancellation is "no network" (C8).
    @Test(arguments: [
        (StubReply.failure(.reset), NetError.Code.reset), (.status(404), .status),
        (.text("x"), .contentType), (.json("[1"), .decoding),
    ])
    func failureHooksReceiveTheError(reply: StubReply, code: NetError.Code) async throws {
        stub.register("*", with: reply)
        #expect(await ending(of: Request<[Int]>("x"), from: agent(hooks())) == .failed(code))
        #expect(
            log.values == [
                "should call false", "after calling -", "did receive \(code)", "before failure",
                "after failure \(code)",
            ])
    }

    @Test func rejectedCallIsNotSentAndSkipsLaterHooks() async throws {
        var hooks = hooks()
        hooks.shouldCall = { _ in false }
        #expect(await ending(of: Request<Bytes>("x"), from: agent(hooks)) == .failed(.stoppedByCaller))
        #expect(stub.requests.isEmpty)
        #expect(log.values.isEmpty)
    }

    @Test func errorThrownByShouldCallFailsTheCall() async throws {
        struct Asleep: Error {}
        for (error, code) in [(Asleep() as any Error, NetError.Code.stoppedByCaller), (NetError(.closed, ""), .closed)]
        {
            var hooks = hooks()
            hooks.shouldCall = { _ in throw error }
            let agent = agent(hooks)
            let failure = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("x")) }
            #expect(failure?.code == code)
        }
        #expect(log.values == ["did receive closed", "before failure", "after failure closed"])
    }

    // In CTNetworking a veto suppressed the delegate, but not the block (C10).
    @Test func beforeHookCanStopSuccessAndFailureForAllObservers() async throws {
        stub.register("*", with: .text("x"), .failure(.reset))
        var hooks = hooks()
        hooks.beforeSuccess = { _, _ in false }
        hooks.beforeFailure = { _, _ in false }
        let agent = agent(hooks)
        let success = await #expect(throws: NetError.self) { try await agent.send(Request<String>("x")) }
        #expect(success?.code == .stoppedByCaller && success?.response?.bytes.text == "x")
        let failure = await #expect(throws: NetError.self) { try await agent.send(Request<String>("x")) }
        #expect(failure?.code == .stoppedByCaller)
        #expect((failure?.underlying as? NetError)?.code == .reset)
        #expect(!log.values.contains { $0.hasPrefix("after success") || $0.hasPrefix("after failure") })
    }

    @Test func errorBeforeTheChainRunsFailureHooks() async throws {
        #expect(await ending(of: Request<Bytes>("//a b/"), from: agent(hooks())) == .failed(.badURL))
        #expect(log.values == ["did receive badURL", "before failure", "after failure badURL"])
    }

    @Test func hooksReceiveErrorsOfLaterValidators() async throws {
        let agent = agent(hooks(), ValidateParameters(where: { _ in false }))
        #expect(await ending(of: Request<Bytes>("x"), from: agent) == .failed(.invalidParameters))
        #expect(
            log.values == [
                "should call false", "did receive invalidParameters", "before failure",
                "after failure invalidParameters",
            ])
    }

    @Test func requestHooksReceiveOnlyTheirOwnRequest() async throws {
        stub.register("*", with: .text("x"))
        var request = Request<String>("x")
        request.interceptors = [hooks()]
        let agent = agent()
        _ = try await agent.send(Request<String>("x"))
        #expect(log.values.isEmpty)
        _ = try await agent.send(request)
        #expect(log.values.count == 5)
    }

    @Test func afterCallHookRunsOnceForARetriedCall() async throws {
        stub.register("*", with: .status(503), .text("x"))
        _ = try await agent(hooks(), Retry(time: StubTime().source)).send(Request<String>("x"))
        #expect(stub.requests.count == 2)
        #expect(log.values.count { $0.hasPrefix("after calling") } == 1)
    }

    @Test func streamSucceedsAtItsHeadAndEndsWithItsBody() async throws {
        stub.register("*", with: .text("body"))
        let stream = try await agent(hooks()).stream(Request<Bytes>("x"))
        #expect(log.values.last == "before success")
        _ = try await stream.collect(upTo: 10)
        #expect(log.values.last == "after success ")
    }

    // CTNetworking always checks the network first (C12). Here the check is an optional hook.
    @Test func withoutANetworkNothingIsSent() async throws {
        stub.register("*", with: .text("x"))
        let offline = agent(CallHooks.online { false })
        #expect(await ending(of: Request<Bytes>("x"), from: offline) == .failed(.unreachable))
        #expect(stub.requests.isEmpty)
        #expect(await ending(of: Request<Bytes>("x"), from: agent(CallHooks.online { true })) == .answered)
        #expect(await ending(of: Request<Bytes>("x"), from: agent()) == .answered)
    }

    // In CTNetworking parallel loads of one manager overwrote each other's results (C11).
    @Test func concurrentCallsReceiveOnlyTheirOwnHooks() async throws {
        let stub = StubTransport { request in .text(request.path) }
        let wrong = Counter()
        let right = Counter()
        var hooks = CallHooks()
        hooks.afterSuccess = { call, response in
            let isOwn = call.request.url.hasSuffix(response.bytes.text)
            (isOwn ? right : wrong).increment()
        }
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.interceptors = [hooks]
        let agent = Agent(configuration, transport: stub)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { _ = try? await agent.send(Request<String>("/\(number)")) }
            }
        }
        #expect(right.value == 100 && wrong.value == 0)
    }
}

extension CallHooksTests {
    /// The call's owner is cancelled, and the request is sent again for a duplicate.
    @Test(.timeLimit(.minutes(5)))
    func sharedTransferDoesNotRetainACancelledCall() async throws {
        let hooks = CallHooks()
        func send() async throws -> WeakToken {
            let mark = DeallocationToken()
            var request = Request<Bytes>("http://a/")
            request.progress = mark.ignore
            try await DuplicateCall { $0.interceptors = [hooks] }.run(request)
            return WeakToken(mark)
        }
        try await send().waitUntilDeallocated()
        withExtendedLifetime(hooks) {}
    }

    @Test func completionHandlersRunBeforeTheAfterCallHook() async throws {
        stub.register("*", with: .text("x"), .failure(.reset))
        let log = log
        let agent = agent(hooks())
        for _ in 0..<2 {
            let handle = agent.start(
                Request<String>("x"), success: { _ in log.append("block") }, failure: { _ in log.append("block") })
            _ = try? await handle.value
        }
        while log.values.count < 12 {
            try Task.checkCancellation()
            await Task.yield()
        }
        let ends = log.values.filter { $0 == "block" || $0.hasPrefix("after success") || $0.hasPrefix("after failure") }
        #expect(ends == ["block", "after success x", "block", "after failure reset"])
    }
}

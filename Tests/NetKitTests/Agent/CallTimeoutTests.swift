import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Calls that run app code run it in their own task, with the caller's priority and task-local values.
@Suite(.timeLimit(.minutes(5)))
struct CallTimeoutTests {
    private enum Values {
        @TaskLocal static var name = ""
    }

    /// Waits without reacting to cancellation.
    private static func never() async {
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
    }

    private static func short(_ path: String = "/") -> Request<String> {
        var request = Request<String>(path)
        request.limits = Limits()
        request.limits.total = .milliseconds(200)
        return request
    }

    /// A transport that records the task of each request.
    private struct TaskTransport: Transport {
        let tasks = Collected<Int>()

        func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
            tasks.append(CallTimeoutTests.task)
            return Response(status: 200)
        }

        func shutdown() async {}
    }

    private static var task: Int { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue ?? 0 } }

    private func agent(
        _ interceptors: [any Interceptor] = [], _ change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        change(&configuration)
        return Agent(configuration, transport: StubTransport { _ in .text("x") })
    }

    @Test func aCallWithoutAppCodeRunsOnTheCallersTask() async throws {
        let transport = TaskTransport()
        let library: [any Interceptor] = [
            Caching(MemoryCacheStore(), rules: .app(60)), CircuitBreaker(), Retry(), RateLimit(100, per: .seconds(1)),
            CredentialRefresh("a") {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                "b"
            },
        ]
        for interceptors in [[], library] {
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = interceptors
            _ = try await Agent(configuration, transport: transport).send(Request<Bytes>("/"))
        }
        #expect(transport.tasks.values == [Self.task, Self.task])
    }

    @Test func interceptorInheritsTaskLocalValuesAndPriority() async throws {
        let recorded = Collected<String>()
        let looking = Wrapping { call, next async throws(NetError) in
            recorded.append("\(Values.name) \(Task.currentPriority == .high)")
            return try await next(call)
        }
        let agent = agent([looking])
        try await Task(priority: .high) {
            _ = try await Values.$name.withValue("caller") { try await agent.send(Request<String>("/")) }
        }.value
        #expect(recorded.values == ["caller true"])
    }

    @Test @MainActor func appCodeRunsOnTheCallersActorWithoutBlockingIt() async throws {
        let recorded = Collected<Bool>()
        let agent = agent([
            Wrapping { call, next async throws(NetError) in
                recorded.append(#isolation === MainActor.shared)
                await Self.never()
                return try await next(call)
            }
        ])
        #expect(await ending(of: Self.short(), from: agent) == .failed(.timeout))
        #expect(recorded.values == [true])
    }

    @Test @MainActor func computedHeadersAreEvaluatedOnTheCallersActor() async throws {
        let recorded = Collected<Bool>()
        let agent = agent {
            $0.computedHeaders = { _ in
                recorded.append(#isolation === MainActor.shared)
                return [:]
            }
        }
        _ = try await agent.send(Request<String>("/"))
        #expect(recorded.values == [true])
    }

    @Test func completionHooksAreBoundedByTheTotalTimeout() async throws {
        var hooks = CallHooks()
        hooks.beforeSuccess = { _, _ in
            await Self.never()
            return true
        }
        #expect(await ending(of: Self.short(), from: agent([hooks])) == .failed(.timeout))
        hooks = CallHooks()
        hooks.beforeFailure = { _, _ in
            await Self.never()
            return true
        }
        let failing = Wrapping { _, _ throws(NetError) in throw NetError(.refused, "refused") }
        #expect(await ending(of: Self.short(), from: agent([hooks, failing])) == .failed(.timeout))
    }

    @Test func metricsHookDoesNotDelayTheResponse() async throws {
        let server = try MockServer()
        try server.register("/", with: .text("x"))
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.interceptors.append(TransferHooks(metrics: { _, _ in await Self.never() }))
        let agent = Agent(configuration)
        #expect(try await agent.send(Self.short()).value == "x")
        await agent.shutdown()
    }

    @Test(arguments: 0..<4)
    func cancellingEndsAppCodeThatIgnoresIt(point: Int) async throws {
        let entered = Gate()
        let stuck: @Sendable () async -> Void = {
            entered.open()
            await Self.never()
        }
        var hooks = CallHooks()
        hooks.beforeSuccess = { _, _ in
            await stuck()
            return true
        }
        let interceptor = Wrapping { call, next async throws(NetError) in
            await stuck()
            return try await next(call)
        }
        let refresh = CredentialRefresh("a", rule: .status(200)) {
            $0.headers["X-Token"] = $1
        } refresh: { _ in
            await stuck()
            return "b"
        }
        let agent =
            switch point {
            case 0: agent([hooks])
            case 1: agent([interceptor])
            case 2: agent([refresh])
            default:
                agent {
                    $0.computedParameters = { _ in
                        await stuck()
                        return nil
                    }
                }
            }
        var request = Request<String>("/")
        request.limits = Limits()
        request.limits.total = nil
        let task = Task { [request] in await ending(of: request, from: agent) }
        try await entered.opened()
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
    }

    @Test func cacheThenNetworkIsBoundedByTheTotalTimeout() async throws {
        let stubborn = Wrapping { call, next async throws(NetError) in
            await Self.never()
            return try await next(call)
        }
        let agent = agent([stubborn, Caching(MemoryCacheStore(), rules: .app(60))])
        var codes: [NetError.Code] = []
        var answers = agent.answers(to: Self.short()).makeAsyncIterator()
        do throws(NetError) {
            while let _ = try await answers.next(isolation: nil) {}
        } catch {
            codes.append(error.code)
        }
        #expect(codes == [.timeout])
    }

    @Test func blockedCacheWriteDoesNotBlockOtherCallsPastTheirTimeout() async throws {
        let caching = Caching(MemoryCacheStore(), rules: .app(60) { $0.writesAsynchronously = true })
        let agent = agent([caching])
        var storing = Request<String>("/")
        let hasStarted = Gate()
        storing.interceptors.append(
            TransferHooks(willStore: { response in
                hasStarted.open()
                await Self.never()
                return response
            }))
        _ = try await agent.send(storing)
        try await hasStarted.opened()
        #expect(await ending(of: Self.short(), from: agent) == .failed(.timeout))
    }
}

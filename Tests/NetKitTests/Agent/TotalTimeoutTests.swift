import NetKit
import NetKitTesting
import Testing

/// `Limits.total` bounds a whole call, including the app's code in it.
@Suite(.timeLimit(.minutes(5)))
struct TotalTimeoutTests {
    private let stub = StubTransport { _ in .text("x") }
    private let gate = StubGate()

    /// Waits without reacting to cancellation.
    private static func never() async {
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
    }

    private static func short(_ path: String) -> Request<String> {
        var request = Request<String>(path)
        request.limits = Limits()
        request.limits.total = .seconds(1)
        return request
    }

    private func agent(
        _ interceptors: [any Interceptor] = [], _ change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    private func expectTimeout(_ agent: Agent, _ what: String, _ request: Request<String>? = nil) async {
        let request = request ?? Self.short("/")
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .timeout)
        // On a busy machine the limit may pass before the call gets this far.
        let isEarly = error?.message.contains("the time before") == true || error?.message.contains("the call") == true
        #expect(isEarly || error?.message.contains(what) == true, "\(error?.message ?? "")")
        let streamed = await failureCode { () async throws(NetError) in _ = try await agent.stream(request) }
        #expect(streamed == .timeout)
    }

    @Test func interceptorThatIgnoresCancellationDoesNotBlockTheCaller() async throws {
        let stubborn = Wrapping { call, next async throws(NetError) in
            await Self.never()
            return try await next(call)
        }
        await expectTimeout(agent([stubborn]), "the call exceeded")
        await expectTimeout(agent([Retry(), stubborn, CircuitBreaker()]), "the call exceeded")
        var own = Self.short("/")
        own.interceptors = [stubborn]
        await expectTimeout(agent(), "the call exceeded", own)
        let folder = try TemporaryFolder()
        let code = await failureCode { () async throws(NetError) in
            _ = try await agent([stubborn]).download(
                Self.short("/"), to: folder.file("x"), options: .init(isResumable: false))
        }
        #expect(code == .timeout)
        #expect(stub.requests.isEmpty)
    }

    @Test func interceptorAfterTheTransferIsBounded() async throws {
        let stubborn = Wrapping { call, next async throws(NetError) in
            let answer = try await next(call)
            await Self.never()
            return answer
        }
        await expectTimeout(agent([stubborn]), "the call exceeded")
    }

    @Test func computedPartsAreBounded() async throws {
        await expectTimeout(
            agent {
                $0.computedHeaders = { _ in
                    await Self.never(); return [:]
                }
            }, "computedHeaders")
        await expectTimeout(
            agent {
                $0.computedParameters = { _ in
                    await Self.never(); return nil
                }
            }, "computedParameters")
        var service = Service.Configuration(baseURLs: [.release: "http://stub"])
        service.adjustParameters = { parameters, _ in
            await Self.never()
            return parameters
        }
        var request = Self.short("/")
        request.service = Service("s", service)
        await expectTimeout(agent(), "the call exceeded", request)
    }

    @Test func hooksAndHandlersAreBounded() async throws {
        stub.register("/", with: StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]))
        await expectTimeout(
            agent {
                $0.interceptors.append(
                    TransferHooks(challenge: { _ in
                        await Self.never(); return .reject
                    }))
            }, "the challenge hook")
        stub.register("/", with: .text("x"))
        await expectTimeout(
            agent {
                $0.interceptors.append(
                    TransferHooks(head: { _, _ in
                        await Self.never(); return .allow
                    }))
            }, "the response head hook")
    }

    @Test func internalWaitsAreBounded() async throws {
        let limit = RateLimit(1, per: .seconds(3600), burst: 1)
        let limited = agent([limit])
        _ = try await limited.send(Request<String>("/"))
        await expectTimeout(limited, "the rate limit")
        let held = agent([
            CredentialRefresh("a") {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                await Self.never(); return ""
            }
        ])
        stub.register("/", with: .status(401))
        await expectTimeout(held, "bypassesCredentialRefresh")
        var service = Service.Configuration(baseURLs: [.release: "http://stub"])
        service.maxInFlight = 1
        var request = Self.short("/held")
        request.service = Service("s", service)
        stub.register("/held", with: .text("x").held(by: gate))
        let (holder, template) = (agent(), request)
        var first = template
        first.limits = Limits()
        let holding = Task { [first] in await ending(of: first, from: holder) }
        try await gate.waitForArrivals(1)
        await expectTimeout(holder, "waiting for a slot", request)
        gate.open()
        #expect(await holding.value == .answered)
    }

    @Test func unresponsiveStoreIsBounded() async throws {
        let caching = Caching(SilentStore(), rules: .app(60))
        await expectTimeout(agent([caching]), "the call exceeded")
    }

    @Test func joinedRequestHasItsOwnTimeout() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let agent = agent([RequestDeduplication(.join)])
        var patient = Request<String>("/")
        patient.duplicateKey = "same"
        var short = Self.short("/")
        short.duplicateKey = "same"
        let first = Task { [patient] in await ending(of: patient, from: agent) }
        try await gate.waitForArrivals(1)
        #expect(await ending(of: short, from: agent) == .failed(.timeout))
        gate.open()
        #expect(await first.value == .answered)
        #expect(stub.requests.count == 1)
    }

    @Test func waitingForAConcurrencyLimiterIsBounded() async throws {
        stub.register("/held", with: .text("x").held(by: gate))
        let (agent, limiter) = (agent(), ConcurrencyLimiter(maxConcurrent: 1))
        let first = agent.start(Request<String>("/held"), on: .here, options: .init(limiter: limiter))
        try await gate.waitForArrivals(1)
        let second = agent.start(Self.short("/"), on: .here, options: .init(limiter: limiter))
        #expect(await failureCode { () async throws(NetError) in _ = try await second.value } == .timeout)
        gate.open()
        #expect(try await first.value.value == "x")
    }

    @Test func eachAttemptUsesTheRemainingTimeAndLongerWaitsAreSkipped() async throws {
        let time = StubTime()
        var retry = Retry(time: time.source)
        retry.hasJitter = false
        stub.register("/", with: .status(503), .status(503), .text("x"))
        #expect(try await agent([retry]).send(Request<String>("/")).value == "x")
        stub.register("/", with: StubReply(status: 503, headers: ["Retry-After": "2"]), .text("x"))
        #expect(await ending(of: Self.short("/"), from: agent([retry])) == .failed(.status))
        #expect(stub.requests.count == 4)
    }

    @Test func cancellingReturnsFromCodeThatIgnoresIt() async throws {
        let entered = Gate()
        let stubborn = Wrapping { call, next async throws(NetError) in
            entered.open()
            await Self.never()
            return try await next(call)
        }
        let agent = agent([stubborn])
        let task = Task { await ending(of: Request<String>("/"), from: agent) }
        try await entered.opened()
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
    }
}

/// A store whose reads never end.
private struct SilentStore: CacheStore {
    private let inner = MemoryCacheStore()

    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
        return nil
    }

    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) { try await inner.put(entry, for: key) }
    func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        try await inner.removeAll(selection)
    }
    func list() async throws(NetError) -> [CacheListing] { try await inner.list() }
    func usage() async throws(NetError) -> CacheUsage { try await inner.usage() }
}

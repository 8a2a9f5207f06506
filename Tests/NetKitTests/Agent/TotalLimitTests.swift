import NetKit
import NetKitTesting
import Testing

/// `Limits.total` bounds a whole call, including the app's code in it.
@Suite(.timeLimit(.minutes(5)))
struct TotalLimitTests {
    private let stub = StubTransport { _ in .text("x") }
    private let gate = StubGate()

    /// Waits without reacting to cancellation.
    private static func never() async {
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
    }

    private static func short(_ path: String) -> Request<String> {
        var request = Request<String>(path)
        request.limits = Limits()
        request.limits?.total = .seconds(1)
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
        #expect(error?.code == .totalTimedOut)
        // On a busy machine the limit may pass before the call gets this far.
        let isEarly = error?.message.contains("what came before") == true || error?.message.contains("the call") == true
        #expect(isEarly || error?.message.contains(what) == true, "\(error?.message ?? "")")
        let streamed = await failureCode { () async throws(NetError) in _ = try await agent.stream(request) }
        #expect(streamed == .totalTimedOut)
    }

    @Test func anInterceptorThatIgnoresItsCancellationDoesNotHoldTheCaller() async throws {
        let stubborn = Wrapping { call, next async throws(NetError) in
            await Self.never()
            return try await next(call)
        }
        await expectTimeout(agent([stubborn]), "the call took longer")
        await expectTimeout(agent([Retry(), stubborn, Tracing()]), "the call took longer")
        var own = Self.short("/")
        own.interceptors = [stubborn]
        await expectTimeout(agent(), "the call took longer", own)
        let folder = try TemporaryFolder()
        let code = await failureCode { () async throws(NetError) in
            _ = try await agent([stubborn]).save(Self.short("/"), to: folder.file("x"))
        }
        #expect(code == .totalTimedOut)
        #expect(stub.requests.isEmpty)
    }

    @Test func anInterceptorBehindTheTransferIsBoundedToo() async throws {
        let stubborn = Wrapping { call, next async throws(NetError) in
            let answer = try await next(call)
            await Self.never()
            return answer
        }
        await expectTimeout(agent([stubborn]), "the call took longer")
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
        await expectTimeout(agent(), "the call took longer", request)
    }

    @Test func hooksAndHandlersAreBounded() async throws {
        stub.answer("/", with: StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]))
        await expectTimeout(
            agent {
                $0.challengeHandler = { _ in
                    await Self.never(); return .reject
                }
            }, "the challenge handler")
        stub.answer("/", with: .text("x"))
        await expectTimeout(
            agent {
                $0.transferHooks.head = { _, _ in
                    await Self.never(); return .allow
                }
            }, "the head's hook")
    }

    @Test func waitsOfTheLibraryAreBounded() async throws {
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
        stub.answer("/", with: .status(401))
        await expectTimeout(held, "bypassesCredentialRefresh")
        var service = Service.Configuration(baseURLs: [.release: "http://stub"])
        service.maxInFlight = 1
        var request = Self.short("/held")
        request.service = Service("s", service)
        stub.answer("/held", with: .text("x").held(by: gate))
        let (holder, asked) = (agent(), request)
        var first = asked
        first.limits = nil
        let holding = Task { [first] in await ending(of: first, from: holder) }
        try await gate.waitForArrivals(1)
        await expectTimeout(holder, "the wait for a slot", request)
        gate.open()
        #expect(await holding.value == .answered)
    }

    @Test func aStoreThatDoesNotAnswerIsBounded() async throws {
        let caching = Caching(SilentStore(), rules: .app(60))
        await expectTimeout(agent([caching]), "the call took longer")
    }

    @Test func aRequestThatJoinsAnotherHasItsOwnTime() async throws {
        stub.answer("/", with: .text("x").held(by: gate))
        let agent = agent([Repeats(.join)])
        var patient = Request<String>("/")
        patient.repeatKey = "same"
        var short = Self.short("/")
        short.repeatKey = "same"
        let first = Task { [patient] in await ending(of: patient, from: agent) }
        try await gate.waitForArrivals(1)
        #expect(await ending(of: short, from: agent) == .failed(.totalTimedOut))
        gate.open()
        #expect(await first.value == .answered)
        #expect(stub.requests.count == 1)
    }

    @Test func aLaneIsBounded() async throws {
        stub.answer("/held", with: .text("x").held(by: gate))
        let (agent, lane) = (agent(), CallLane(maxConcurrent: 1))
        let first = agent.start(Request<String>("/held"), on: .here, options: .init(lane: lane))
        try await gate.waitForArrivals(1)
        let second = agent.start(Self.short("/"), on: .here, options: .init(lane: lane))
        #expect(await failureCode { () async throws(NetError) in _ = try await second.value } == .totalTimedOut)
        gate.open()
        #expect(try await first.value.value == "x")
    }

    @Test func eachTryHasWhatIsLeftAndAWaitBeyondTheTimeIsNotBegun() async throws {
        let time = StubTime()
        var retry = Retry(time: time.source)
        retry.hasJitter = false
        stub.answer("/", with: .status(503), .status(503), .text("x"))
        #expect(try await agent([retry]).send(Request<String>("/")).value == "x")
        stub.answer("/", with: StubReply(status: 503, headers: ["Retry-After": "2"]), .text("x"))
        #expect(await ending(of: Self.short("/"), from: agent([retry])) == .failed(.unacceptableStatus))
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
    private let kept = MemoryCacheStore()

    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
        return nil
    }

    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) { try await kept.put(entry, for: key) }
    func remove(_ key: CacheKey) async throws(NetError) -> Bool { try await kept.remove(key) }
    func removeAll(tagged tag: String) async throws(NetError) -> Int { try await kept.removeAll(tagged: tag) }
    func removeAll(from host: String) async throws(NetError) -> Int { try await kept.removeAll(from: host) }
    func removeAll() async throws(NetError) -> Int { try await kept.removeAll() }
    func list() async throws(NetError) -> [CacheListing] { try await kept.list() }
    func usage() async throws(NetError) -> CacheUsage { try await kept.usage() }
}

import NetKit
import NetKitTesting
import Testing

/// The longest possible durations, which mean "no limit".
@Suite(.timeLimit(.minutes(5)))
struct UnlimitedDurationTests {
    private static let forEver = Duration.seconds(Int64.max)
    private let stub = StubTransport()

    private func agent(_ change: (inout Agent.Configuration) -> Void) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    @Test func circuitCanStayOpenIndefinitely() async throws {
        stub.register("*", with: .failure(.refused))
        let agent = agent { $0.interceptors = [CircuitBreaker(failures: 1, resetAfter: Self.forEver)] }
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.refused))
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.circuitOpen))
    }

    @Test func retryBudgetCanBeUnlimited() {
        #expect(RetryBudget(reserve: .max).remaining == Int(UInt32.max))
    }

    @Test func waitForASlotCanBeUnlimited() async throws {
        let gate = StubGate()
        stub.register("*", with: .text("x").held(by: gate))
        var configuration = Service.Configuration(baseURLs: [.release: "http://a"])
        configuration.maxInFlight = 1
        let service = Service("a", configuration)
        let agent = agent { $0.limits.slot = Self.forEver }
        var request = Request<String>("/")
        request.service = service
        let tasks = (0..<2).map { _ in Task { [request] in try await agent.send(request).value } }
        try await gate.waitForArrivals(1)
        while service.waitingCount < 1 {
            await Task.yield()
        }
        gate.open()
        for task in tasks {
            #expect(try await task.value == "x")
        }
    }

    @Test func waitForAMockServerCanBeUnlimited() async throws {
        let server = try MockServer()
        #expect(await server.waitForRequests(0, within: Self.forEver))
    }

    @Test(arguments: [(1, Duration.seconds(60), Int.max), (1, forEver, 100), (.max, .seconds(1), .max)])
    func burstCanBeUnlimited(count: Int, period: Duration, burst: Int) async throws {
        stub.register("*", with: .text("x"))
        let agent = agent { $0.interceptors = [RateLimit(count, per: period, burst: burst)] }
        for _ in 0..<3 {
            #expect(await ending(of: Request<Bytes>("/"), from: agent) == .answered)
        }
    }

    @Test func waitForTheRateLimitCanBeUnlimited() async throws {
        stub.register("*", with: .text("x"))
        let feed = EventFeed()
        let agent = agent {
            $0.interceptors = [RateLimit(1, per: Self.forEver)]
            $0.observers = [feed]
        }
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .answered)
        let tasks = (0..<40).map { _ in Task { await ending(of: Request<Bytes>("/"), from: agent) } }
        var waiting = 0
        for await event in feed.events {
            if case .waiting = event.change { waiting += 1 }
            if waiting == tasks.count { break }
        }
        for task in tasks {
            task.cancel()
            #expect(await task.value == .failed(.cancelled))
        }
    }

    @Test func unlimitedBackoffCanDouble() async throws {
        stub.register("*", with: .failure(.refused))
        var retry = Retry(maxRetries: 50, budget: nil)
        retry.baseDelay = Self.forEver
        retry.maxDelay = .zero
        let agent = agent { [retry] in $0.interceptors = [retry] }
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.refused))
        #expect(stub.requests.count == 51)
    }
}

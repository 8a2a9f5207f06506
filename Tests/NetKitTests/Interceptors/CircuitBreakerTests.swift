import NetKitTesting
import Testing

@testable import NetKit

struct CircuitBreakerTests {
    private let stub = StubTransport()
    private let time = StubTime()
    private let breaker: CircuitBreaker
    private let agent: Agent

    init() {
        breaker = CircuitBreaker(failures: 3, resetAfter: .seconds(30), time: time.source)
        var configuration = Agent.Configuration()
        configuration.interceptors = [breaker]
        agent = Agent(configuration, transport: stub)
    }

    private func send(_ url: String = "http://a/") async -> Ending {
        await ending(of: Request<Void>(url), from: agent)
    }

    private func open() async {
        stub.register("*", with: .failure(.refused))
        for _ in 0..<3 {
            _ = await send()
        }
    }

    @Test func consecutiveFailuresOpenTheCircuitForTheHost() async throws {
        await open()
        #expect(breaker.state(of: "http://a/other") == .open)
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("http://a/")) }
        #expect(error?.code == .circuitOpen)
        #expect(error?.isRetryable == false)
        #expect(error?.message == "circuit open after repeated failures of http://a: retry in 30 s")
        #expect(stub.requests.count == 3)
    }

    @Test func otherHostsAreStillRequested() async throws {
        await open()
        stub.register("*", with: .text("x"))
        #expect(await send("http://b/") == .answered)
        #expect(breaker.state(of: "http://b/") == .closed)
    }

    @Test func successResetsTheFailureCount() async throws {
        stub.register("/", with: .status(503), .failure(.reset), .status(404), .status(500), .status(502), .text("x"))
        for _ in 0..<6 {
            _ = await send()
        }
        #expect(stub.requests.count == 6)
        #expect(breaker.state(of: "http://a/") == .closed)
    }

    @Test(arguments: [NetError.Code.badURL, .tlsExpired, .slotTimeout, .bodySource, .redirectRefused])
    func errorsNotCausedByTheHostDoNotCount(code: NetError.Code) async throws {
        stub.register("/", with: .failure(code))
        for _ in 0..<5 {
            #expect(await send() == .failed(code))
        }
    }

    @Test func successfulTrialClosesTheCircuit() async throws {
        await open()
        time.advance(by: .seconds(30))
        #expect(breaker.state(of: "http://a/") == .halfOpen)
        stub.register("*", with: .text("x"))
        #expect(await send() == .answered)
        #expect(breaker.state(of: "http://a/") == .closed)
        stub.register("*", with: .failure(.reset))
        #expect(await send() == .failed(.reset))
        #expect(breaker.state(of: "http://a/") == .closed)
    }

    @Test func failedTrialReopensTheCircuit() async throws {
        await open()
        time.advance(by: .seconds(30))
        #expect(await send() == .failed(.refused))
        #expect(breaker.state(of: "http://a/") == .open)
        time.advance(by: .seconds(29))
        #expect(await send() == .failed(.circuitOpen))
    }

    @Test func onlyOneTrialRunsAndACancelledTrialAllowsTheNext() async throws {
        await open()
        time.advance(by: .seconds(30))
        let gate = StubGate()
        stub.register("*", with: .text("x").held(by: gate))
        let trial = Task { await send() }
        try await gate.waitForArrivals(1)
        #expect(await send() == .failed(.circuitOpen))
        trial.cancel()
        #expect(await trial.value == .failed(.cancelled))
        gate.open()
        #expect(await send() == .answered)
    }

    @Test func requestsSentBeforeOpeningDoNotAffectTheCircuit() async throws {
        let gate = StubGate()
        stub.register("/slow", with: .text("x").held(by: gate))
        let slow = Task { await send("http://a/slow") }
        try await gate.waitForArrivals(1)
        await open()
        gate.open()
        #expect(await slow.value == .answered)
        #expect(breaker.state(of: "http://a/") == .open)
    }

    @Test func failureConditionCanBeCustomized() async throws {
        let breaker = CircuitBreaker(failures: 1, time: time.source) { outcome in
            if case .success(429) = outcome { true } else { false }
        }
        var configuration = Agent.Configuration()
        configuration.interceptors = [breaker]
        let agent = Agent(configuration, transport: stub)
        stub.register("/", with: .status(503), .status(429))
        _ = try await agent.send(Request<Bytes>("http://a/"))
        #expect(breaker.state(of: "http://a/") == .closed)
        _ = try await agent.send(Request<Bytes>("http://a/"))
        #expect(breaker.state(of: "http://a/") == .open)
    }

    @Test(arguments: [
        NetError.Code.slotTimeout, .badURL, .closed, .cellularRefused, .bodySource, .authentication, .plaintextRefused,
    ])
    func trialThatDidNotReachTheHostAllowsTheNext(code: NetError.Code) async throws {
        await open()
        time.advance(by: .seconds(30))
        stub.register("*", with: .failure(code))
        #expect(await send() == .failed(code))
        #expect(breaker.state(of: "http://a/") == .halfOpen)
        stub.register("*", with: .text("x"))
        #expect(await send() == .answered)
        #expect(breaker.state(of: "http://a/") == .closed)
    }

    @Test func healthyHostHasNoState() async throws {
        stub.register("*", with: .text("x"))
        stub.register("/once", with: .status(503))
        for number in 0..<10 {
            #expect(await send("http://h\(number)/") == .answered)
            #expect(await send("http://h\(number)/once") == .failed(.status))
            #expect(breaker.hostCount == 1)
            #expect(await send("http://h\(number)/") == .answered)
            #expect(breaker.hostCount == 0)
        }
    }

    @Test func unusedHostsAreEvicted() async throws {
        stub.register("*", with: .failure(.refused))
        for number in 0..<1_500 {
            _ = await send("http://h\(number)/")
            time.advance(by: .milliseconds(100))
        }
        #expect(breaker.hostCount <= 1_025)
        // Hosts with recent failures are not evicted.
        await open()
        #expect(breaker.state(of: "http://a/") == .open)
        for number in 0..<1_100 {
            _ = await send("http://i\(number)/")
        }
        #expect(breaker.state(of: "http://a/") == .open && breaker.hostCount > 1_100)
    }
}

import NetKitTesting
import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct RateLimitTests {
    private let stub = StubTransport { _ in .text("x") }
    private let time = StubTime()

    private func agent(_ limit: RateLimit) -> Agent {
        var configuration = Agent.Configuration()
        configuration.interceptors = [limit]
        return Agent(configuration, transport: stub)
    }

    private func send(_ count: Int, _ agent: Agent, to url: String = "http://a/") async throws {
        for _ in 0..<count {
            _ = try await agent.send(Request<Bytes>(url))
        }
    }

    @Test func fullBucketSendsABurstAndThenOnePerInterval() async throws {
        let agent = agent(RateLimit(2, per: .seconds(1), time: time.source))
        try await send(5, agent)
        #expect(time.waits == Array(repeating: .milliseconds(500), count: 3))
    }

    @Test func costPerHostIsIndependentOfTheNumberOfHosts() throws {
        let limit = RateLimit(1, per: .seconds(3_600), time: time.source)
        for number in 0..<40_000 {
            #expect(try limit.take(from: "http://h\(number)").wait == .zero)
        }
        #expect(limit.bucketCount == 40_000)
        time.advance(by: .seconds(3_600))
        for number in 0..<40_001 {
            _ = try limit.take(from: "http://i\(number)")
        }
        // Full buckets have been removed.
        #expect(limit.bucketCount == 40_001)
    }

    @Test func idleBucketRefills() async throws {
        let agent = agent(RateLimit(2, per: .seconds(1), time: time.source))
        try await send(2, agent)
        time.advance(by: .seconds(100))
        try await send(2, agent)
        #expect(time.waits == [])
        try await send(1, agent)
        #expect(time.waits == [.milliseconds(500)])
    }

    @Test func burstOfOneSpacesRequestsEvenly() async throws {
        let agent = agent(RateLimit(60, per: .seconds(60), burst: 1, time: time.source))
        try await send(4, agent)
        #expect(time.waits == Array(repeating: .seconds(1), count: 3))
    }

    @Test func eachHostHasItsOwnBucket() async throws {
        let agent = agent(RateLimit(1, per: .seconds(1), time: time.source))
        for url in ["http://a/1", "http://b/", "https://a/", "http://a:8080/"] {
            try await send(1, agent, to: url)
        }
        #expect(time.waits == [])
        try await send(1, agent, to: "HTTP://A:80/2")
        #expect(time.waits == [.seconds(1)])
    }

    @Test func bucketsCanBeSharedByAllRequestsOrByKey() async throws {
        try await send(1, agent(RateLimit(1, per: .seconds(1), scope: .all, time: time.source)))
        let all = agent(RateLimit(1, per: .seconds(1), scope: .all, time: time.source))
        try await send(1, all, to: "http://a/")
        try await send(1, all, to: "http://b/")
        #expect(time.waits == [.seconds(1)])
        let named = agent(
            RateLimit(1, per: .seconds(1), scope: .named { $0.url.hasSuffix("free") ? nil : "s" }, time: time.source))
        try await send(9, named, to: "http://a/free")
        try await send(2, named, to: "http://a/")
        #expect(time.waits == [.seconds(1), .seconds(1)])
    }

    @Test func requestThatWouldWaitTooLongFailsImmediatelyAndTakesNoToken() async throws {
        let agent = agent(RateLimit(1, per: .seconds(10), maxWait: .seconds(10), time: time.source))
        let gate = StubGate()
        try await send(1, agent)
        time.hold(by: gate)
        let waiting = Task { await ending(of: Request<Bytes>("http://a/"), from: agent) }
        try await gate.waitForArrivals(1)
        for _ in 0..<3 {
            #expect(await ending(of: Request<Bytes>("http://a/"), from: agent) == .failed(.slotTimeout))
        }
        gate.open()
        #expect(await waiting.value == .answered)
        #expect(time.waits == [.seconds(10)])
    }

    @Test func cancellingEndsTheWaitAndReturnsTheToken() async throws {
        let agent = agent(RateLimit(1, per: .seconds(10), time: time.source))
        let gate = StubGate()
        try await send(1, agent)
        time.hold(by: gate)
        let task = Task { await ending(of: Request<Bytes>("http://a/"), from: agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        gate.open()
        try await send(1, agent)
        #expect(time.waits == [.seconds(10), .seconds(10)])
    }

    @Test func concurrentRequestsReceiveDistinctSendTimes() async throws {
        let agent = agent(RateLimit(1, per: .seconds(1), time: time.source))
        let gate = StubGate()
        time.hold(by: gate)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { _ = try? await agent.send(Request<Bytes>("http://a/")) }
            }
            try? await gate.waitForArrivals(99)
            gate.open()
        }
        #expect(time.waits.sorted() == (1..<100).map { .seconds($0) })
    }

    @Test func returnedTokensAreReusedOnce() async throws {
        let agent = agent(RateLimit(1, per: .seconds(1), time: time.source))
        let gate = StubGate()
        try await send(1, agent)
        time.hold(by: gate)
        func begin(_ numbers: ClosedRange<Int>) async throws -> [Task<Ending, Never>] {
            var tasks: [Task<Ending, Never>] = []
            for number in numbers {
                tasks.append(Task { await ending(of: Request<Bytes>("http://a/"), from: agent) })
                try await gate.waitForArrivals(number)
            }
            return tasks
        }
        let first = try await begin(1...10)
        // Cancels the first five and the last one.
        for task in first.prefix(5) + first.suffix(1) {
            task.cancel()
            #expect(await task.value == .failed(.cancelled))
        }
        let second = try await begin(11...17)
        let seconds = time.waits.dropFirst(10).map { $0 / .seconds(1) }
        #expect(seconds == [1, 2, 3, 4, 5, 10, 11])
        gate.open()
        for task in first[5..<9] + second {
            #expect(await task.value == .answered)
        }
    }
}

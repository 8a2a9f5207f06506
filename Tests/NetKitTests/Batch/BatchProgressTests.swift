import NetKit
import NetKitTesting
import Testing

/// Progress of a batch.
@Suite(.timeLimit(.minutes(5)))
struct BatchProgressTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let told = Collected<BatchProgress>()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func batch(of count: Int) -> Batch<MemberArray<Request<String>>> {
        let told = told
        var batch = Batch((0..<count).map { Request<String>("/\($0)") })
        batch.progress = { told.append($0) }
        return batch
    }

    @Test func eachMemberIsToldInTurnAndTheLastWordOnce() async throws {
        stub.answer("*", with: .text("x"))
        _ = try await agent.send(batch(of: 20))
        #expect(told.values.map(\.finished) == Array(0...20))
        #expect(told.values.allSatisfy { $0.total == 20 && $0.failed == 0 })
        #expect(told.values.map(\.isOver) == Array(repeating: false, count: 20) + [true])
        #expect(told.values.last?.fraction == 1)
    }

    @Test func anEmptyBatchHasItsLastWord() async throws {
        _ = try await agent.send(batch(of: 0))
        #expect(told.values == [BatchProgress(isOver: true)])
        #expect(told.values[0].fraction == 1)
    }

    @Test func aFailureIsCountedAndEndsIt() async throws {
        stub.answer("/1", with: .failure(.reset))
        stub.answer("*", with: .text("x"))
        #expect(
            await failureCode { () async throws(NetError) in
                _ = try await agent.send(batch(of: 4).limited(to: 1))
            } == .reset)
        #expect(
            told.values == [
                BatchProgress(total: 4), BatchProgress(finished: 1, total: 4),
                BatchProgress(finished: 2, failed: 1, total: 4, isOver: true),
            ])
    }

    @Test func collectingCountsFailuresAndGoesOn() async throws {
        stub.answer("/1", with: .failure(.reset))
        stub.answer("*", with: .text("x"))
        _ = try await agent.send(batch(of: 3).limited(to: 1).collectingAll)
        #expect(told.values.map(\.finished) == [0, 1, 2, 3])
        #expect(told.values.map(\.failed) == [0, 0, 1, 1])
        #expect(told.values.map(\.isOver) == [false, false, false, true])
    }

    @Test func aCancelledBatchHasItsLastWord() async throws {
        stub.answer("/0", with: .text("x"))
        stub.answer("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, batch(of: 3).limited(to: 1))
        let task = Task {
            await failureCode { () async throws(NetError) in _ = try await agent.send(batch) }
        }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(told.values.map(\.finished) == [0, 1, 1])
        #expect(told.values.map(\.isOver) == [false, false, true])
    }

    @Test func itIsAStreamToo() async throws {
        stub.answer("*", with: .text("x"))
        let feed = BatchProgressFeed()
        var batch = batch(of: 3)
        batch.progress = feed.take
        async let outcome = agent.send(batch)
        var finished: [Int] = []
        for await progress in feed.values {
            finished.append(progress.finished)
        }
        #expect(finished == [0, 1, 2, 3])
        _ = try await outcome
    }

    @Test func aStreamEndsWhenItsFeedIsLetGo() async throws {
        var feed: BatchProgressFeed? = BatchProgressFeed()
        let values = feed?.values
        feed = nil
        for await progress in try #require(values) {
            Issue.record("nobody told \(progress)")
        }
    }
}

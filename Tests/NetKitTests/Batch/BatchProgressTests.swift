import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Progress of a batch.
@Suite(.timeLimit(.minutes(5)))
struct BatchProgressTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let reportedProgress = Collected<BatchProgress>()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func batch(of count: Int) -> Batch<MemberArray<Request<String>>> {
        let reportedProgress = reportedProgress
        var batch = Batch((0..<count).map { Request<String>("/\($0)") })
        batch.progress = { reportedProgress.append($0) }
        return batch
    }

    @Test func eachMemberReportsProgressAndTheEndIsReportedOnce() async throws {
        stub.register("*", with: .text("x"))
        _ = try await agent.send(batch(of: 20))
        #expect(reportedProgress.values.map(\.finished) == Array(0...20))
        #expect(reportedProgress.values.allSatisfy { $0.total == 20 && $0.failed == 0 })
        #expect(reportedProgress.values.map(\.isOver) == Array(repeating: false, count: 20) + [true])
    }

    @Test func emptyBatchReportsItsEnd() async throws {
        _ = try await agent.send(batch(of: 0))
        #expect(reportedProgress.values == [BatchProgress(isOver: true)])
    }

    @Test func failureIsCountedAndEndsTheBatch() async throws {
        stub.register("/1", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        #expect(
            await failureCode { () async throws(NetError) in
                _ = try await agent.send(batch(of: 4).limited(to: 1))
            } == .reset)
        #expect(
            reportedProgress.values == [
                BatchProgress(total: 4), BatchProgress(finished: 1, total: 4),
                BatchProgress(finished: 2, failed: 1, total: 4, isOver: true),
            ])
    }

    @Test func collectingBatchCountsFailuresAndContinues() async throws {
        stub.register("/1", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        _ = try await agent.send(batch(of: 3).limited(to: 1).collectingAll)
        #expect(reportedProgress.values.map(\.finished) == [0, 1, 2, 3])
        #expect(reportedProgress.values.map(\.failed) == [0, 0, 1, 1])
        #expect(reportedProgress.values.map(\.isOver) == [false, false, false, true])
    }

    @Test func cancelledBatchReportsItsEnd() async throws {
        stub.register("/0", with: .text("x"))
        stub.register("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, batch(of: 3).limited(to: 1))
        let task = Task {
            await failureCode { () async throws(NetError) in _ = try await agent.send(batch) }
        }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(reportedProgress.values.map(\.finished) == [0, 1, 1])
        #expect(reportedProgress.values.map(\.isOver) == [false, false, true])
    }
}

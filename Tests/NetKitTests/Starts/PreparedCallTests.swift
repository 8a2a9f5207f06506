import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Calls that are created before they start, concurrency limiters, and batches of such calls.
@Suite(.timeLimit(.minutes(5)))
struct PreparedCallTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent
    private let log = Collected<String>()

    init() {
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("*", with: .text("x"))
    }

    private func prepare(_ path: String, options: StartOptions = .init()) -> PreparedCall<String> {
        let log = log
        return agent.prepare(Request<String>(path), on: .here, options: options) { result in
            log.append("\(path) \(failureCode(of: result).map { "\($0)" } ?? "told")")
        }
    }

    @Test func aSecondStartDoesNothing() async throws {
        let call = prepare("/a")
        let handle = call.start()
        #expect(call.start().id == handle.id)
        #expect(failureCode(of: await handle.result) == nil)
        call.start()
        #expect(log.values == ["/a told"] && stub.requests.count == 1)
        #expect(throws: NetError.self) { try call.come(after: handle.ended) }
    }

    @Test func callCancelledBeforeItStartsIsNotSent() async throws {
        let call = prepare("/a", options: .init(reportsCancellation: true))
        call.handle.cancel()
        #expect(failureCode(of: await call.start().result) == .cancelled)
        #expect(log.values == ["/a cancelled"] && stub.requests.isEmpty)
    }

    @Test func callPausedBeforeItStartsWaits() async throws {
        let call = prepare("/a")
        call.handle.pause()
        call.start()
        #expect(call.handle.state == .waiting && agent.requestTasks().map(\.isPaused) == [true])
        call.handle.resume()
        #expect(failureCode(of: await call.handle.result) == nil)
    }

    @Test func aBatchEndsAfterTheCompletionOfEach() async throws {
        stub.register("/bad", with: .failure(.reset))
        let calls = ["/a", "/bad", "/c"].map { prepare($0) }
        var batch = Batch(calls)
        let log = log
        batch.progress = { log.append("\($0.finished) of \($0.total)") }
        let outcome = try await agent.send(batch.limited(to: 1).collectingAll)
        #expect(
            log.values == [
                "0 of 3", "/a told", "1 of 3", "/bad reset", "2 of 3", "/c told", "3 of 3",
            ])
        #expect(outcome.failures.map(\.index) == [1])
        #expect(outcome.results.map { failureCode(of: $0) } == [nil, .reset, nil])
    }

    @Test(arguments: [1, 2, 3])
    func limitedBatchStartsWithDependencies(limit: Int) async throws {
        let first = prepare("/first")
        let second = prepare("/second", options: .init(after: [first.handle.succeeded]))
        let third = prepare("/third")
        try third.come(after: second.handle.succeeded)
        let calls = [third, prepare("/free"), second, first]
        let outcome = try await agent.send(Batch(calls).limited(to: limit))
        #expect(outcome.outcomes.map(\.url) == ["/third", "/free", "/second", "/first"].map { "http://stub\($0)" })
        #expect(stub.requests.map(\.path).filter { $0 != "/free" } == ["/first", "/second", "/third"])
        let (last, before) = (prepare("/last"), prepare("/before"))
        try last.come(after: before.handle.ended)
        _ = try await agent.send(Batch(last, Request<String>("/between"), before).limited(to: 1).collectingAll)
        #expect(stub.requests.map(\.path).suffix(3) == ["/before", "/last", "/between"])
    }

    @Test func emptyBatchEndsImmediately() async throws {
        let log = log
        var batch = Batch([PreparedCall<String>]())
        batch.progress = { log.append("\($0.finished) of \($0.total) \($0.isOver)") }
        let handle = agent.start(batch.collectingAll, on: .here) { _ in
            log.append("told")
        }
        _ = try await handle.value
        #expect(log.values == ["0 of 0 true", "told"])
    }

    @Test func batchPausesAndCancelsItsCalls() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let calls = ["/a", "/b"].map { prepare($0, options: .init(reportsCancellation: true)) }
        let handle = agent.start(Batch(calls), on: .here)
        try await gate.waitForArrivals(2)
        handle.pause()
        #expect(calls.map(\.handle.task.isPaused) == [true, true])
        handle.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(log.values.sorted() == ["/a cancelled", "/b cancelled"])
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func batchWaitsForAnAlreadyStartedCall() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let call = prepare("/a")
        call.start()
        try await gate.waitForArrivals(1)
        async let outcome = agent.send(Batch([call]))
        gate.open()
        #expect(try await outcome.values == ["x"])
        #expect(stub.requests.count == 1)
    }

    @Test func completionsRunOnTheirOwnExecutor() async throws {
        let log = log
        let main = agent.prepare(Request<String>("/a")) { _ in log.append("a \(whereNow())") }
        let here = agent.prepare(Request<String>("/b"), on: .here) { _ in log.append("b \(whereNow())") }
        _ = try await agent.send(Batch([main, here]).limited(to: 1))
        #expect(log.values == ["a main", "b elsewhere"])
    }

    // MARK: Concurrency limiters

    @Test(arguments: [1, 2, 5])
    func concurrencyLimiterBoundsRunningCalls(limit: Int) async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let limiter = ConcurrencyLimiter(maxConcurrent: limit)
        let handles = (0..<9).map { prepare("/\($0)", options: .init(limiter: limiter)).start() }
        try await gate.waitForArrivals(limit)
        while limiter.waitingCount < handles.count - limit {
            await Task.yield()
        }
        #expect(stub.requests.count == limit && gate.arrivalCount == limit)
        gate.open()
        for handle in handles {
            #expect(failureCode(of: await handle.result) == nil)
        }
        #expect(limiter.waitingCount == 0)
    }

    @Test func highestPriorityRunsFirstInALimiter() async throws {
        stub.register("/hold", with: .text("x").held(by: gate))
        let limiter = ConcurrencyLimiter(maxConcurrent: 1)
        let holder = prepare("/hold", options: .init(limiter: limiter)).start()
        try await gate.waitForArrivals(1)
        var handles: [CallHandle<Response<String>>] = []
        for (path, priority) in [("/low", Priority.low), ("/normal", .normal), ("/high", .high)] {
            var request = Request<String>(path)
            request.priority = priority
            handles.append(agent.start(request, on: .here, options: .init(limiter: limiter)))
            while limiter.waitingCount < handles.count {
                await Task.yield()
            }
        }
        gate.open()
        for handle in handles + [holder] {
            #expect(failureCode(of: await handle.result) == nil)
        }
        #expect(stub.requests.map(\.path) == ["/hold", "/high", "/normal", "/low"])
    }

    @Test func cancelledCallReleasesItsPermitInALimiter() async throws {
        stub.register("/hold", with: .text("x").held(by: gate))
        let limiter = ConcurrencyLimiter(maxConcurrent: 1)
        let holder = prepare("/hold", options: .init(limiter: limiter)).start()
        try await gate.waitForArrivals(1)
        let second = prepare("/second", options: .init(limiter: limiter)).start()
        let third = prepare("/third", options: .init(limiter: limiter)).start()
        second.cancel()
        #expect(failureCode(of: await second.result) == .cancelled)
        gate.open()
        #expect(failureCode(of: await third.result) == nil)
        #expect(failureCode(of: await holder.result) == nil)
        #expect(stub.requests.map(\.path) == ["/hold", "/third"])
    }
}

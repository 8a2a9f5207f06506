import NetKit
import NetKitTesting
import Testing

@testable import NetKitCompat

/// Progress of calls, alone and together.
@Suite(.timeLimit(.minutes(5)))
struct CallProgressTests {
    private let time = StubTime()

    private func moved(_ sent: Int, _ sendTotal: Int?, _ received: Int, _ receiveTotal: Int?) -> TransferProgress {
        var progress = TransferProgress()
        progress.sent = sent
        progress.sendTotal = sendTotal
        progress.received = received
        progress.receiveTotal = receiveTotal
        return progress
    }

    // MARK: One call

    @Test func initialProgressIsUnknown() {
        let now = CallProgress().current
        #expect(now.upload.total == nil && now.download.total == nil)
        #expect(now.fractionCompleted == nil && now.timeLeft == nil && !now.isOver)
        #expect(now.parts == BatchProgress(finished: 0, failed: 0, total: 1))
    }

    @Test func rateOfManyBytesInNoTimeSaturates() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, nil, 0, nil))
        time.advance(by: .nanoseconds(1))
        progress.take(moved(.max, nil, .max, nil))
        #expect(progress.current.bytesPerSecond == .max)
    }

    @Test func uploadAndDownloadAreCountedSeparately() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, 1000, 0, nil))
        for second in 1...4 {
            time.advance(by: .seconds(1))
            progress.take(moved(100 * second, 1000, 0, nil))
        }
        var now = progress.current
        #expect(now.upload == .init(completed: 400, total: 1000, bytesPerSecond: 100))
        #expect(now.upload.fractionCompleted == 0.4 && now.upload.timeLeft == .seconds(6))
        #expect(now.download == .init(completed: 0, total: nil, bytesPerSecond: 0))
        #expect(now.timeLeft == nil && now.fractionCompleted == 0.4)
        for second in 1...4 {
            time.advance(by: .seconds(1))
            progress.take(moved(1000, 1000, 50 * second, 400))
        }
        now = progress.current
        #expect(now.download.bytesPerSecond == 50 && now.download.timeLeft == .seconds(4))
        #expect(now.upload.fractionCompleted == 1 && now.upload.timeLeft == .zero)
        #expect(now.upload.bytesPerSecond < 100)
        #expect(now.timeLeft == .seconds(4))
    }

    @Test func theRateIsSmoothed() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, 0, 0, 10_000))
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 1000, 10_000))
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 1000, 10_000))
        #expect(progress.current.download.bytesPerSecond == 500)
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 2000, 10_000))
        #expect(progress.current.download.bytesPerSecond == 750)
        // No bytes arrive, so the rate falls.
        time.advance(by: .seconds(10))
        #expect(progress.current.download.bytesPerSecond == 375)
    }

    @Test func rateIsKnownInTheFirstSecond() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, 0, 0, 1000))
        time.advance(by: .milliseconds(500))
        progress.take(moved(0, 0, 100, 1000))
        #expect(progress.current.download.bytesPerSecond == 200)
        #expect(progress.current.timeLeft == .seconds(4.5))
    }

    @Test func pausedTimeDoesNotCount() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, 0, 0, 1000))
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 100, 1000))
        progress.pause()
        #expect(progress.current.isPaused && progress.current.bytesPerSecond == 0)
        time.advance(by: .seconds(1000))
        progress.resume()
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 200, 1000))
        #expect(progress.current.download.bytesPerSecond == 100)
    }

    @Test func anotherHopResetsTheProgress() {
        let progress = CallProgress(time: time.source)
        progress.take(moved(0, 0, 900, 1000))
        time.advance(by: .seconds(1))
        progress.take(moved(0, 0, 0, 50))
        #expect(progress.current.download.completed == 0 && progress.current.download.total == 50)
        #expect(progress.current.download.bytesPerSecond == 0)
    }

    @Test func progressFollowsARequestTaskToItsEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 2_000_000))
        let progress = CallProgress()
        let updates = progress.updates
        let request = Request<Bytes>(server.url("/"), method: .post, body: Body(Bytes(pattern(300_000))))
        let handle = Agent().start(request, on: .here, options: .init(tracking: progress))
        var last: CallProgress.Snapshot?
        for await now in updates {
            #expect(now.download.completed >= last?.download.completed ?? 0)
            last = now
        }
        #expect(try await handle.value.bytes.count == 2_000_000)
        #expect(last?.isOver == true && last?.fractionCompleted == 1)
        #expect(last?.upload == .init(completed: 300_000, total: 300_000, bytesPerSecond: 0))
        #expect(last?.download == .init(completed: 2_000_000, total: 2_000_000, bytesPerSecond: 0))
        #expect(last?.parts == BatchProgress(finished: 1, failed: 0, total: 1, isOver: true))
    }

    @Test func allReadersReceiveTheEndIncludingALateOne() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("x"))
        let progress = CallProgress()
        let (first, second) = (progress.updates, progress.updates)
        _ = try await Agent(transport: stub).start(
            Request<String>("http://stub/"), on: .here, options: .init(tracking: progress)
        ).value
        for updates in [first, second, progress.updates] {
            var last: CallProgress.Snapshot?
            for await now in updates {
                last = now
            }
            #expect(last?.isOver == true && last?.fractionCompleted == 1)
        }
    }

    @Test func failureDoesNotReachOneHundredPercent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, cutAfter: 500, ending: .close))
        let progress = CallProgress()
        let handle = Agent().start(
            Request<Bytes>(server.url("/")), on: .here, options: .init(tracking: progress))
        #expect(failureCode(of: await handle.result) == .cutShort)
        for await _ in progress.updates {}
        #expect(progress.current.isOver && progress.current.fractionCompleted ?? 0 < 1)
        #expect(progress.current.parts == BatchProgress(finished: 1, failed: 1, total: 1, isOver: true))
    }

    @Test func progressControlsItsRequestTask() async throws {
        let gate = StubGate()
        let stub = StubTransport()
        stub.register("*", with: .text("x").held(by: gate))
        let agent = Agent(transport: stub)
        let progress = CallProgress()
        let handle = agent.start(
            Request<String>("http://stub/"), on: .here, options: .init(tracking: progress))
        try await gate.waitForArrivals(1)
        progress.pause()
        #expect(handle.task.isPaused && progress.current.isPaused)
        handle.resume()
        #expect(!progress.current.isPaused)
        progress.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(progress.current.isCancelled)
    }

    @Test func pauseAndCancelBeforeTheStartTakeEffect() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("x"))
        let agent = Agent(transport: stub)
        let (held, cancelled) = (CallProgress(), CallProgress())
        held.pause()
        cancelled.cancel()
        let first = agent.start(Request<String>("http://stub/a"), on: .here, options: .init(tracking: held))
        let second = agent.start(Request<String>("http://stub/b"), on: .here, options: .init(tracking: cancelled))
        #expect(failureCode(of: await second.result) == .cancelled)
        #expect(first.task.isPaused && stub.requests.isEmpty)
        held.resume()
        #expect(failureCode(of: await first.result) == nil)
    }

    @Test(arguments: [Pausing.holding, .releasingConnection])
    func taskPausedBeforeItsStartIsSentAfterItsResumption(pausing: Pausing) async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("x"))
        let progress = CallProgress()
        progress.pause()
        let handle = Agent(transport: stub).start(
            Request<String>("http://stub/"), on: .here, options: .init(pausing: pausing, tracking: progress))
        #expect(handle.task.isPaused && stub.requests.isEmpty)
        progress.resume()
        #expect(try await handle.value.value == "x")
    }

    @Test func cancelledTaskCountsAsFailed() async throws {
        let gate = StubGate()
        let stub = StubTransport()
        stub.register("*", with: .text("x").held(by: gate))
        let progress = CallProgress()
        let handle = Agent(transport: stub).start(
            Request<String>("http://stub/"), on: .here, options: .init(tracking: progress))
        try await gate.waitForArrivals(1)
        handle.cancel()
        _ = await handle.result
        #expect(progress.current.parts == BatchProgress(finished: 1, failed: 1, total: 1, isOver: true))
    }

    @Test func trackedTransferOfAHugeLengthEnds() async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("HTTP/1.1 200 OK\r\nContent-Length: \(Int.max - 8)\r\n\r\nabc"))
        let agent = Agent()
        let whole = CallProgress()
        for _ in 1...3 {
            let part = whole.part()
            let reportedProgress = Collected<TransferProgress>()
            var request = Request<Bytes>(server.url("/"), method: .post, body: Body(Bytes(Array("0123456789".utf8))))
            request.limits = Limits()
            request.limits.maxBodyBytes = nil
            request.progress = { progress in
                reportedProgress.append(progress)
                part.take(progress)
            }
            let error = await #expect(throws: NetError.self) { try await agent.send(request) }
            #expect(error?.code == .cutShort)
            #expect(reportedProgress.values.contains { $0.receiveTotal == Int.max - 8 })
        }
        #expect(whole.current.download.completed == 9)
    }

    // MARK: Several calls

    @Test func childrenCountByTheirWeight() {
        let whole = CallProgress(time: time.source)
        let (large, small) = (whole.part(weight: 3), whole.part())
        #expect(whole.current.fractionCompleted == 0)
        large.take(moved(0, 0, 50, 100))
        #expect(whole.current.fractionCompleted == 0.375)
        small.take(moved(10, 40, 0, 60))
        #expect(whole.current.fractionCompleted == 0.4)
        #expect(whole.current.upload.completed == 10 && whole.current.upload.total == 40)
        #expect(whole.current.download.completed == 50 && whole.current.download.total == 160)
        small.take(.init(over: true))
        #expect(whole.current.fractionCompleted == 0.625)
        #expect(whole.current.parts == BatchProgress(finished: 1, failed: 0, total: 2))
        large.take(.init(over: true))
        #expect(whole.current.isOver && whole.current.fractionCompleted == 1)
    }

    @Test func nestedProgressIsSummed() {
        let whole = CallProgress(parts: 2)
        let branch = whole.part()
        let leaves = [branch.part(), branch.part()]
        leaves[0].take(moved(0, 0, 100, 100))
        #expect(branch.current.fractionCompleted == 0.5)
        #expect(whole.current.fractionCompleted == 0.25)
        #expect(whole.current.parts.total == 3 && whole.current.download.total == nil)
        for leaf in leaves {
            leaf.take(.init(over: true))
        }
        #expect(branch.current.isOver && !whole.current.isOver)
        #expect(whole.current.fractionCompleted == 0.5)
        whole.part().take(.init(over: true))
        #expect(whole.current.isOver)
    }

    @Test(arguments: [0, -1, .infinity, .nan] as [Double])
    func invalidWeightCountsAsOne(weight: Double) {
        let whole = CallProgress()
        whole.part(weight: weight).take(.init(over: true))
        _ = whole.part()
        #expect(whole.current.fractionCompleted == 0.5)
    }

    @Test func parentPausesAndCancelsItsChildren() {
        let whole = CallProgress()
        let first = whole.part()
        whole.pause()
        let second = whole.part()
        #expect(first.current.isPaused && second.current.isPaused)
        whole.resume()
        #expect(!first.current.isPaused && !second.current.isPaused)
        whole.cancel()
        #expect(first.current.isCancelled && second.current.isCancelled && whole.part().current.isCancelled)
    }

    @Test func startedBatchHasAChildForEachRequest() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply(patternLength: 10_000))
        let whole = CallProgress()
        let updates = whole.updates
        var listed = Request<Bytes>(server.url("/3"))
        listed.tag = 7
        let batch = Batch([Request<Bytes>(server.url("/1")), Request<Bytes>(server.url("/2")), listed])
        let handle = Agent().start(batch, on: .here, options: .init(tracking: whole))
        var last: CallProgress.Snapshot?
        for await now in updates {
            #expect(now.parts.total == 3)
            #expect(now.parts.finished >= last?.parts.finished ?? 0)
            #expect(now.fractionCompleted ?? 0 >= last?.fractionCompleted ?? 0)
            last = now
        }
        _ = try await handle.value
        #expect(last?.parts == BatchProgress(finished: 3, failed: 0, total: 3, isOver: true))
        #expect(last?.download.completed == 30_000 && last?.fractionCompleted == 1)
    }

    @Test func preparedCallsOfABatchAddTheirBytes() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply(patternLength: 10_000))
        let whole = CallProgress()
        let agent = Agent()
        let calls = (1...2).map { agent.prepare(Request<Bytes>(server.url("/\($0)")), on: .here) }
        _ = try await agent.start(Batch(calls), on: .here, options: .init(tracking: whole)).value
        #expect(whole.current.download.completed == 20_000 && whole.current.parts.finished == 2)
    }

    @Test func thousandChildrenOnManyThreadsAddUp() async {
        let whole = CallProgress(parts: 1000)
        let updates = whole.updates
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let part = whole.part()
                    var progress = TransferProgress()
                    progress.sendTotal = 0
                    progress.receiveTotal = 10
                    for byte in 1...10 {
                        progress.received = byte
                        part.take(progress)
                    }
                    part.take(.init(over: true))
                }
            }
        }
        var last: CallProgress.Snapshot?
        for await now in updates {
            last = now
        }
        #expect(last?.isOver == true && last?.download.completed == 10_000)
        #expect(last?.parts == BatchProgress(finished: 1000, failed: 0, total: 1000, isOver: true))
    }

    @Test func progressIsReleasedWhileAReaderWaits() async {
        var progress: CallProgress? = CallProgress()
        let updates = progress?.updates
        progress = nil
        var count = 0
        for await _ in updates ?? AsyncStream(unfolding: { nil }) {
            count += 1
        }
        #expect(count == 1)
    }
}

extension TransferProgress {
    fileprivate init(over isOver: Bool) {
        self.init()
        self.isOver = isOver
    }
}

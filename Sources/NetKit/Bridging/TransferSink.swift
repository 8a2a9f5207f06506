internal import CNetCore
internal import Synchronization

/// The end of one transfer: turns the core's done event into the resumption of one waiting task.
///
/// The engine holds a reference from submit until on_done. Cancellation may come before, during and after submit, from
/// any thread. One atomic word has the phase; a thread that changes it learns the previous phase and acts on it.
@safe final class TransferSink: TransferListener {
    static let mayPause = false
    typealias Outcome = Result<PooledResponse, NetError>

    /// The values of the word; any other number is the id of the transfer in flight, and ids are far larger.
    private enum Phase {
        static let idle: UInt64 = 0
        static let starting: UInt64 = 1
        static let cancelledEarly: UInt64 = 2  // before the start, or before the id was known
        static let ended: UInt64 = 3
    }

    private let phase = Atomic(Phase.idle)
    private let client: LoopClient
    // SAFETY: the waiter, where it began, the feed, the tap, the expectation and the progress handler are written
    // before the request is submitted and read in on_done, which submit precedes. The outcome is written before the
    // phase becomes ended (releasing) and read after that is seen (acquiring).
    private nonisolated(unsafe) var waiter: Waiter?
    private nonisolated(unsafe) var startedOnLoop = false
    private nonisolated(unsafe) var progress: (@Sendable (TransferProgress) -> Void)?
    private nonisolated(unsafe) var ownFeed: BodyFeed?
    private nonisolated(unsafe) var tap: TransferTap?
    private nonisolated(unsafe) var expected: KeptExpectation?
    private nonisolated(unsafe) var outcome: Outcome?

    init(client: LoopClient) {
        self.client = client
    }

    /// Submits the request and waits for its end.
    func outcome(of request: Request<Bytes>, on engine: Engine) async -> Outcome {
        await Waiter.wait { start(request, on: engine, for: $0) }
        guard phase.load(ordering: .acquiring) == Phase.ended, let outcome = unsafe outcome else {
            return .failure(NetError(.internal, "a transfer was resumed before its end"))
        }
        return outcome
    }

    private func start(_ request: Request<Bytes>, on engine: Engine, for waiter: Waiter) {
        unsafe self.waiter = waiter
        unsafe startedOnLoop = engine.isOnLoop
        unsafe progress = request.progress
        unsafe ownFeed = BodyFeed.feed(for: request.body, engine: engine)
        unsafe tap = request.tap
        unsafe expected = request.expectation.map(KeptExpectation.init)
        let (mayStart, _) = phase.compareExchange(
            expected: Phase.idle, desired: Phase.starting, ordering: .acquiringAndReleasing)
        guard mayStart else {
            end(with: .failure(NetError(.cancelled, "the task was cancelled before it was sent")))?.resume()
            return
        }
        do throws(NetError) {
            let id = try engine.submit(request, to: self)
            let (_, found) = phase.compareExchange(
                expected: Phase.starting, desired: id, ordering: .acquiringAndReleasing)
            if found == Phase.cancelledEarly {
                engine.cancel(id)
            }
            request.ticket?.began(id, engine.grip)
            unsafe tap?.began(id)
        } catch {
            end(with: .failure(error))?.resume()
        }
    }

    /// Returns the id to cancel now, if there is one.
    func cancel() -> UInt64? {
        var found = phase.load(ordering: .acquiring)
        while found == Phase.idle || found == Phase.starting {
            let (exchanged, now) = phase.compareExchange(
                expected: found, desired: Phase.cancelledEarly, ordering: .acquiringAndReleasing)
            if exchanged {
                return nil
            }
            found = now
        }
        return found == Phase.cancelledEarly || found == Phase.ended ? nil : found
    }

    /// Keeps the outcome and returns the waiter. Called once: by on_done, or after a failed submission.
    private func end(with outcome: Outcome) -> Waiter? {
        unsafe self.outcome = outcome
        let waiter = unsafe self.waiter
        phase.store(Phase.ended, ordering: .releasing)
        return waiter
    }

    /// Resumes the task after the round, together with the others that ended in it; on the event loop thread.
    fileprivate func finish(_ outcome: Outcome) {
        if let waiter = end(with: outcome) {
            unsafe client.resumeAfterRound(waiter, onLoop: startedOnLoop)
        }
    }

    var feed: BodyFeed? { unsafe ownFeed }

    fileprivate func report(_ progress: TransferProgress) {
        unsafe self.progress?(progress)
    }

    fileprivate func kept(_ response: OpaquePointer) -> PooledResponse {
        unsafe PooledResponse(retaining: response, expected: expected)
    }

    fileprivate func headArrived(_ response: OpaquePointer, isLast: Bool) {
        unsafe tap?.headArrived(ResponseHead(copying: response), isLast)
    }

    func cValue(keptAs kept: Unmanaged<TransferSink>) -> nc_sink {
        unsafe nc_sink(
            ctx: kept.toOpaque(), on_head: tap == nil ? nil : transferHead, on_body: nil, on_done: transferDone,
            on_progress: progress == nil ? nil : transferProgress)
    }
}

private func transferHead(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ isLast: Bool
) -> nc_verdict {
    guard let context = unsafe context else { return .NC_CONTINUE }
    unsafe Unmanaged<TransferSink>.fromOpaque(context).takeUnretainedValue().headArrived(response, isLast: isLast)
    return .NC_CONTINUE
}

private func transferDone(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<TransferSink>.fromOpaque(context).takeRetainedValue()
    let received = unsafe sink.kept(response)
    let thrown = sink.feed?.end()
    let isOK = unsafe error.pointee.status == .NC_OK
    sink.finish(
        isOK
            ? .success(received)
            : .failure(unsafe NetError(error.pointee, received: received, underlying: thrown)))
}

private func transferProgress(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ progress: UnsafePointer<nc_progress>
) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TransferSink>.fromOpaque(context).takeUnretainedValue().report(
        TransferProgress(progress.pointee))
}

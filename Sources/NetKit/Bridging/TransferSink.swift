internal import CNetCore
internal import Synchronization

/// Receives the end of one transfer from the core, and resumes the task that waits for it.
///
/// The engine references this object from the submission until on_done. The task may be cancelled before, during and
/// after the submission, by any thread. Therefore the phase is one atomic word. A thread that changes the phase also
/// gets the previous phase, which determines what that thread must do.
@safe final class TransferSink: TransferListener {
    let mayPause = false
    typealias Outcome = Result<PooledResponse, NetError>

    /// The values of the atomic word. Any other value is the id of the transfer in flight; ids are always larger than
    /// these values.
    private enum Phase {
        static let idle: UInt64 = 0
        static let starting: UInt64 = 1
        static let cancelledEarly: UInt64 = 2  // before the start, or before the id was known
        static let ended: UInt64 = 3
    }

    private let phase = Atomic(Phase.idle)
    private let client: LoopClient
    // SAFETY: all of these except the outcome are written before the request is submitted. The engine's callbacks,
    // which run after that, only read them. The outcome is written before the phase is set to `ended` (releasing), and
    // read after the phase was loaded as `ended` (acquiring).
    private nonisolated(unsafe) var waiter: Waiter?
    private nonisolated(unsafe) var startedOnLoop = false
    private nonisolated(unsafe) var progress: (@Sendable (TransferProgress) -> Void)?
    private nonisolated(unsafe) var bodyFeed: BodyFeed?
    private nonisolated(unsafe) var transferObserver: TransferObserver?
    private nonisolated(unsafe) var expected: ExpectationStorage?
    private nonisolated(unsafe) var outcome: Outcome?

    init(client: LoopClient) {
        self.client = client
    }

    /// Submits the request and waits for the end of the transfer.
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
        unsafe bodyFeed = BodyFeed.feed(for: request, engine: engine)
        unsafe transferObserver = request.transferObserver
        unsafe expected = request.expectation.map(ExpectationStorage.init)
        let (mayStart, _) = phase.compareExchange(
            expected: Phase.idle, desired: Phase.starting, ordering: .acquiringAndReleasing)
        guard mayStart else {
            end(with: .failure(NetError(.cancelled, "cancelled before the request was sent")))?.resume()
            return
        }
        do throws(NetError) {
            let id = try engine.submit(request, to: self)
            let (_, found) = phase.compareExchange(
                expected: Phase.starting, desired: id, ordering: .acquiringAndReleasing)
            if found == Phase.cancelledEarly {
                engine.cancel(id)
            }
            request.transferHandle?.began(id, engine.operations)
            unsafe transferObserver?.began(id)
        } catch {
            end(with: .failure(error))?.resume()
        }
    }

    /// Records the cancellation. Returns the id of the transfer if it is in flight, so that the caller cancels it.
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

    /// Stores the outcome and returns the waiter. It is called once, by on_done or after a failed submission.
    private func end(with outcome: Outcome) -> Waiter? {
        unsafe self.outcome = outcome
        let waiter = unsafe self.waiter
        phase.store(Phase.ended, ordering: .releasing)
        return waiter
    }

    /// Stores the outcome. The waiting task is resumed at the end of the event loop's current round, together with all
    /// other tasks whose transfers ended in that round. Called on the event loop thread.
    fileprivate func finish(_ outcome: Outcome) {
        if let waiter = end(with: outcome) {
            unsafe client.resumeAfterRound(waiter, onLoop: startedOnLoop)
        }
    }

    var feed: BodyFeed? { unsafe bodyFeed }

    fileprivate func report(_ progress: TransferProgress) {
        unsafe self.progress?(progress)
    }

    fileprivate func retained(_ response: OpaquePointer) -> PooledResponse {
        unsafe PooledResponse(retaining: response, expected: expected)
    }

    fileprivate func headArrived(_ response: OpaquePointer, isLast: Bool) {
        unsafe transferObserver?.headArrived(ResponseHead(copying: response), isLast)
    }

    func cValue(retainedAs retained: Unmanaged<TransferSink>) -> nc_sink {
        unsafe nc_sink(
            ctx: retained.toOpaque(), on_head: transferObserver == nil ? nil : transferHead, on_body: nil,
            on_done: transferDone,
            on_progress: progress == nil ? nil : transferProgress)
    }
}

private func transferHead(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ isLast: Bool
) -> nc_action {
    guard let context = unsafe context else { return .NC_ACTION_CONTINUE }
    unsafe Unmanaged<TransferSink>.fromOpaque(context).takeUnretainedValue().headArrived(response, isLast: isLast)
    return .NC_ACTION_CONTINUE
}

private func transferDone(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<TransferSink>.fromOpaque(context).takeRetainedValue()
    let received = unsafe sink.retained(response)
    let sourceError = sink.feed?.end()
    let isOK = unsafe error.pointee.status == .NC_OK
    sink.finish(
        isOK
            ? .success(received)
            : .failure(unsafe NetError(error.pointee, received: received, underlying: sourceError)))
}

private func transferProgress(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ progress: UnsafePointer<nc_progress>
) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TransferSink>.fromOpaque(context).takeUnretainedValue().report(
        TransferProgress(progress.pointee))
}

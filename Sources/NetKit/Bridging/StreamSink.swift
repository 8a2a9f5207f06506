internal import CNetCore

/// The buffer of one streamed transfer. The event loop thread fills blocks, and a task takes all available bytes. Each
/// waits for the other only when the buffer is empty or full.
///
/// The engine holds a reference from submit until on_done; the open stream holds another.
@safe final class StreamSink: TransferListener {
    static let mayPause = true
    let feed: BodyFeed?
    private let state: Lock<StreamState>
    private let client: LoopClient
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let tap: TransferTap?

    init(_ request: Request<Bytes>, engine: Engine, client: LoopClient, blocks: BlockPool) {
        feed = BodyFeed.feed(for: request.body, engine: engine)
        state = Lock(StreamState(engine: engine, blocks: blocks, maxBytes: max(1, request.streamBufferBytes)))
        progress = request.progress
        tap = request.tap
        self.client = client
    }

    /// Submits the request and waits for the final head, or for the end.
    func open(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        await cancelling({ cancel() }) { await Waiter.wait { start(request, for: $0) } }
        let (head, outcome) = state.withLock { ($0.head, $0.outcome) }
        if let head {
            return ResponseStream(head.last, after: head.earlier, hops: head.hops, source: self)
        }
        if case .failure(let error) = outcome {
            throw error
        }
        throw NetError(.internal, "a stream was opened without a head")
    }

    private func start(_ request: Request<Bytes>, for waiter: Waiter) {
        guard let engine = state.withLock({ $0.begin(waiter) }) else {
            fail(NetError(.cancelled, "the task was cancelled before it was sent"))
            return
        }
        do throws(NetError) {
            let id = try engine.submit(request, to: self)
            if state.withLock({ $0.isSubmitted(as: id) }) {
                engine.cancel(id)
            }
            request.ticket?.began(id, engine.grip)
            tap?.began(id)
        } catch {
            fail(error)
        }
    }

    /// Ends it without a submission.
    private func fail(_ error: NetError) {
        _ = feed?.end()
        state.withLock { $0.end(.failure(error)) }.parked?.waiter.resume()
    }

    private func cancel() {
        if let (engine, id) = state.withLock({ $0.cancel() }) {
            engine.cancel(id)
        }
    }
}

extension StreamSink: ChunkSource {
    func next() async throws(NetError) -> Bytes? {
        while true {
            if Task.isCancelled {
                cancel()
                throw NetError(.cancelled, "the task was cancelled")
            }
            switch state.withLock({ $0.take() }) {
            case .bytes(let bytes, let paused):
                if let (engine, id) = paused {
                    engine.resume(id, from: .NC_REST_VERDICT)
                }
                return bytes
            case .ended(.success):
                return nil
            case .ended(.failure(let error)):
                throw error
            case .nothing:
                await cancelling({ cancel() }) { await Waiter.wait { wait($0) } }
            }
        }
    }

    private func wait(_ waiter: Waiter) {
        if !state.withLock({ $0.wait(waiter) }) {
            waiter.resume()
        }
    }

    func abandon(isSuperseded: Bool) {
        if let (engine, id) = state.withLock({ $0.abandon(isSuperseded: isSuperseded) }) {
            engine.cancel(id)
        }
    }

    func beginReading() -> Bool {
        state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
    }

    var ending: Response<Bytes>? {
        guard case .success(let received) = state.withLock({ $0.outcome }) else { return nil }
        return Response(received: received)
    }
}

// On the event loop thread.
extension StreamSink {
    fileprivate func headArrived(_ response: OpaquePointer, isLast: Bool) -> nc_verdict {
        guard isLast else {
            let head = unsafe ResponseHead(copying: response)
            tap?.headArrived(head, false)
            state.withLock { $0.earlierHeads.append(head) }
            return .NC_CONTINUE
        }
        let head = unsafe StreamHead(copying: response, after: state.withLock { $0.earlierHeads })
        tap?.headArrived(head.last, true)
        return react(to: state.withLock { $0.headArrived(head) })
    }

    fileprivate func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> nc_verdict {
        react(to: state.withLock { unsafe $0.bodyArrived(bytes) })
    }

    /// The reader is resumed after the round: more may arrive in it, and a wake-up costs more than a piece.
    private func react(to event: StreamState.Reaction) -> nc_verdict {
        if let engine = event.engineToWake {
            client.flushAfterRound(self)
            _ = engine.wake()
        }
        return event.verdict
    }

    /// Returns the waiting task, from the loop's drain.
    func takeWaiter() -> StreamState.Parked? {
        state.withLock { $0.takeWaiter() }
    }

    fileprivate func finish(_ received: PooledResponse, _ error: nc_error) {
        let thrown = feed?.end()
        let isOK = error.status == .NC_OK
        let (parked, _) = state.withLock { state in
            state.end(isOK ? .success(received) : .failure(NetError(error, received: received, underlying: thrown)))
        }
        if let parked {
            client.resumeAfterRound(parked.waiter, onLoop: parked.isOnLoop)
        }
        if let progress, !state.withLock({ $0.isSuperseded || $0.head == nil }) {
            var last = TransferProgress()
            last.isOver = true
            progress(last)
        }
    }

    fileprivate func report(_ progress: TransferProgress) {
        self.progress?(progress)
    }

    func cValue(keptAs kept: Unmanaged<StreamSink>) -> nc_sink {
        unsafe nc_sink(
            ctx: kept.toOpaque(), on_head: streamHead, on_body: streamBody, on_done: streamDone,
            on_progress: progress == nil ? nil : streamProgress)
    }
}

private func streamHead(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ isLast: Bool
) -> nc_verdict {
    guard let context = unsafe context else { return .NC_CONTINUE }
    return unsafe Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().headArrived(
        response, isLast: isLast)
}

private func streamBody(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: nc_slice) -> nc_verdict {
    guard let context = unsafe context else { return .NC_CONTINUE }
    return unsafe Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().bodyArrived(
        UnsafeRawBufferPointer(start: bytes.data, count: bytes.length))
}

private func streamDone(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamSink>.fromOpaque(context).takeRetainedValue().finish(
        PooledResponse(retaining: response), error.pointee)
}

private func streamProgress(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ progress: UnsafePointer<nc_progress>
) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().report(TransferProgress(progress.pointee))
}

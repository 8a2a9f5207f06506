internal import CNetCore

/// The buffer of one streamed transfer. The event loop thread copies arriving bytes into blocks, and the reading task
/// takes all available bytes. The reader waits only while the buffer is empty, and the transfer pauses only while it is
/// full.
///
/// The engine references this object from the submission until on_done. The open stream also references it.
@safe final class StreamSink: TransferListener {
    let mayPause: Bool
    let feed: BodyFeed?
    private let state: Lock<StreamState>
    private let client: LoopClient
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let transferObserver: TransferObserver?

    init(_ request: Request<Bytes>, engine: Engine, client: LoopClient, blocks: BlockPool) {
        feed = BodyFeed.feed(for: request, engine: engine)
        mayPause = !request.isReadImmediately
        state = Lock(StreamState(engine: engine, blocks: blocks, maxBytes: max(1, request.streamBufferBytes)))
        progress = request.progress
        transferObserver = request.transferObserver
        self.client = client
    }

    /// Submits the request, and waits until the final head has arrived or the transfer has failed.
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
            fail(NetError(.cancelled, "cancelled before the request was sent"))
            return
        }
        do throws(NetError) {
            let id = try engine.submit(request, to: self)
            if state.withLock({ $0.isSubmitted(as: id) }) {
                engine.cancel(id)
            }
            request.transferHandle?.began(id, engine.operations)
            transferObserver?.began(id)
        } catch {
            fail(error)
        }
    }

    /// Ends a transfer that could not be submitted.
    private func fail(_ error: NetError) {
        _ = feed?.end()
        state.withLock { $0.end(.failure(error)) }.reader?.waiter.resume()
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
                    engine.resume(id, from: .NC_PAUSE_CALLBACK)
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

// These functions are called on the event loop thread.
extension StreamSink {
    fileprivate func headArrived(_ response: OpaquePointer, isLast: Bool) -> nc_action {
        guard isLast else {
            let head = unsafe ResponseHead(copying: response)
            transferObserver?.headArrived(head, false)
            state.withLock { $0.earlierHeads.append(head) }
            return .NC_ACTION_CONTINUE
        }
        let head = unsafe StreamHead(copying: response, after: state.withLock { $0.earlierHeads })
        transferObserver?.headArrived(head.last, true)
        return react(to: state.withLock { $0.headArrived(head) })
    }

    fileprivate func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> nc_action {
        react(to: state.withLock { unsafe $0.bodyArrived(bytes) })
    }

    /// Returns the action for the core, and schedules the resumption of the reader. The reader is resumed after the
    /// loop's current round, because more bytes may arrive in it, and a wake-up is more expensive than copying some
    /// bytes.
    private func react(to event: StreamState.LoopAction) -> nc_action {
        if let engine = event.engineToWake {
            client.flushAfterRound(self)
            _ = engine.wake()
        }
        return event.action
    }

    /// Removes and returns the waiting reader. Called at the end of the loop's round.
    func takeWaiter() -> StreamState.WaitingReader? {
        state.withLock { $0.takeWaiter() }
    }

    fileprivate func finish(_ received: PooledResponse, _ error: nc_error) {
        let sourceError = feed?.end()
        let isOK = error.status == .NC_OK
        let (reader, _) = state.withLock { state in
            state.end(
                isOK ? .success(received) : .failure(NetError(error, received: received, underlying: sourceError)))
        }
        if let reader {
            client.resumeAfterRound(reader.waiter, onLoop: reader.isOnLoop)
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

    func cValue(retainedAs retained: Unmanaged<StreamSink>) -> nc_sink {
        unsafe nc_sink(
            ctx: retained.toOpaque(), on_head: streamHead, on_body: streamBody, on_done: streamDone,
            on_progress: progress == nil ? nil : streamProgress)
    }
}

private func streamHead(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ isLast: Bool
) -> nc_action {
    guard let context = unsafe context else { return .NC_ACTION_CONTINUE }
    return unsafe Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().headArrived(
        response, isLast: isLast)
}

private func streamBody(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: nc_slice) -> nc_action {
    guard let context = unsafe context else { return .NC_ACTION_CONTINUE }
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

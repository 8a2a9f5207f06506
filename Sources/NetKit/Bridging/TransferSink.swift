internal import CNetCore

/// Where one transfer ends: turns the core's one done event into the resumption of one waiting task.
///
/// The engine holds a reference from submit until on_done. Cancelling may come before, during and after submit, from
/// any thread; each change of state returns what is to be done, and it is done outside the lock.
final class TransferSink: Sendable {
    typealias Outcome = Result<Response<Bytes>, NetError>

    private enum State {
        case idle
        case cancelledBeforeStart
        case waiting(Waiter, id: UInt64?, wantsCancel: Bool)
        case ended(Outcome)
    }

    private let state = Lock(State.idle)
    private let client: LoopClient

    init(client: LoopClient) {
        self.client = client
    }

    /// Submits the request and waits for its end, whatever comes.
    func outcome(of request: Request<Bytes>, on engine: Engine) async -> Outcome {
        await Waiter.wait { start(request, on: engine, for: $0) }
        return state.withLock { state in
            guard case .ended(let outcome) = state else {
                return .failure(NetError(.internal, "a transfer was resumed before its end"))
            }
            return outcome
        }
    }

    private func start(_ request: Request<Bytes>, on engine: Engine, for waiter: Waiter) {
        let mayStart = state.withLock { state in
            if case .cancelledBeforeStart = state {
                state = .ended(.failure(NetError(.cancelled, "the task was cancelled before it was sent")))
                return false
            }
            state = .waiting(waiter, id: nil, wantsCancel: false)
            return true
        }
        guard mayStart else {
            waiter.resume()
            return
        }
        do throws(NetError) {
            let id = try engine.submit(request, to: self)
            if submitted(as: id) {
                engine.cancel(id)
            }
        } catch {
            end(with: .failure(error))?.resume()
        }
    }

    /// Notes the id; true when a cancel came while it was not known.
    private func submitted(as id: UInt64) -> Bool {
        state.withLock { state in
            guard case .waiting(let waiter, _, let wantsCancel) = state else { return false }
            state = .waiting(waiter, id: id, wantsCancel: false)
            return wantsCancel
        }
    }

    /// The id to cancel now, if there is one.
    func cancel() -> UInt64? {
        state.withLock { state in
            switch state {
            case .idle:
                state = .cancelledBeforeStart
                return nil
            case .waiting(let waiter, let id, _):
                state = .waiting(waiter, id: id, wantsCancel: id == nil)
                return id
            case .cancelledBeforeStart, .ended:
                return nil
            }
        }
    }

    /// Keeps the outcome and gives out the one that waits for it, once.
    private func end(with outcome: Outcome) -> Waiter? {
        state.withLock { state in
            guard case .waiting(let waiter, _, _) = state else { return nil }
            state = .ended(outcome)
            return waiter
        }
    }

    /// On the loop thread: the task goes on when the round is over, together with the others that ended in it.
    fileprivate func finish(_ outcome: Outcome) {
        if let waiter = end(with: outcome) {
            client.resumeAfterRound(waiter)
        }
    }

    /// The sink as C sees it; `kept` is the reference that on_done gives back.
    func cValue(keptAs kept: Unmanaged<TransferSink>) -> nc_sink {
        unsafe nc_sink(ctx: kept.toOpaque(), on_head: nil, on_body: nil, on_done: transferDone)
    }
}

private func transferDone(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer, _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<TransferSink>.fromOpaque(context).takeRetainedValue()
    let received = unsafe Response<Bytes>(received: PooledResponse(retaining: response))
    let isOK = unsafe error.pointee.status == .NC_OK
    if isOK {
        sink.finish(.success(received))
    } else {
        let partial = received.status == 0 ? nil : received
        sink.finish(.failure(unsafe NetError(error.pointee, response: partial, metrics: received.metrics)))
    }
}

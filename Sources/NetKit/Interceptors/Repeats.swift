/// What becomes of a request while the same one is under way.
public enum RepeatPolicy: Sendable, Hashable {
    /// Both go.
    case allow
    /// The one under way is cancelled, and the new one goes.
    case cancelPrevious
    /// The new one gets the answer to the one under way. Each caller gives up alone; the transfer ends with the last.
    ///
    /// As the policy of ``Repeats`` it holds for the safe methods alone (RFC 9110, 9.2.1): GET, HEAD, OPTIONS, TRACE and
    /// QUERY.
    /// Three equal POSTs are three orders. A request that sets it itself is joined whatever its method.
    case join
    /// The new one is not sent, and fails with ``NetError/Code/ignored``.
    case ignore
}

private enum RepeatPolicyNote: RequestNote {
    static let standard = RepeatPolicy?.none
}

private enum RepeatKeyNote: RequestNote {
    static let standard = String?.none
}

extension Request {
    /// What becomes of it while the same one is under way; nil takes the policy of ``Repeats``.
    public var repeatPolicy: RepeatPolicy? {
        get { self[RepeatPolicyNote.self] }
        set { self[RepeatPolicyNote.self] = newValue }
    }

    /// Which requests are the same one; nil: to join, those that ask the same in every respect, but for parameters that
    /// ``Request/cacheKeyParameters`` leaves out, and for notes of the app's own. Else those that the same
    /// type describes, or without one those with the same method and URL, the query left out: other parameters make no
    /// other request, so that a changed filter cancels the list that is on its way.
    ///
    /// What a ``CredentialRefresh`` sends is never the same one as what waits for it.
    public var repeatKey: String? {
        get { self[RepeatKeyNote.self] }
        set { self[RepeatKeyNote.self] = newValue }
    }
}

/// Joins, cancels or ignores requests that repeat one under way.
///
///     configuration.interceptors = [Repeats(.join)]
///
/// Put it first, so that what is behind it is done once. To be joined, requests are of one agent and one service, show the
/// same credentials, those of a ``CredentialRefresh`` behind it included, and want the same of the cache and of the answer;
/// those with transfer hooks of their own are not joined, nor are those with interceptors of their own that are no
/// classes. Of starts the one started later is the new one, however they overtake each other on their way here. Streams
/// and saves are never joined, nor are forms of parts and bodies that are read while they are sent; a stream is under way
/// until its head has come. Thread-safe.
public final class Repeats: Interceptor {
    private struct Flight: Sendable {
        let callID: UInt64
        let promise: Promise<Answer>
        var task: Task<Void, Never>?
        var waiters = 1
    }

    private let flights = Lock<[Key: Flight]>([:])
    let policy: RepeatPolicy

    /// - Parameter policy: for requests that say nothing.
    public init(_ policy: RepeatPolicy = .allow) {
        self.policy = policy
    }

    /// Calls that wait for an answer, those that joined others included; calls that are simply let through are not.
    public var waitingCount: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.waiters } } }

    /// Answers as the policy says.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let policy = call.request.repeatPolicy ?? policy(of: call.request.method)
        guard policy != .allow, let key = Key(call, policy, next) else {
            call.request.ticket?.enter()
            return try await next(call)
        }
        // Nobody would wait for what it begins, and it would cancel what somebody waits for.
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before its repeats were looked for")
        }
        let flight = try entered(call, key, policy, next)
        do throws(NetError) {
            return try await flight.value()
        } catch {
            if Task.isCancelled {
                leave(flight, key)
            }
            throw error
        }
    }

    /// For a request that says nothing: what changes something is sent as often as it is asked for.
    private func policy(of method: Method) -> RepeatPolicy {
        policy == .join && !method.isSafe ? .allow : policy
    }

    // MARK: Flights

    private func entered(
        _ call: Call, _ key: Key, _ policy: RepeatPolicy, _ next: Next
    ) throws(NetError) -> Promise<Answer> {
        defer { call.request.ticket?.enter() }
        return try enter(call, key, policy, next)
    }

    /// Joins a flight or begins one.
    private func enter(
        _ call: Call, _ key: Key, _ policy: RepeatPolicy, _ next: Next
    ) throws(NetError) -> Promise<Answer> {
        let promise = Promise<Answer>()
        let previous = flights.withLock { flights -> Flight? in
            let previous = flights[key]
            switch policy {
            case .join where previous != nil: flights[key]?.waiters += 1
            case .ignore where previous != nil: break
            case .cancelPrevious where (previous?.callID ?? 0) > call.id: break
            default: flights[key] = Flight(callID: call.id, promise: promise)
            }
            return previous
        }
        if let previous {
            switch policy {
            case .join:
                return previous.promise
            case .ignore:
                throw NetError(
                    .ignored, "the same request is under way as number \(previous.callID)",
                    nativeCode: Int(clamping: previous.callID))
            default:
                if previous.callID > call.id {
                    throw NetError(.cancelled, "a newer request took its place")
                }
                previous.task?.cancel()
                previous.promise.fulfil(.failure(NetError(.cancelled, "a newer request took its place")))
            }
        }
        begin(call, key, promise, next)
        return promise
    }

    /// A task of its own, so that it can end without its callers and they without it.
    private func begin(_ call: Call, _ key: Key, _ promise: Promise<Answer>, _ next: Next) {
        let task = Task {
            let outcome: Result<Answer, NetError>
            do throws(NetError) {
                outcome = .success(try await shared(try await next(call), by: promise, key, call))
            } catch {
                outcome = .failure(error)
            }
            end(promise, key)
            promise.fulfil(outcome)
        }
        let isUnderWay = flights.withLock { flights in
            guard flights[key]?.promise === promise else { return false }
            flights[key]?.task = task
            return true
        }
        // Somebody took its place in between, or it has ended.
        if !isUnderWay {
            task.cancel()
        }
    }

    /// A streamed body can be read once: where several wait for it, it is put into memory.
    private func shared(
        _ answer: Answer, by promise: Promise<Answer>, _ key: Key, _ call: Call
    ) async throws(NetError) -> Answer {
        guard case .stream(let stream) = answer.body, !endsForOne(promise, key) else { return answer }
        return Answer(try await stream.whole(upTo: call.request.limits?.maxBodyBytes))
    }

    /// Whether one alone waits for it; then nobody joins any more.
    private func endsForOne(_ promise: Promise<Answer>, _ key: Key) -> Bool {
        flights.withLock { flights in
            guard let flight = flights[key], flight.promise === promise else { return true }
            if flight.waiters > 1 {
                return false
            }
            flights[key] = nil
            return true
        }
    }

    private func end(_ promise: Promise<Answer>, _ key: Key) {
        flights.withLock { flights in
            if flights[key]?.promise === promise {
                flights[key] = nil
            }
        }
    }

    /// With the last one that waits the transfer ends.
    private func leave(_ promise: Promise<Answer>, _ key: Key) {
        let task = flights.withLock { flights -> Task<Void, Never>? in
            guard let flight = flights[key], flight.promise === promise else { return nil }
            if flight.waiters > 1 {
                flights[key]?.waiters -= 1
                return nil
            }
            flights[key] = nil
            return flight.task
        }
        task?.cancel()
    }
}

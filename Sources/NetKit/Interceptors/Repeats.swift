/// The action for a request while a duplicate of it is in flight.
public enum RepeatPolicy: Sendable, Hashable {
    /// Sends both.
    case allow
    /// Cancels the earlier one and sends the new one.
    case cancelPrevious
    /// Shares the response of the earlier one. Each caller can cancel separately; the transfer is cancelled with the
    /// last one.
    ///
    /// As the policy of ``Repeats`` it applies only to safe methods (RFC 9110, 9.2.1): GET, HEAD, OPTIONS, TRACE and
    /// QUERY. Three equal POSTs may be three orders. As a request's own policy it applies to any method.
    case join
    /// Does not send the new one, which fails with ``NetError/Code/ignored``.
    case ignore
}

private enum RepeatPolicyNote: RequestNote {
    static let standard = RepeatPolicy?.none
}

private enum RepeatKeyNote: RequestNote {
    static let standard = String?.none
}

extension Request {
    /// The action while a duplicate is in flight. If `nil`, the policy of ``Repeats`` applies.
    public var repeatPolicy: RepeatPolicy? {
        get { self[RepeatPolicyNote.self] }
        set { self[RepeatPolicyNote.self] = newValue }
    }

    /// The key that makes requests duplicates. If `nil`, the rule depends on the policy:
    /// - ``RepeatPolicy/join``: requests that are equal in every respect, except for parameters that
    ///   ``Request/cacheKeyParameters`` leaves out, and for the app's own request notes
    /// - otherwise: requests of the same endpoint type, or without one, with the same method and the same URL without
    ///   query. Parameters are ignored, so a changed filter cancels the list that is in flight.
    ///
    /// Requests that a ``CredentialRefresh`` sends are never duplicates of calls that wait for it.
    public var repeatKey: String? {
        get { self[RepeatKeyNote.self] }
        set { self[RepeatKeyNote.self] = newValue }
    }
}

/// Handles requests that duplicate one in flight: shares the response, cancels the earlier one, or ignores the new one.
///
///     configuration.interceptors = [Repeats(.join)]
///
/// Place it first, so that everything behind it runs once for all callers.
///
/// To share a response, requests must also have:
/// - the same agent and service
/// - the same credentials, including those of a ``CredentialRefresh`` behind it
/// - the same options for cache and response
/// - no transfer hooks of their own, and as their own interceptors only objects
///
/// Streams, saves, multipart forms and bodies that are read while they are sent are never shared. A stream is in flight
/// until its head has arrived. Of request tasks the one that was started later is the new one, even if it arrives here
/// first. Thread-safe.
public final class Repeats: PromptInterceptor {
    private struct Flight: Sendable {
        let callID: UInt64
        let promise: Promise<Answer>
        var task: Task<Void, Never>?
        var waiters = 1
    }

    private let flights = Lock<[Key: Flight]>([:])
    let policy: RepeatPolicy

    /// Creates the interceptor.
    ///
    /// - Parameter policy: the policy of requests that set none.
    public init(_ policy: RepeatPolicy = .allow) {
        self.policy = policy
    }

    /// The number of calls that wait for a response, including joined ones. Calls with ``RepeatPolicy/allow`` do not
    /// count.
    public var waitingCount: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.waiters } } }

    /// Handles a call by the policy.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let policy = call.request.repeatPolicy ?? policy(of: call.request.method)
        guard policy != .allow, let key = Key(call, policy, next) else {
            call.request.ticket?.enter()
            return try await next(call)
        }
        // A cancelled caller must not start a transfer or cancel another caller's.
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before its repeats were looked for")
        }
        let (flight, isJoined) = try entered(call, key, policy, next)
        do throws(NetError) {
            // The one that has begun it ends with its own time.
            return isJoined
                ? try await call.budget.value(of: flight, "the request that it joined") : try await flight.value()
        } catch {
            // One that has failed is left by all already.
            leave(flight, key)
            throw error
        }
    }

    /// Returns the policy of a request without its own: methods that are not safe are always sent.
    private func policy(of method: Method) -> RepeatPolicy {
        policy == .join && !method.isSafe ? .allow : policy
    }

    // MARK: Requests in flight

    private func entered(
        _ call: Call, _ key: Key, _ policy: RepeatPolicy, _ next: Next
    ) throws(NetError) -> (promise: Promise<Answer>, isJoined: Bool) {
        defer { call.request.ticket?.enter() }
        return try enter(call, key, policy, next)
    }

    /// Joins a call in flight or starts one.
    private func enter(
        _ call: Call, _ key: Key, _ policy: RepeatPolicy, _ next: Next
    ) throws(NetError) -> (promise: Promise<Answer>, isJoined: Bool) {
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
                return (previous.promise, true)
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
        return (promise, false)
    }

    /// Starts a separate task, so that it and its callers can end independently.
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
        // It was replaced or has ended in the meantime.
        if !isUnderWay {
            task.cancel()
        }
    }

    /// A streamed body can be read only once: for several callers it is collected in memory.
    private func shared(
        _ answer: Answer, by promise: Promise<Answer>, _ key: Key, _ call: Call
    ) async throws(NetError) -> Answer {
        guard case .stream(let stream) = answer.body, !endsForOne(promise, key) else { return answer }
        return Answer(try await stream.whole(upTo: call.request.limits?.maxBodyBytes))
    }

    /// Returns true if only one caller waits; then no other can join.
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

    /// Cancels the transfer when its last waiter leaves.
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

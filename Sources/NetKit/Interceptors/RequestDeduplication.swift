/// The action for a request while a duplicate of it is in flight.
public enum DuplicatePolicy: Sendable, Hashable {
    /// The policy of the service, or else that of ``RequestDeduplication``. For the latter, the same as ``allow``.
    case inherited
    /// Sends both requests.
    case allow
    /// Cancels the earlier request and sends the new one.
    case cancelPrevious
    /// Shares the response to the earlier request. Each caller can cancel separately. When the last caller cancels, the
    /// transfer is cancelled.
    ///
    /// As the policy of ``RequestDeduplication``, it applies only to requests with a safe method (RFC 9110, 9.2.1):
    /// GET, HEAD, OPTIONS, TRACE and QUERY. The reason is that, for example, three equal POST requests may be three
    /// orders. As a request's own policy, it applies to any method.
    case join
    /// Does not send the new request, which fails with ``NetError/Code/ignored``.
    case ignore
}

extension Request {
    /// The action for this request while a duplicate of it is in flight.
    public var duplicates: DuplicatePolicy {
        get { callSettings?.value.duplicates ?? .inherited }
        set { settings.duplicates = newValue == .inherited ? nil : newValue }
    }

    /// The policy of the request or its service; `nil` if neither has one.
    var duplicatePolicy: DuplicatePolicy? {
        let service = service?.configuration.duplicates ?? .inherited
        return [duplicates, service].first { $0 != .inherited }
    }

    /// A key of the app's choice: requests with the same key are duplicates. If `nil`, the policy determines which
    /// requests are duplicates:
    /// - With ``DuplicatePolicy/join``, requests that are equal in every respect. Parameters that
    ///   ``Request/cacheKeyParameters`` leaves out, and the app's own request notes, are not compared.
    /// - With another policy, requests of the same endpoint type. Requests without an endpoint are duplicates if they
    ///   have the same method and the same URL without its query. Parameters are not compared: for example, a request
    ///   with a changed filter cancels the request for the previous list.
    ///
    /// If requests with a key are to share a response (``DuplicatePolicy/join``), they must also belong to the same
    /// user. They must have the same agent, service, credentials, trust policy, and values of fields with secret names.
    ///
    /// Requests that a ``CredentialRefresh`` sends are never duplicates of calls that wait for it.
    public var duplicateKey: String? {
        get { callSettings?.value.duplicateKey }
        set { settings.duplicateKey = newValue }
    }
}

/// Handles a request while a duplicate of it is in flight: shares the response, cancels the earlier request, or ignores
/// the new one.
///
///     configuration.interceptors = [RequestDeduplication(.join)]
///
/// ``Request/duplicateKey`` describes which requests are duplicates. Place this interceptor first, so that all others
/// run once for all callers that share a response.
///
/// Without a key, requests share a response only if they also have:
/// - the same agent and service
/// - the same credentials, including those that a ``CredentialRefresh`` behind this interceptor adds
/// - the same options for cache and response
/// - no transfer hooks of their own, and no interceptors of their own that are value types, because those cannot be
///   compared
///
/// Responses are never shared for streams, saves, multipart forms and bodies that are read while they are sent. A
/// stream counts as in flight until its head has arrived. Of two request tasks, the one that was started later is the
/// new one, even if it reaches this interceptor first. Thread-safe.
public final class RequestDeduplication: PromptInterceptor {
    private struct Flight: Sendable {
        let callID: UInt64
        let promise: Promise<ChainResponse>
        var task: Task<Void, Never>?
        var waiters = 1
    }

    private let inFlight = Lock<[Key: Flight]>([:])
    let policy: DuplicatePolicy

    /// Creates the interceptor.
    ///
    /// - Parameter policy: the policy of requests that set none.
    public init(_ policy: DuplicatePolicy = .allow) {
        self.policy = policy == .inherited ? .allow : policy
    }

    /// The number of calls that wait for a response, including those that share one. Calls with
    /// ``DuplicatePolicy/allow`` do not count.
    package var waitingCount: Int { inFlight.withLock { $0.values.reduce(0) { $0 + $1.waiters } } }

    /// Handles a call as its policy requires.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let policy = policy(of: call.request)
        guard policy != .allow, let key = Key(call, policy, next) else {
            call.request.transferHandle?.enter()
            return try await next(call)
        }
        // A cancelled caller must not start a transfer or cancel another caller's.
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled")
        }
        let (flight, isJoined) = try entered(call, key, policy, next)
        do throws(NetError) {
            // The first caller needs no time limit here, because its call in the separate task has the same one.
            return isJoined
                ? try await call.budget.value(of: flight, "waiting for the identical request in flight")
                : try await flight.value()
        } catch {
            // If the shared call itself has failed, its entry is removed already, and this does nothing.
            leave(flight, key)
            throw error
        }
    }

    /// Returns the policy of a request, of its service, or of this interceptor. Except as the request's own policy, a
    /// response is shared only for a safe method.
    private func policy(of request: Request<Bytes>) -> DuplicatePolicy {
        let isOwn = request.hasOptions && request.duplicates != .inherited
        let policy = (request.hasOptions ? request.duplicatePolicy : nil) ?? policy
        return !isOwn && policy == .join && !request.method.isSafe ? .allow : policy
    }

    // MARK: Requests in flight

    private func entered(
        _ call: Call, _ key: Key, _ policy: DuplicatePolicy, _ next: Next
    ) throws(NetError) -> (promise: Promise<ChainResponse>, isJoined: Bool) {
        defer { call.request.transferHandle?.enter() }
        return try enter(call, key, policy, next)
    }

    /// Joins the duplicate in flight, or starts a call, as the policy requires.
    private func enter(
        _ call: Call, _ key: Key, _ policy: DuplicatePolicy, _ next: Next
    ) throws(NetError) -> (promise: Promise<ChainResponse>, isJoined: Bool) {
        let promise = Promise<ChainResponse>()
        let previous = inFlight.withLock { inFlight -> Flight? in
            let previous = inFlight[key]
            switch policy {
            case .join where previous != nil: inFlight[key]?.waiters += 1
            case .ignore where previous != nil: break
            case .cancelPrevious where (previous?.callID ?? 0) > call.id: break
            default: inFlight[key] = Flight(callID: call.id, promise: promise)
            }
            return previous
        }
        if let previous {
            switch policy {
            case .join:
                return (previous.promise, true)
            case .ignore:
                throw NetError(
                    .ignored, "an identical request is already in flight: number \(previous.callID)",
                    nativeCode: Int(clamping: previous.callID))
            default:
                if previous.callID > call.id {
                    throw NetError(.cancelled, "cancelled by a newer identical request")
                }
                previous.task?.cancel()
                previous.promise.fulfil(.failure(NetError(.cancelled, "cancelled by a newer identical request")))
            }
        }
        begin(call, key, promise, next)
        return (promise, false)
    }

    /// Sends the request in a separate task, so that each caller can stop waiting without ending it.
    private func begin(_ call: Call, _ key: Key, _ promise: Promise<ChainResponse>, _ next: Next) {
        let task = Task {
            let outcome: Result<ChainResponse, NetError>
            do throws(NetError) {
                outcome = .success(try await shared(try await next(call), by: promise, key, call))
            } catch {
                outcome = .failure(error)
            }
            end(promise, key)
            promise.fulfil(outcome)
        }
        let isInFlight = inFlight.withLock { inFlight in
            guard inFlight[key]?.promise === promise else { return false }
            inFlight[key]?.task = task
            return true
        }
        // Another call has replaced this one, or all its callers have left, in the meantime.
        if !isInFlight {
            task.cancel()
        }
    }

    /// Returns a response that several callers can use. A streamed body can be read only once, so it is collected in
    /// memory if there are several callers.
    private func shared(
        _ response: ChainResponse, by promise: Promise<ChainResponse>, _ key: Key, _ call: Call
    ) async throws(NetError) -> ChainResponse {
        guard case .stream(let stream) = response.body, !closeIfUnshared(promise, key) else { return response }
        return ChainResponse(try await stream.whole(upTo: call.request.limits.maxBodyBytes))
    }

    /// Returns true if only one caller waits. Then removes the entry, so that no other caller can join.
    private func closeIfUnshared(_ promise: Promise<ChainResponse>, _ key: Key) -> Bool {
        inFlight.withLock { inFlight in
            guard let flight = inFlight[key], flight.promise === promise else { return true }
            if flight.waiters > 1 {
                return false
            }
            inFlight[key] = nil
            return true
        }
    }

    private func end(_ promise: Promise<ChainResponse>, _ key: Key) {
        inFlight.withLock { inFlight in
            if inFlight[key]?.promise === promise {
                inFlight[key] = nil
            }
        }
    }

    /// Removes a waiting caller. If it was the last one, cancels the shared call.
    private func leave(_ promise: Promise<ChainResponse>, _ key: Key) {
        let task = inFlight.withLock { inFlight -> Task<Void, Never>? in
            guard let flight = inFlight[key], flight.promise === promise else { return nil }
            if flight.waiters > 1 {
                inFlight[key]?.waiters -= 1
                return nil
            }
            inFlight[key] = nil
            return flight.task
        }
        task?.cancel()
    }
}

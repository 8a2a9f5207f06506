public import NetKit

/// Stores requests in files while their host is unreachable, and sends them in order when it is reachable again. The
/// files survive a restart.
///
///     let queue = try OfflineQueue(folder: path, reachability: reachability)
///     configuration.interceptors = [queue, Retry()]          // outermost: secrets are added after it
///     let agent = Agent(configuration)
///     Task { await agent.drain(queue) }                      // while the app runs
///
/// It stores requests that may be sent more than once: those with an idempotent method (RFC 9110, 9.2.2) or an
/// `Idempotency-Key` field. The call of a stored request fails with `NetError.Code.queued`, and `onOutcome` receives
/// the outcome later.
///
/// While the queue contains requests, further requests whose method is not safe are stored too, even if their host is
/// reachable, so that they do not overtake the stored ones.
///
/// **Secrets are not written.** Fields whose names denote secrets, such as Authorization and Cookie
/// (`Redaction.Names.usual`), and `Request.credentials` are omitted. They are added again when the request is sent:
/// by the agent, by interceptors after the queue, or by `prepare`.
///
/// A request is not stored if it has:
/// - a secret in its URL, or in a form or JSON body
/// - its own trust policy, proxy, Unix socket or address override
///
/// Thread-safe.
public final class OfflineQueue: Interceptor {
    /// The outcome of a request that has left the queue.
    public enum Outcome: Sendable {
        /// The server sent a response, with any status.
        case answered(QueuedRequest, Response<Bytes>)
        /// The request failed permanently.
        case failed(QueuedRequest, NetError)
        /// The lifetime of the request ended before it was sent.
        case expired(QueuedRequest)
    }

    private struct State: Sendable {
        var order: QueueOrder
        var isDraining = false
        var change = Promise<Void>()
    }

    private let folder: QueueFolder
    private let reachability: Reachability
    private let lifetime: Duration
    private let maxCount: Int
    private let proxy: Proxy?
    private let rules: QueueRules
    private let time: TimeSource
    private let prepare: @Sendable (inout Request<Bytes>) async throws(NetError) -> Void
    private let onOutcome: @Sendable (Outcome) -> Void
    private let state: Lock<State>

    /// Creates a queue with the requests in a directory.
    ///
    /// Throws `NetError.Code.file` in these cases:
    /// - the directory cannot be used
    /// - another queue uses it, in this process or another
    /// - another user could have written the directory or a file in it
    /// - Parameters:
    ///   - folder: the directory, which has one file for each request. It is created if it does not exist.
    ///   - reachability: reports when the network is reachable.
    ///   - lifetime: how long a request is kept (a day).
    ///   - maxCount: the largest number of stored requests (1,000). If the queue is full, a request that would be
    ///     stored fails.
    ///   - maxBodyBytes: the largest body that is stored (1 MiB). The limit does not apply to a body that is a file:
    ///     only its path is stored.
    ///   - proxy: the agent's proxy, for requests without their own.
    ///   - redaction: recognizes secrets.
    ///   - time: the source of time.
    ///   - onOutcome: called with the outcome of each stored request.
    ///   - isWanted: returns false for requests that must not be stored, such as GET.
    ///   - prepare: adds the omitted secrets to a stored request before it is sent.
    public init(
        folder: String, reachability: Reachability, lifetime: Duration = .seconds(24 * 60 * 60),
        maxCount: Int = 1_000, maxBodyBytes: Int = 1 << 20, proxy: Proxy? = nil, redaction: Redaction = Redaction(),
        time: TimeSource = .system, onOutcome: @escaping @Sendable (Outcome) -> Void = { _ in },
        isWanted: @escaping @Sendable (Request<Bytes>) -> Bool = { _ in true },
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws(NetError) {
        self.folder = try QueueFolder(folder)
        self.reachability = reachability
        self.lifetime = max(.zero, lifetime)
        self.maxCount = max(0, maxCount)
        self.proxy = proxy
        self.time = time
        self.prepare = prepare
        self.onOutcome = onOutcome
        rules = QueueRules(maxBodyBytes: max(0, maxBodyBytes), redaction: redaction, isWanted: isWanted)
        let (queued, last) = try self.folder.load()
        state = Lock(State(order: QueueOrder(kept: queued, last: last)))
    }

    /// The stored requests, in the order in which they will be sent.
    public var requests: [QueuedRequest] { state.withLock { $0.order.kept } }

    /// Removes a request from the queue. Returns false if it is not in the queue. If it is being sent, the transfer
    /// continues.
    @discardableResult
    public func remove(_ id: QueuedRequest.ID) -> Bool {
        let wasQueued = state.withLock { $0.order.remove(id) }
        folder.remove(id)
        return wasQueued
    }

    // MARK: Storing

    /// Sends the request if its host is reachable; otherwise stores it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        if call.request.isOfQueue || rules.refusal(of: call) != nil {
            return try await next(call)
        }
        if await isUnreachable(call.request) {
            if let id = try await storeIfPossible(call.request) {
                throw Self.queuedError(id, nil)
            }
        } else if wouldOvertake(call.request) {
            // If the queue is full, the call fails, because sending the request now would overtake the stored ones.
            throw Self.queuedError(try await store(call.request), nil)
        }
        do throws(NetError) {
            return try await next(call)
        } catch {
            guard await failedForLackOfRoute(error, to: call.request), let id = try await storeIfPossible(call.request)
            else {
                throw error
            }
            throw Self.queuedError(id, error)
        }
    }

    /// Returns the reason why a call cannot be stored, or `nil` if it can.
    public func refusal(of call: Call) -> String? {
        rules.refusal(of: call)
    }

    private static func queuedError(_ id: Int, _ error: NetError?) -> NetError {
        NetError(
            .queued, "stored in the offline queue as number \(id) until the network is reachable", nativeCode: id,
            underlying: error)
    }

    private func isUnreachable(_ request: Request<Bytes>) async -> Bool {
        await reachability.unreachedHost(of: request, proxy: proxy) != nil
    }

    /// Returns true if the request must wait for stored ones. A request whose method is not safe must not overtake a
    /// stored one.
    private func wouldOvertake(_ request: Request<Bytes>) -> Bool {
        !request.method.isSafe && state.withLock { !$0.order.isEmpty }
    }

    private func failedForLackOfRoute(_ error: NetError, to request: Request<Bytes>) async -> Bool {
        guard error.neverReachedTheServer else { return false }
        if error.code == .unreachable {
            return true
        }
        return await isUnreachable(request)
    }

    /// Stores the request and returns its number, or `nil` if it cannot be written. Throws only if the task was
    /// cancelled.
    private func storeIfPossible(_ request: Request<Bytes>) async throws(NetError) -> Int? {
        do throws(NetError) {
            return try await store(request)
        } catch {
            if error.code == .cancelled {
                throw error
            }
            return nil
        }
    }

    /// Stores the request and returns its number.
    private func store(_ request: Request<Bytes>) async throws(NetError) -> Int {
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await write(request)
        }
    }

    @concurrent
    private func write(_ request: Request<Bytes>) async throws(NetError) -> Int {
        // A cancelled call must not be sent, now or later.
        if Task.isCancelled {
            throw NetError(.cancelled, "cancelled before the request was stored")
        }
        guard let number = state.withLock({ [maxCount] in $0.order.begin(upTo: maxCount) }) else {
            throw NetError(.tooLarge, "the offline queue is full: it has \(maxCount) requests (maxCount)")
        }
        let record = rules.record(request, id: number, keptAt: time.epochSeconds(), lifetime: lifetime)
        // A stored request is sent only after it was written. Otherwise its file could appear after it was sent, and it
        // would be sent twice.
        do throws(NetError) {
            try folder.add(record)
        } catch {
            end(number, nil)
            throw error
        }
        end(number, record)
        return number
    }

    private func end(_ number: Int, _ record: QueuedRequest?) {
        let waiting = state.withLock { state in
            state.order.end(number, record)
            return state.change
        }
        waiting.fulfil(.success(()))
    }

    // MARK: Sending

    /// Sends the current and later requests. Returns when the Swift task is cancelled, or when the agent accepts no
    /// more requests.
    func drain(by send: (Request<Bytes>) async throws(NetError) -> Response<Bytes>) async {
        let isFirst = state.withLock { state in
            defer { state.isDraining = true }
            return !state.isDraining
        }
        guard isFirst else { return }
        defer { state.withLock { $0.isDraining = false } }
        var failures = 0
        while !Task.isCancelled {
            do throws(NetError) {
                if let queued = try await nextToSend() {
                    let isOver = try await self.send(queued, by: send)
                    failures = isOver ? 0 : failures + 1
                    if !isOver {
                        try await waitForBackoff(after: failures)
                    }
                }
            } catch {
                return  // cancelled, or the agent was invalidated
            }
        }
    }

    /// Waits until the host of the first request is reachable, and returns the request. Returns `nil` if the first
    /// request may have changed meanwhile; the caller then tries again.
    private func nextToSend() async throws(NetError) -> QueuedRequest? {
        let (first, change) = state.withLock { state in
            let next = state.order.next
            if next == nil {
                state.change = Promise()
            }
            return (next, state.change)
        }
        guard let first else {
            try await change.value()
            return nil
        }
        let left = time.left(until: first.expiresAt)
        if left <= .zero {
            remove(first.id)
            onOutcome(.expired(first))
            return nil
        }
        guard let host = await reachability.unreachedHost(of: first.request, proxy: proxy) else { return first }
        do throws(NetError) {
            // The host may be on the local network, which can become reachable without the internet.
            try await reachability.focused(on: host).wait(for: left, time: time) { $0.status != .notReachable }
        } catch  where error.code == .timeout {
            return nil
        }
        // The request may have been removed meanwhile.
        return state.withLock { $0.order.next?.id == first.id } ? first : nil
    }

    /// Sends a stored request. Returns false if it failed temporarily; then it remains the first. Throws if no other
    /// request may be sent.
    private func send(
        _ queued: QueuedRequest, by send: (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async throws(NetError) -> Bool {
        do throws(NetError) {
            var request = queued.request
            try await prepare(&request)
            request.isOfQueue = true
            // The stored request already contains the agent's fields and parameters.
            request.markParametersApplied()
            let response = try await send(request)
            if QueueRules.temporaryStatuses.contains(response.status) {
                return false
            }
            remove(queued.id)
            onOutcome(.answered(queued, response))
        } catch {
            if error.code == .closed || (error.code == .cancelled && Task.isCancelled) {
                throw error
            }
            if QueueRules.isTemporary(error) {
                return false
            }
            remove(queued.id)
            onOutcome(.failed(queued, error))
        }
        return true
    }

    /// Waits before the same request is tried again.
    private func waitForBackoff(after failures: Int) async throws(NetError) {
        do {
            try await time.sleep(QueueRules.backoff(after: failures))
            try Task.checkCancellation()
        } catch {
            throw NetError(.cancelled, "the task was cancelled while it waited", underlying: error)
        }
    }
}

private enum QueueOption: RequestOption {
    static let defaultValue = false
}

extension Request {
    /// Whether the request is sent by a queue, which stores it until it has a response. No other queue may store it.
    var isOfQueue: Bool {
        get { self[QueueOption.self] }
        set { self[QueueOption.self] = newValue }
    }
}

extension Agent {
    /// Sends the requests of a queue one after the other, in order, whenever there is a route to the server.
    ///
    /// Returns when the task is cancelled or the agent is invalidated. Returns immediately if another call of this
    /// function is sending the queue.
    ///
    /// A request stays in the queue and is sent again later after:
    /// - a temporary failure, or one of the statuses 408, 429, 502, 503 and 504
    /// - an open circuit, or a cancelled transfer
    /// - a duplicate in flight (`RequestDeduplication`)
    /// - a cellular connection that it must not use
    /// - exhausted descriptors or memory
    /// - a credential refresh that failed for one of these reasons
    ///
    /// Any other outcome removes it from the queue.
    public func drain(_ queue: OfflineQueue) async {
        await queue.drain { request throws(NetError) in
            try await self.send(request)
        }
    }
}

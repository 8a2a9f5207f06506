/// Stores requests in files while their host is unreachable, and sends them in order when it is reachable again. The
/// files survive a restart.
///
///     let queue = try OfflineQueue(folder: path, reachability: reachability)
///     configuration.interceptors = [queue, Retry()]          // outermost: secrets are added after it
///     let agent = Agent(configuration)
///     Task { await agent.drain(queue) }                      // while the app runs
///
/// It stores requests that may be sent again: idempotent methods (RFC 9110, 9.2.2) and requests with an
/// `Idempotency-Key`. Such a call fails with ``NetError/Code/queued``, and the queue's closure later receives its
/// outcome. While the queue contains requests, further requests whose method is not safe are appended, so that none
/// overtakes another.
///
/// **Secrets are not written.** Fields with names of secrets (``Redaction/Names/usual``: Authorization, Cookie, tokens)
/// and ``Request/credentials`` are omitted. The agent, interceptors behind the queue or `prepare` add them again.
///
/// A request is not stored if it has:
/// - a secret in its URL, or in a form or JSON body
/// - its own trust policy, proxy, socket or address
///
/// Thread-safe.
public final class OfflineQueue: Interceptor {
    /// The outcome of a request that has left the queue.
    public enum Outcome: Sendable {
        /// The server sent a response, with any status.
        case answered(QueuedRequest, Response<Bytes>)
        /// It failed permanently.
        case failed(QueuedRequest, NetError)
        /// Its lifetime ended before it was sent.
        case expired(QueuedRequest)
    }

    private struct State: Sendable {
        var order: QueueOrder
        var isDraining = false
        var more = Promise<Void>()
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

    /// Creates a queue with the requests in the directory, which is created if necessary.
    ///
    /// Throws ``NetError/Code/file`` in these cases:
    /// - the directory cannot be used
    /// - another queue uses it, in this process or another
    /// - another user could have written the directory or a file in it
    /// - Parameters:
    ///   - folder: the directory, with one file for each request; created if necessary.
    ///   - reachability: reports when the network is reachable.
    ///   - lifetime: how long a request is kept (a day).
    ///   - maxCount: the largest number of stored requests (1,000). Further ones fail as without a queue.
    ///   - maxBodyBytes: the largest stored body in memory (1 MiB). Files are not copied.
    ///   - proxy: the agent's proxy, for requests without their own.
    ///   - redaction: recognizes secrets.
    ///   - time: the source of time.
    ///   - isWanted: returns false for requests that must not be stored, such as GET.
    ///   - prepare: adds what was omitted, before a stored request is sent.
    ///   - onOutcome: called with the outcome of each request.
    public init(
        folder: String, reachability: Reachability, lifetime: Duration = .seconds(24 * 60 * 60),
        maxCount: Int = 1_000, maxBodyBytes: Int = 1 << 20, proxy: Proxy? = nil, redaction: Redaction = Redaction(),
        time: TimeSource = .system, isWanted: @escaping @Sendable (Request<Bytes>) -> Bool = { _ in true },
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in },
        onOutcome: @escaping @Sendable (Outcome) -> Void
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
        let (kept, last) = try self.folder.load()
        state = Lock(State(order: QueueOrder(kept: kept, last: last)))
    }

    /// Creates a queue without a handler for outcomes.
    ///
    /// The other initializer is preferred where both match. So a trailing closure is `onOutcome` and not `isWanted`.
    @_disfavoredOverload
    public convenience init(
        folder: String, reachability: Reachability, lifetime: Duration = .seconds(24 * 60 * 60),
        maxCount: Int = 1_000, maxBodyBytes: Int = 1 << 20, proxy: Proxy? = nil, redaction: Redaction = Redaction(),
        time: TimeSource = .system, isWanted: @escaping @Sendable (Request<Bytes>) -> Bool = { _ in true },
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws(NetError) {
        try self.init(
            folder: folder, reachability: reachability, lifetime: lifetime, maxCount: maxCount,
            maxBodyBytes: maxBodyBytes, proxy: proxy, redaction: redaction, time: time, isWanted: isWanted,
            prepare: prepare, onOutcome: { _ in })
    }

    /// The stored requests, in the order in which they will be sent.
    public var requests: [QueuedRequest] { state.withLock { $0.order.kept } }

    /// Removes a request. Returns false if it is not in the queue. A transfer in flight continues.
    @discardableResult
    public func remove(_ id: QueuedRequest.ID) -> Bool {
        let wasKept = state.withLock { $0.order.remove(id) }
        folder.remove(id)
        return wasKept
    }

    // MARK: Storing

    /// Sends the call if its host is reachable, or stores it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if call.request.isOfQueue || rules.refusal(of: call) != nil {
            return try await next(call)
        }
        if await hasNoWay(call.request) {
            if let id = try await keepIfPossible(call.request) {
                throw Self.told(id, nil)
            }
        } else if mustWaitItsTurn(call.request) {
            // If the queue is full the call fails: sending it now would overtake the stored requests.
            throw Self.told(try await keep(call.request), nil)
        }
        do throws(NetError) {
            return try await next(call)
        } catch {
            guard await saysNoWay(error, to: call.request), let id = try await keepIfPossible(call.request) else {
                throw error
            }
            throw Self.told(id, error)
        }
    }

    /// Returns why a call would not be stored, or `nil` if it would.
    public func refusal(of call: Call) -> String? {
        rules.refusal(of: call)
    }

    private static func told(_ id: Int, _ error: NetError?) -> NetError {
        NetError(
            .queued, "kept as number \(id), to be sent when there is a way to the network", nativeCode: id,
            underlying: error)
    }

    private func hasNoWay(_ request: Request<Bytes>) async -> Bool {
        await reachability.unreachedHost(of: request, proxy: proxy) != nil
    }

    /// A request whose method is not safe must not overtake a stored one.
    private func mustWaitItsTurn(_ request: Request<Bytes>) -> Bool {
        !request.method.isSafe && state.withLock { !$0.order.isEmpty }
    }

    private func saysNoWay(_ error: NetError, to request: Request<Bytes>) async -> Bool {
        guard error.neverReachedTheServer else { return false }
        if error.code == .unreachable {
            return true
        }
        return await hasNoWay(request)
    }

    /// As ``keep(_:)``, but returns `nil` if the request cannot be written.
    private func keepIfPossible(_ request: Request<Bytes>) async throws(NetError) -> Int? {
        do throws(NetError) {
            return try await keep(request)
        } catch {
            if error.code == .cancelled {
                throw error
            }
            return nil
        }
    }

    /// Writes the request and returns its number.
    private func keep(_ request: Request<Bytes>) async throws(NetError) -> Int {
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await write(request)
        }
    }

    @concurrent
    private func write(_ request: Request<Bytes>) async throws(NetError) -> Int {
        // A cancelled call must not be sent, now or later.
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before the request was kept")
        }
        guard let number = state.withLock({ [maxCount] in $0.order.begin(upTo: maxCount) }) else {
            throw NetError(.tooLarge, "the queue is full with \(maxCount) requests, which none may overtake")
        }
        let record = rules.record(request, id: number, keptAt: time.epochSeconds(), lifetime: lifetime)
        // A request may be sent only after it was written. Otherwise it could be written after it was sent.
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
            return state.more
        }
        waiting.fulfil(.success(()))
    }

    // MARK: Sending

    /// Sends the current and later requests until the Swift task is cancelled or nothing more may be sent.
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
                if let kept = try await nextToSend() {
                    let isOver = try await self.send(kept, by: send)
                    failures = isOver ? 0 : failures + 1
                    if !isOver {
                        try await rest(after: failures)
                    }
                }
            } catch {
                return  // cancelled, or the agent was invalidated
            }
        }
    }

    /// Returns the first request when its host is reachable, or `nil` if the first may have changed.
    private func nextToSend() async throws(NetError) -> QueuedRequest? {
        let (first, more) = state.withLock { state in
            let next = state.order.next
            if next == nil {
                state.more = Promise()
            }
            return (next, state.more)
        }
        guard let first else {
            try await more.value()
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
            // A path to the local network may appear without one to the internet.
            try await reachability.focused(on: host).wait(for: left, time: time) { $0.status != .notReachable }
        } catch  where error.code == .totalTimedOut {
            return nil
        }
        // It may have been removed meanwhile.
        return state.withLock { $0.order.next?.id == first.id } ? first : nil
    }

    /// Returns whether the request has ended; otherwise it remains the first. Throws if no other may be sent.
    private func send(
        _ kept: QueuedRequest, by send: (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async throws(NetError) -> Bool {
        do throws(NetError) {
            var request = kept.request
            try await prepare(&request)
            request.isOfQueue = true
            // The stored request already contains the agent's fields and parameters.
            request.markPlaced()
            let response = try await send(request)
            if QueueRules.passingStatuses.contains(response.status) {
                return false
            }
            remove(kept.id)
            onOutcome(.answered(kept, response))
        } catch {
            if error.code == .closed || (error.code == .cancelled && Task.isCancelled) {
                throw error
            }
            if QueueRules.mayPass(error) {
                return false
            }
            remove(kept.id)
            onOutcome(.failed(kept, error))
        }
        return true
    }

    /// Waits before the same request is tried again.
    private func rest(after failures: Int) async throws(NetError) {
        do {
            try await time.sleep(QueueRules.rest(after: failures))
            try Task.checkCancellation()
        } catch {
            throw NetError(.cancelled, "the task was cancelled while it waited", underlying: error)
        }
    }
}

private enum QueuedNote: RequestNote {
    static let standard = false
}

extension Request {
    /// Whether it comes from a queue, which keeps it until it has a response. No other queue may store it.
    var isOfQueue: Bool {
        get { self[QueuedNote.self] }
        set { self[QueuedNote.self] = newValue }
    }
}

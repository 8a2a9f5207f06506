/// Keeps requests while there is no way to their host, in files that survive a restart, and sends them in order when
/// there is one.
///
///     let queue = try OfflineQueue(folder: path, reachability: reachability)
///     configuration.interceptors = [queue, Retry()]          // the outermost: secrets are added behind it
///     let agent = Agent(configuration)
///     Task { await agent.drain(queue) }                      // as long as the app runs
///
/// Kept are sends that may be repeated: idempotent methods (RFC 9110, 9.2.2) and requests with an `Idempotency-Key`. Such a
/// call ends with ``NetError/Code/queued``; what becomes of it later is told to the queue's closure. While something
/// is kept, further requests that change something queue up behind it, so that none overtakes another.
///
/// **Secrets are not written down.** Fields whose names stand for secrets (``Redaction/Names/usual``: Authorization,
/// Cookie, tokens) and ``Request/credentials`` are left out, to be added again by the agent, by interceptors behind the
/// queue or by `prepare`; a request with a secret in its URL, or in a form or JSON body, is not kept, nor is one with
/// trust, proxy, socket or address of its own. Thread-safe.
public final class OfflineQueue: Interceptor {
    /// What became of a kept request; it is kept no more.
    public enum Outcome: Sendable {
        /// It was answered, whatever the status.
        case answered(QueuedRequest, Response<Bytes>)
        /// It failed for good.
        case failed(QueuedRequest, NetError)
        /// Its lifetime ended before it could be sent.
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

    /// A queue of what the folder holds, which is made when it is not there.
    ///
    /// Throws ``NetError/Code/file`` when the folder cannot be used, when another queue has it, in this process or another,
    /// or when another user could have written the folder or a file in it.
    /// - Parameters:
    ///   - folder: where requests are kept, a file each; made if it is not there.
    ///   - reachability: tells when there is a way.
    ///   - lifetime: how long a request is kept (a day).
    ///   - maxCount: requests kept at once (1,000); further ones fail as they would without a queue.
    ///   - maxBodyBytes: the largest body in memory that is kept (1 MiB). Files are not copied.
    ///   - proxy: that of the agent, for requests that bring none.
    ///   - redaction: tells what is a secret.
    ///   - time: tells the time.
    ///   - isWanted: may leave requests out, such as GET.
    ///   - prepare: adds what was left out, before a kept request is sent.
    ///   - onOutcome: hears what became of each.
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

    /// As the other initializer, for callers that need not hear what became of each.
    ///
    /// That one is preferred where both fit, so that a closure behind the parentheses is its `onOutcome`, and not
    /// `isWanted`.
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

    /// What is kept, in the order in which it will be sent.
    public var requests: [QueuedRequest] { state.withLock { $0.order.kept } }

    /// Gives one up; false when it is not, or no longer, kept. One that is under way goes on.
    @discardableResult
    public func remove(_ id: QueuedRequest.ID) -> Bool {
        let wasKept = state.withLock { $0.order.remove(id) }
        folder.remove(id)
        return wasKept
    }

    // MARK: Keeping

    /// Lets the call go on where there is a way, or keeps it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if call.request.isOfQueue || rules.refusal(of: call) != nil {
            return try await next(call)
        }
        if await hasNoWay(call.request) {
            if let id = try await keepIfPossible(call.request) {
                throw Self.told(id, nil)
            }
        } else if mustWaitItsTurn(call.request) {
            // Where there is no room for it, it fails: to be sent now it would have to overtake.
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

    /// Why a call would not be kept; nil when it would.
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

    /// A change may not overtake one that is kept.
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

    /// As ``keep(_:)``; nil when it cannot be written down.
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

    /// Writes it down and returns its number.
    private func keep(_ request: Request<Bytes>) async throws(NetError) -> Int {
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await write(request)
        }
    }

    @concurrent
    private func write(_ request: Request<Bytes>) async throws(NetError) -> Int {
        // Whoever cancels a call wants it not to be sent, now or later.
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before the request was kept")
        }
        guard let number = state.withLock({ [maxCount] in $0.order.begin(upTo: maxCount) }) else {
            throw NetError(.tooLarge, "the queue is full with \(maxCount) requests, which none may overtake")
        }
        let record = rules.record(request, id: number, keptAt: time.epochSeconds(), lifetime: lifetime)
        // Only what is in its file may be sent: otherwise it could be sent, and then written.
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

    /// Sends what is kept, and what will be, until the task is cancelled or nothing is sent any more.
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

    /// The first one, when there is a way; nil when what was first may be first no more.
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
            // Without a way to the internet one to the local network may come up.
            try await reachability.focused(on: host).wait(for: left, time: time) { $0.status != .notReachable }
        } catch  where error.code == .totalTimedOut {
            return nil
        }
        // It may have been given up meanwhile.
        return state.withLock { $0.order.next?.id == first.id } ? first : nil
    }

    /// Returns whether it is over; otherwise it stays the first. Throws when no other is to be sent.
    private func send(
        _ kept: QueuedRequest, by send: (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async throws(NetError) -> Bool {
        do throws(NetError) {
            var request = kept.request
            try await prepare(&request)
            request.isOfQueue = true
            // What the agent adds has been there since the request was kept.
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

    /// Waits before the same one is tried again.
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
    /// Whether it comes out of a queue, which keeps it until it is answered: no other one is to keep it.
    var isOfQueue: Bool {
        get { self[QueuedNote.self] }
        set { self[QueuedNote.self] = newValue }
    }
}

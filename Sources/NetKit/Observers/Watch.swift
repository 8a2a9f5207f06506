/// Notifies the observers of one call.
final class Watch: Sendable {
    private struct State: Sendable {
        var transfers = 0
        var isStopping = false
        var isStopped = false
        var isSuspended = false
        // The state that was reported last, and whether a thread is reporting now.
        var reportedSuspended = false
        var isReporting = false
        var withheldAdditions: WithheldAdditions = []
    }

    let id: UInt64
    private let observers: [any Observer]
    private let request: Request<Bytes>
    private let budget: TimeBudget
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let state = Lock(State())

    /// Begins to observe a call, and reports its start. Returns `nil` if there are no observers, as for most calls;
    /// then nothing is allocated.
    static func begin(
        _ request: Request<some Sendable>, _ observers: [any Observer], within budget: TimeBudget
    ) -> Watch? {
        let observers = request.hasOptions ? observers + request.observers : observers
        return observers.isEmpty ? nil : Watch(request, observers, budget)
    }

    private init(_ request: Request<some Sendable>, _ observers: [any Observer], _ budget: TimeBudget) {
        id = request.transferHandle?.take() ?? CallNumber.next()
        self.observers = observers
        self.budget = budget
        self.request = request.erased.withoutObservers
        start = clock.now
        if let transferHandle = request.transferHandle, transferHandle.id == id {
            transferHandle.follow { [weak self] in self?.suspend($0) }
        }
        report(.started)
    }

    /// Reports that the call was paused or resumed, if the state has changed.
    ///
    /// Only one thread reports at a time. It continues until the reported state is the current one, because an observer
    /// may resume the call when it is notified of the pause.
    func suspend(_ isSuspended: Bool) {
        var mayReport = state.withLock { state in
            state.isSuspended = isSuspended
            defer { state.isReporting = true }
            return !state.isReporting
        }
        while mayReport {
            let change = state.withLock { state -> Event.Change? in
                guard state.reportedSuspended != state.isSuspended, !state.isStopping else {
                    state.isReporting = false
                    return nil
                }
                state.reportedSuspended = state.isSuspended
                return state.isSuspended ? .suspended : .resumed
            }
            if let change {
                report(change)
            }
            mayReport = change != nil
        }
    }

    /// Excludes the hooks of ``OriginBoundInterceptor``s whose owner's additions are withheld from the request.
    func withhold(_ withheldAdditions: WithheldAdditions) {
        if !withheldAdditions.isEmpty {
            state.withLock { $0.withheldAdditions = withheldAdditions }
        }
    }

    private var metricsHooks: [MetricsHook] {
        let withheldAdditions = state.withLock { $0.withheldAdditions }
        return observers.compactMap { $0 as? MetricsHook }.filter { $0.owner.isDisjoint(with: withheldAdditions) }
    }

    /// Reports a change to all observers.
    func report(_ change: Event.Change, of request: Request<Bytes>? = nil) {
        let event = Event(
            callID: id, request: request?.withoutObservers ?? self.request, elapsed: clock.now - start, change: change)
        for observer in observers {
            observer.observe(event)
        }
    }

    /// Reports the start of a transfer and returns its number.
    func reportTransferStart(_ request: Request<Bytes>) -> Int {
        let number = state.withLock { state in
            state.transfers += 1
            return state.transfers
        }
        report(.exchangeStarted(number), of: request)
        return number
    }

    /// Reports the end of the call, before its caller receives the outcome. Waits for the `metrics` hooks, at most
    /// until the call's time ends. Only the first call of this function reports.
    func reportStopping(_ outcome: Event.Outcome) async {
        guard isFirstEnd else { return }
        if let metrics = outcome.metrics {
            report(.metricsCollected(metrics))
            for hook in metricsHooks {
                // The hook cannot change the outcome, because the call has ended.
                let request = request
                try? await budget.race("the metrics hook", atLeast: TimeBudget.grace) { _ in
                    await hook.report(request, metrics)
                }
            }
        }
        report(.stopping(outcome))
    }

    /// Reports the end of the call from a synchronous function. Does not wait for the `metrics` hooks.
    func reportStoppingWithoutWaiting(_ outcome: Event.Outcome) {
        guard isFirstEnd else { return }
        if let metrics = outcome.metrics {
            report(.metricsCollected(metrics))
            for hook in metricsHooks {
                Task.detached { [request] in await hook.report(request, metrics) }
            }
        }
        report(.stopping(outcome))
    }

    /// Whether the last event was reported, or is being reported.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    private var isFirstEnd: Bool {
        state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
    }

    /// Reports that the caller has received the outcome. Only the first call of this function reports.
    func reportStopped() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst {
            report(.stopped)
        }
    }
}

extension Event.Outcome {
    /// The metrics of the last transfer, or `nil` if there was none.
    fileprivate var metrics: Metrics? {
        let metrics: Metrics
        switch self {
        case .answered(let response): metrics = response.metrics
        case .failed(let error): metrics = error.metrics
        }
        return metrics.isEmpty ? nil : metrics
    }
}

extension Request {
    /// The request without its observers. Otherwise an observer that stores events would create a reference cycle.
    fileprivate var withoutObservers: Request {
        guard hasOptions, !observers.isEmpty else { return self }
        var request = self
        request.observers = []
        return request
    }
}

/// A streamed body whose end is reported to the observers of the call.
final class ObservedChunks: ChunkSource {
    private let stream: ResponseStream
    private let watch: Watch

    init(_ stream: ResponseStream, watch: Watch) {
        self.stream = stream
        self.watch = watch
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await stream.source.next()
            if piece == nil {
                await watch.reportStopping(.answered(stream.source.ending ?? stream.headOnly))
                watch.reportStopped()
            }
            return piece
        } catch {
            await watch.reportStopping(.failed(error.attaching(headOf: stream)))
            watch.reportStopped()
            throw error
        }
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        watch.reportStoppingWithoutWaiting(
            .failed(NetError(.cancelled, "the stream was released before its end", response: stream.headOnly)))
        watch.reportStopped()
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}

extension NetError {
    /// Returns the same error. If it has no response, adds the head and the metrics of this stream.
    func attaching(headOf stream: ResponseStream) -> NetError {
        response == nil ? attaching(stream.headOnly) : self
    }
}

/// Reports the response heads of one transfer to the observers of the call. Heads that the transport reports are passed
/// on immediately, other heads at the end of the transfer.
final class ResponseHeadObserver: Sendable {
    private struct State: Sendable {
        var heads = 0
        var hasFinal = false
        var transfers: [UInt64] = []
    }

    private weak let watch: Watch?
    private weak let hub: EventHub?
    private let keepsDotSegments: Bool
    private let state = Lock(State())

    init(_ watch: Watch, hub: EventHub?, keepsDotSegments: Bool) {
        self.watch = watch
        self.hub = hub
        self.keepsDotSegments = keepsDotSegments
    }

    deinit {
        end()
    }

    /// The closures that the transport calls. They keep this object alive while the transfer is in flight.
    var transferObserver: TransferObserver {
        TransferObserver(
            began: { [self] in began($0) }, headArrived: { [self] in arrived($0, isLast: $1) },
            downloadResumed: { [self] in watch?.report(.downloadResumed(offset: $0, total: $1)) })
    }

    private func began(_ transfer: UInt64) {
        state.withLock { $0.transfers.append(transfer) }
        if let watch {
            hub?.began(transfer, of: watch)
        }
    }

    private func arrived(_ head: ResponseHead, isLast: Bool) {
        state.withLock { state in
            state.heads += 1
            state.hasFinal = isLast
        }
        watch?.report(.headReceived(head))
        if !isLast {
            let target = head.headers.reference("Location").flatMap {
                try? resolveReference($0, at: head.url, keepsDotSegments: keepsDotSegments)
            }
            watch?.report(.redirected(head, to: target ?? ""))
        }
    }

    /// Reports all heads of the response, if the transport has not reported any.
    func complete(_ response: ChainResponse) {
        guard !state.withLock({ $0.hasFinal || $0.heads > 0 }) else { return }
        let hops = response.metrics
        for (index, hop) in hops.enumerated().dropLast() {
            let head = ResponseHead(status: hop.status, httpVersion: hop.httpVersion, url: hop.url)
            watch?.report(.headReceived(head))
            watch?.report(.redirected(head, to: hops[index + 1].url))
        }
        watch?.report(.headReceived(ResponseHead(of: response)))
    }

    /// Called at the end of the transfer, which for a streamed body is the end of the stream.
    private func end() {
        let transfers = state.withLock { $0.transfers }
        if !transfers.isEmpty {
            hub?.ended(transfers)
        }
    }
}

extension ResponseHead {
    /// Creates the head of a response.
    init(of response: ChainResponse) {
        let whole = response.response
        self.init(
            status: response.status, headers: response.headers, httpVersion: whole.httpVersion, url: response.url)
    }
}

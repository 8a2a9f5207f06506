/// Notifies the observers of one call. All notifications pass through this type.
final class Watch: Sendable {
    private struct State: Sendable {
        var exchanges = 0
        var isStopping = false
        var isStopped = false
        var isSuspended = false
        // The last reported state, and whether a thread is reporting.
        var toldSuspended = false
        var isTelling = false
    }

    let id: UInt64
    private let observers: [any Observer]
    private let request: Request<Bytes>
    private let budget: TimeBudget
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let state = Lock(State())

    /// Returns `nil` without observers, which most calls lack. So this is checked before anything is allocated.
    static func begin(
        _ request: Request<some Sendable>, _ observers: [any Observer], within budget: TimeBudget
    ) -> Watch? {
        let observers = request.hasNotes ? observers + request.observers : observers
        return observers.isEmpty ? nil : Watch(request, observers, budget)
    }

    private init(_ request: Request<some Sendable>, _ observers: [any Observer], _ budget: TimeBudget) {
        id = request.ticket?.take() ?? CallNumber.next()
        self.observers = observers
        self.budget = budget
        self.request = request.decoded(by: .bytes).unwatched
        start = clock.now
        if let ticket = request.ticket, ticket.id == id {
            ticket.follow { [weak self] in self?.suspend($0) }
        }
        tell(.started)
    }

    /// Reports that the call was paused or resumed; an unchanged state is not reported again. Only one thread reports
    /// at a time, until the last report is correct: an observer may resume the call when it is notified of the pause.
    func suspend(_ isSuspended: Bool) {
        var mayTell = state.withLock { state in
            state.isSuspended = isSuspended
            defer { state.isTelling = true }
            return !state.isTelling
        }
        while mayTell {
            let word = state.withLock { state -> Event.Change? in
                guard state.toldSuspended != state.isSuspended, !state.isStopping else {
                    state.isTelling = false
                    return nil
                }
                state.toldSuspended = state.isSuspended
                return state.isSuspended ? .suspended : .resumed
            }
            if let word {
                tell(word)
            }
            mayTell = word != nil
        }
    }

    /// Reports a change that has no method of its own below.
    func tell(_ change: Event.Change, of request: Request<Bytes>? = nil) {
        let event = Event(
            callID: id, request: request?.unwatched ?? self.request, elapsed: clock.now - start, change: change)
        for observer in observers {
            observer.observe(event)
        }
    }

    /// Reports the start of a transfer and returns its number.
    func exchangeStarts(_ request: Request<Bytes>) -> Int {
        let number = state.withLock { state in
            state.exchanges += 1
            return state.exchanges
        }
        tell(.exchangeStarted(number), of: request)
        return number
    }

    /// Reports the end, before the caller is notified. Only the first call counts. Asynchronous observers are
    /// awaited while the call's time lasts.
    func stopping(_ outcome: Event.Outcome) async {
        guard isFirstEnd else { return }
        if let metrics = outcome.metrics {
            tell(.metricsCollected(metrics))
            for case let hook as MetricsHook in observers {
                // Its failure is its own: the call has ended.
                let request = request
                try? await budget.race("the hook of the metrics", atLeast: TimeBudget.grace) { _ in
                    await hook.tell(request, metrics)
                }
            }
        }
        tell(.stopping(outcome))
    }

    /// Reports the end where nothing can be awaited.
    func stoppingAtOnce(_ outcome: Event.Outcome) {
        guard isFirstEnd else { return }
        if let metrics = outcome.metrics {
            tell(.metricsCollected(metrics))
            for case let hook as MetricsHook in observers {
                Task.detached { [request] in await hook.tell(request, metrics) }
            }
        }
        tell(.stopping(outcome))
    }

    /// Whether the last event was reported, or is being reported.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    private var isFirstEnd: Bool {
        state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
    }

    /// Reports that the caller was notified.
    func stopped() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst {
            tell(.stopped)
        }
    }
}

extension Event.Outcome {
    /// The metrics of the transfer, or `nil` without one.
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
    /// Without observers: an observer that stores its events must not keep itself alive through them.
    fileprivate var unwatched: Request {
        guard hasNotes, !observers.isEmpty else { return self }
        var request = self
        request.observers = []
        return request
    }
}

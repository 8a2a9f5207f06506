/// Tells observers what becomes of one call: the only place that does.
final class Watch: Sendable {
    private struct State: Sendable {
        var exchanges = 0
        var isStopping = false
        var isStopped = false
        var isSuspended = false
        // What was told last, and whether somebody tells.
        var toldSuspended = false
        var isTelling = false
    }

    let id: UInt64
    private let observers: [any Observer]
    private let request: Request<Bytes>
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let state = Lock(State())

    /// Nil when nobody watches: most calls go without, so nothing is made before that is known.
    static func begin(_ request: Request<some Sendable>, _ observers: [any Observer]) -> Watch? {
        let observers = request.hasNotes ? observers + request.observers : observers
        return observers.isEmpty ? nil : Watch(request, observers)
    }

    private init(_ request: Request<some Sendable>, _ observers: [any Observer]) {
        id = request.ticket?.take() ?? CallNumber.next()
        self.observers = observers
        self.request = request.decoded(by: .bytes).unwatched
        start = clock.now
        if let ticket = request.ticket, ticket.id == id {
            ticket.follow { [weak self] in self?.suspend($0) }
        }
        tell(.started)
    }

    /// The call is held up or goes on; what it is already is not told again. One thread tells at a time, until the
    /// last word is the right one: an observer may let the call go on when it hears that it is held up.
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

    /// Tells a change that is none of the following.
    func tell(_ change: Event.Change, of request: Request<Bytes>? = nil) {
        let event = Event(
            callID: id, request: request?.unwatched ?? self.request, elapsed: clock.now - start, change: change)
        for observer in observers {
            observer.observe(event)
        }
    }

    /// Returns the exchange's number.
    func exchangeStarts(_ request: Request<Bytes>) -> Int {
        let number = state.withLock { state in
            state.exchanges += 1
            return state.exchanges
        }
        tell(.exchangeStarted(number), of: request)
        return number
    }

    /// The end, before its caller is told; what comes after the first time is ignored. Whoever is asynchronous is
    /// waited for.
    func stopping(_ outcome: Event.Outcome) async {
        guard isFirstEnd else { return }
        if let metrics = outcome.metrics {
            tell(.metricsCollected(metrics))
            for case let hook as MetricsHook in observers {
                await hook.tell(request, metrics)
            }
        }
        tell(.stopping(outcome))
    }

    /// The end where nobody can be waited for.
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

    /// Whether observers have heard, or are hearing, the last of it.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    private var isFirstEnd: Bool {
        state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
    }

    /// The caller was told.
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
    /// What the exchange cost; nil where there was none.
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
    /// An observer that keeps its events must not keep itself by them.
    fileprivate var unwatched: Request {
        guard hasNotes, !observers.isEmpty else { return self }
        var request = self
        request.observers = []
        return request
    }
}

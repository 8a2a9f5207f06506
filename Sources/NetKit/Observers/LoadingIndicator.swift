/// Shows that something is loading while at least one call or task is in flight.
///
///     let indicator = LoadingIndicator(show: { … }, hide: { … })
///     configuration.observers = [indicator]                                       // every call of an agent, or
///     agent.start(request, options: .init(accessories: [indicator])) { … }        // a request, a batch, a chain
///
/// The closures alternate and never run concurrently. They run on the thread on which a call or a task began or ended.
/// Share one indicator between several agents or tasks to count them together. An indicator that is both an observer
/// and an accessory counts twice. Thread-safe.
public final class LoadingIndicator: Observer, Accessory {
    private struct State: Sendable {
        var count = 0
        var isShown = false
        var isTelling = false
    }

    private let state = Lock(State())
    private let show: @Sendable () -> Void
    private let hide: @Sendable () -> Void

    /// Creates a hidden indicator.
    public init(show: @escaping @Sendable () -> Void, hide: @escaping @Sendable () -> Void) {
        self.show = show
        self.hide = hide
    }

    /// The number of calls and tasks in flight.
    public var count: Int { state.withLock { $0.count } }

    /// Counts the call.
    public func observe(_ event: Event) {
        switch event.change {
        case .started: change(by: 1)
        case .stopping: change(by: -1)
        default: break
        }
    }

    /// Adds one to the count.
    public func willStart(_ run: Run) { change(by: 1) }

    /// Subtracts one from the count.
    public func willStop(_ run: Run) { change(by: -1) }

    /// Only one thread calls the closures at a time, until the reported state is the current one. So the last report is
    /// correct.
    private func change(by step: Int) {
        let isTold = state.withLock { state in
            state.count += step
            defer { state.isTelling = true }
            return state.isTelling
        }
        while !isTold {
            let isWanted: Bool? = state.withLock { state in
                let isWanted = state.count > 0
                guard isWanted != state.isShown else {
                    state.isTelling = false
                    return nil
                }
                state.isShown = isWanted
                return isWanted
            }
            guard let isWanted else { return }
            isWanted ? show() : hide()
        }
    }
}

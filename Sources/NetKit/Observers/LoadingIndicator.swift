/// Shows that something is loading as long as anything is under way: counted, so that it neither flickers nor stays.
///
///     let indicator = LoadingIndicator(show: { … }, hide: { … })
///     configuration.observers = [indicator]                                       // every call of an agent, or
///     agent.start(request, options: .init(accessories: [indicator])) { … }        // a request, a batch, a chain
///
/// The closures run one at a time and in turn, on the thread on which a call or a start began or ended. Give the same
/// one to several agents or starts to count them together; who does both counts twice. Thread-safe.
public final class LoadingIndicator: Observer, Accessory {
    private struct State: Sendable {
        var count = 0
        var isShown = false
        var isTelling = false
    }

    private let state = Lock(State())
    private let show: @Sendable () -> Void
    private let hide: @Sendable () -> Void

    /// An indicator that is hidden.
    public init(show: @escaping @Sendable () -> Void, hide: @escaping @Sendable () -> Void) {
        self.show = show
        self.hide = hide
    }

    /// Calls and starts that are under way.
    public var count: Int { state.withLock { $0.count } }

    /// Counts.
    public func observe(_ event: Event) {
        switch event.change {
        case .started: change(by: 1)
        case .stopping: change(by: -1)
        default: break
        }
    }

    /// Counts.
    public func willStart(_ run: Run) { change(by: 1) }

    /// Counts.
    public func willStop(_ run: Run) { change(by: -1) }

    /// One thread tells at a time, until what is shown is what is wanted: so the last word is the right one.
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

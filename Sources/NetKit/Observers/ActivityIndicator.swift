/// Shows that the network is busy, after a while and for a while: AFNetworking's activity indicator, for any display.
///
///     let indicator = ActivityIndicator { isVisible in … }
///     configuration.observers = [indicator]
///
/// Calls are counted, whether it is enabled or not. One that lasts longer than
/// ``init(isEnabled:activationDelay:completionDelay:time:onChange:)``'s first delay shows it; it is hidden when there
/// was none for the second delay. The closure is called once for each change, one call at a time, on the thread that
/// brings it about. Thread-safe.
public final class ActivityIndicator: Observer {
    /// Where it is between hidden and shown.
    public enum State: Sendable, Hashable {
        /// Hidden.
        case notActive
        /// Hidden; shown when calls are under way at the end of the first delay.
        case delayingStart
        /// Shown.
        case active
        /// Shown; hidden when no call begins before the end of the second delay.
        case delayingEnd
    }

    private struct Kept: Sendable {
        var machine: ActivityMachine
        var isShown = false
        var isTelling = false
        var timer: (number: Int, task: Task<Void, Never>)?
    }

    private let kept: Lock<Kept>
    private let time: TimeSource
    private let onChange: @Sendable (Bool) -> Void

    /// A hidden indicator.
    ///
    /// - Parameters:
    ///   - isEnabled: whether it shows anything.
    ///   - activationDelay: how long something has to be under way before it is shown.
    ///   - completionDelay: how long it stays when nothing is any more.
    ///   - time: waits.
    ///   - onChange: hears true when it is to be shown and false when it is to be hidden.
    public init(
        isEnabled: Bool = true, activationDelay: Duration = .seconds(1),
        completionDelay: Duration = .milliseconds(170), time: TimeSource = .system,
        onChange: @escaping @Sendable (Bool) -> Void
    ) {
        kept = Lock(
            Kept(
                machine: ActivityMachine(
                    activationDelay: activationDelay, completionDelay: completionDelay, isEnabled: isEnabled)))
        self.time = time
        self.onChange = onChange
    }

    deinit {
        kept.withLock { $0.timer?.task }?.cancel()
    }

    /// Calls that are under way, also those that began while it was not enabled.
    public var count: Int { kept.withLock { $0.machine.count } }

    /// Where it is.
    public var state: State { kept.withLock { $0.machine.state } }

    /// Whether it is to be seen.
    public var isVisible: Bool { kept.withLock { $0.machine.isVisible } }

    /// Whether it shows anything; when not it is hidden at once. It goes on counting.
    public var isEnabled: Bool {
        get { kept.withLock { $0.machine.isEnabled } }
        set { change { $0.setEnabled(newValue) } }
    }

    /// Counts one more, for work that no agent does.
    public func increment() {
        change { $0.change(by: 1) }
    }

    /// Counts one less, down to none.
    public func decrement() {
        change { $0.change(by: -1) }
    }

    /// Counts.
    public func observe(_ event: Event) {
        switch event.change {
        case .started: increment()
        case .stopping: decrement()
        default: break
        }
    }

    private func change(_ body: @Sendable (inout ActivityMachine) -> ActivityMachine.Order) {
        let order = kept.withLock { body(&$0.machine) }
        if let (number, wait) = order.timer {
            let task = Task { [weak self, time] in
                try? await time.sleep(wait)
                self?.change { $0.timerFired(number) }
            }
            set((number, task))
        }
        tell()
    }

    /// The newest timer alone counts; nobody waits for the others, nor for that of an indicator that was let go.
    private func set(_ timer: (number: Int, task: Task<Void, Never>)) {
        let former = kept.withLock { kept -> Task<Void, Never>? in
            if let set = kept.timer, set.number > timer.number {
                return timer.task
            }
            defer { kept.timer = timer }
            return kept.timer?.task
        }
        former?.cancel()
    }

    /// One thread tells at a time, until what is shown is what is wanted: so the last word is the right one.
    private func tell() {
        var isFirst = true
        while true {
            let news: Bool? = kept.withLock { [isFirst] kept in
                if isFirst, kept.isTelling {
                    return nil
                }
                kept.isTelling = kept.machine.isVisible != kept.isShown
                kept.isShown = kept.machine.isVisible
                return kept.isTelling ? kept.isShown : nil
            }
            guard let news else { return }
            isFirst = false
            onChange(news)
        }
    }
}

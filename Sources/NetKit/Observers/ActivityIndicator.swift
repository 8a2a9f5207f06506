/// Shows that the network is busy, with delays that avoid flicker. Equivalent to AFNetworking's activity indicator, for
/// any display.
///
///     let indicator = ActivityIndicator { isVisible in … }
///     configuration.observers = [indicator]
///
/// Calls are counted even while the indicator is disabled. A call longer than the first delay of
/// ``init(isEnabled:activationDelay:completionDelay:time:onChange:)`` shows it. It is hidden after the second delay
/// without a call. The closure is called once for each change, never concurrently, on the thread that caused the
/// change. Thread-safe.
public final class ActivityIndicator: Observer {
    /// A state between hidden and visible.
    public enum State: Sendable, Hashable {
        /// Hidden.
        case notActive
        /// Hidden. Becomes visible if calls are still in flight at the end of the first delay.
        case delayingStart
        /// Visible.
        case active
        /// Visible. Becomes hidden if no call begins before the end of the second delay.
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

    /// Creates a hidden indicator.
    ///
    /// - Parameters:
    ///   - isEnabled: whether the indicator can become visible.
    ///   - activationDelay: how long calls must be in flight before the indicator is shown.
    ///   - completionDelay: how long the indicator remains visible after the last call.
    ///   - time: the source of time for the delays.
    ///   - onChange: called with true to show the indicator, and with false to hide it.
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

    /// The number of calls in flight, including those that began while the indicator was disabled.
    public var count: Int { kept.withLock { $0.machine.count } }

    /// The current state.
    public var state: State { kept.withLock { $0.machine.state } }

    /// Whether the indicator is visible.
    public var isVisible: Bool { kept.withLock { $0.machine.isVisible } }

    /// Whether the indicator can become visible. Disabling hides it immediately; calls are still counted.
    public var isEnabled: Bool {
        get { kept.withLock { $0.machine.isEnabled } }
        set { change { $0.setEnabled(newValue) } }
    }

    /// Adds one to the count, for work outside an agent.
    public func increment() {
        change { $0.change(by: 1) }
    }

    /// Subtracts one from the count, which never becomes negative.
    public func decrement() {
        change { $0.change(by: -1) }
    }

    /// Counts the call.
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

    /// Replaces the timer. Only the newest timer has an effect; older ones are cancelled.
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

    /// Only one thread calls the closure at a time, until the reported state is the current one. So the last report is
    /// correct.
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

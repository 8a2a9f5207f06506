public import NetKit

/// Shows that calls are in flight, with delays that avoid flicker. It behaves like AFNetworking's activity indicator
/// and works with any display.
///
///     let indicator = ActivityIndicator { isVisible in … }
///     configuration.observers = [indicator]
///
/// The indicator is shown when calls have been in flight for the activation delay. It is hidden when no call has been
/// in flight for the completion delay. Calls are counted even while the indicator is disabled.
///
/// The closure is called once for each change, never concurrently, on the thread that caused the change. Thread-safe.
public final class ActivityIndicator: Observer {
    /// The state of an indicator.
    public enum State: Sendable, Hashable {
        /// Hidden.
        case notActive
        /// Hidden. Becomes visible if calls are still in flight at the end of the activation delay.
        case delayingStart
        /// Visible.
        case active
        /// Visible. Becomes hidden if no call begins before the end of the completion delay.
        case delayingEnd
    }

    private struct Protected: Sendable {
        var machine: ActivityMachine
        var isShown = false
        var isReporting = false
        var timer: (number: Int, task: Task<Void, Never>)?
    }

    private let protected: Lock<Protected>
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
        protected = Lock(
            Protected(
                machine: ActivityMachine(
                    activationDelay: activationDelay, completionDelay: completionDelay, isEnabled: isEnabled)))
        self.time = time
        self.onChange = onChange
    }

    deinit {
        protected.withLock { $0.timer?.task }?.cancel()
    }

    /// The number of calls in flight, including those that began while the indicator was disabled.
    public var count: Int { protected.withLock { $0.machine.count } }

    /// The current state.
    public var state: State { protected.withLock { $0.machine.state } }

    /// Whether the indicator is visible.
    public var isVisible: Bool { protected.withLock { $0.machine.isVisible } }

    /// Whether the indicator can become visible. Disabling it hides it immediately. Calls are still counted.
    public var isEnabled: Bool {
        get { protected.withLock { $0.machine.isEnabled } }
        set { change { $0.setEnabled(newValue) } }
    }

    /// Adds one to the count, for work that is not a call of an agent.
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

    private func change(_ body: @Sendable (inout ActivityMachine) -> ActivityMachine.Command) {
        let command = protected.withLock { body(&$0.machine) }
        if let (number, wait) = command.timer {
            let task = Task { [weak self, time] in
                try? await time.sleep(wait)
                self?.change { $0.timerFired(number) }
            }
            set((number, task))
        }
        report()
    }

    /// Replaces the timer. Only the newest timer has an effect; older ones are cancelled.
    private func set(_ timer: (number: Int, task: Task<Void, Never>)) {
        let previous = protected.withLock { protected -> Task<Void, Never>? in
            if let set = protected.timer, set.number > timer.number {
                return timer.task
            }
            defer { protected.timer = timer }
            return protected.timer?.task
        }
        previous?.cancel()
    }

    /// Calls the closure until the reported visibility is the current one. Only one thread does so at a time, so that
    /// the last report is correct.
    private func report() {
        var isFirst = true
        while true {
            let change: Bool? = protected.withLock { [isFirst] protected in
                if isFirst, protected.isReporting {
                    return nil
                }
                protected.isReporting = protected.machine.isVisible != protected.isShown
                protected.isShown = protected.machine.isVisible
                return protected.isReporting ? protected.isShown : nil
            }
            guard let change else { return }
            isFirst = false
            onChange(change)
        }
    }
}

/// The state machine of an ``ActivityIndicator``. It shows the indicator late, so that short calls do not show it, and
/// hides it late, to avoid flicker. It has no side effects: the caller carries out the returned commands.
struct ActivityMachine: Sendable {
    /// The command to carry out after a change.
    struct Command: Sendable, Equatable {
        /// A timer to start, if any. It must call ``timerFired(_:)`` with its number.
        var timer: (number: Int, wait: Duration)?

        static func == (left: Command, right: Command) -> Bool {
            left.timer?.number == right.timer?.number && left.timer?.wait == right.timer?.wait
        }
    }

    let activationDelay: Duration
    let completionDelay: Duration
    private(set) var state = ActivityIndicator.State.notActive
    private(set) var count = 0
    private(set) var isEnabled: Bool
    // The number of the current timer; older timers have no effect.
    private var timer = 0

    init(activationDelay: Duration, completionDelay: Duration, isEnabled: Bool) {
        self.activationDelay = max(.zero, activationDelay)
        self.completionDelay = max(.zero, completionDelay)
        self.isEnabled = isEnabled
    }

    /// Whether the indicator is visible.
    var isVisible: Bool { state == .active || state == .delayingEnd }

    mutating func change(by step: Int) -> Command {
        count = max(0, count + step)
        return react()
    }

    mutating func setEnabled(_ isEnabled: Bool) -> Command {
        self.isEnabled = isEnabled
        return react()
    }

    mutating func timerFired(_ number: Int) -> Command {
        guard number == timer else { return Command() }
        if state == .delayingStart {
            state = count > 0 ? .active : .notActive
        } else if state == .delayingEnd {
            state = .notActive
        }
        return Command()
    }

    private mutating func react() -> Command {
        guard isEnabled else {
            timer += 1
            state = .notActive
            return Command()
        }
        switch state {
        case .notActive where count > 0: return wait(activationDelay, in: .delayingStart)
        case .active where count == 0: return wait(completionDelay, in: .delayingEnd)
        case .delayingEnd where count > 0:
            timer += 1
            state = .active
            return Command()
        default: return Command()
        }
    }

    private mutating func wait(_ delay: Duration, in state: ActivityIndicator.State) -> Command {
        timer += 1
        self.state = state
        return Command(timer: (timer, delay))
    }
}

/// Shows that something is loading while at least one call or task is in flight.
///
///     let indicator = LoadingIndicator(show: { … }, hide: { … })
///     configuration.observers = [indicator]                                       // every call of an agent, or
///     agent.start(request, options: .init(accessories: [indicator])) { … }        // a request, a batch, a chain
///
/// The two closures are called alternately and never concurrently. They run on the thread on which a call or a task
/// began or ended. To count the calls of several agents or tasks together, share one indicator between them. Do not use
/// it as an observer and as an accessory of the same calls, because it would count them twice. Thread-safe.
public final class LoadingIndicator: Observer, Accessory {
    private struct State: Sendable {
        var count = 0
        var isShown = false
        var isReporting = false
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
    public func willStart(_ run: RequestTask) { change(by: 1) }

    /// Subtracts one from the count.
    public func willStop(_ run: RequestTask) { change(by: -1) }

    /// Changes the count, and calls the closures until the reported state is the current one. Only one thread does so
    /// at a time, so that the last report is correct.
    private func change(by step: Int) {
        let isReporting = state.withLock { state in
            state.count += step
            defer { state.isReporting = true }
            return state.isReporting
        }
        while !isReporting {
            let shouldShow: Bool? = state.withLock { state in
                let shouldShow = state.count > 0
                guard shouldShow != state.isShown else {
                    state.isReporting = false
                    return nil
                }
                state.isShown = shouldShow
                return shouldShow
            }
            guard let shouldShow else { return }
            shouldShow ? show() : hide()
        }
    }
}

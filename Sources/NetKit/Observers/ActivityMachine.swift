/// The state machine of an activity indicator. It shows the indicator late, so that short calls are invisible, and
/// hides it late, to avoid flicker. Pure: the caller carries out the returned orders.
struct ActivityMachine: Sendable {
    /// The actions to carry out after a change.
    struct Order: Sendable, Equatable {
        /// A timer to start. It calls ``timerFired(_:)`` with its number.
        var timer: (number: Int, wait: Duration)?

        static func == (left: Order, right: Order) -> Bool {
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

    mutating func change(by step: Int) -> Order {
        count = max(0, count + step)
        return react()
    }

    mutating func setEnabled(_ isEnabled: Bool) -> Order {
        self.isEnabled = isEnabled
        return react()
    }

    mutating func timerFired(_ number: Int) -> Order {
        guard number == timer else { return Order() }
        if state == .delayingStart {
            state = count > 0 ? .active : .notActive
        } else if state == .delayingEnd {
            state = .notActive
        }
        return Order()
    }

    private mutating func react() -> Order {
        guard isEnabled else {
            timer += 1
            state = .notActive
            return Order()
        }
        switch state {
        case .notActive where count > 0: return wait(activationDelay, in: .delayingStart)
        case .active where count == 0: return wait(completionDelay, in: .delayingEnd)
        case .delayingEnd where count > 0:
            timer += 1
            state = .active
            return Order()
        default: return Order()
        }
    }

    private mutating func wait(_ delay: Duration, in state: ActivityIndicator.State) -> Order {
        timer += 1
        self.state = state
        return Order(timer: (timer, delay))
    }
}

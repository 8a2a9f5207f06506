/// What a request carries that was started: its number, and a hold on the transfers that it takes.
final class CallTicket: Sendable {
    /// What can be done to a transfer.
    struct Grip {
        let setPaused: (UInt64, Bool) -> Void
        let setPriority: (UInt64, Priority) -> Void
    }

    fileprivate struct State: Sendable {
        var isTaken = false
        var transfer: UInt64?
        var isPaused = false
        var priority: Priority?
        // What the transfer was told last.
        var toldPaused = false
        var toldPriority: Priority?
        var isTelling = false
    }

    fileprivate enum Step: Sendable {
        case pause(UInt64, Bool)
        case move(UInt64, Priority)
    }

    let id: UInt64
    private let state = Lock(State())
    private let entry: @Sendable () -> Void
    // Nil once everybody was told.
    private let follower = Lock<(@Sendable (Bool) -> Void)?>(nil)
    // Set while it waits for its turn elsewhere than at the engine.
    private let mover = Lock<(@Sendable () -> Void)?>(nil)
    private let lastWords = Lock<[@Sendable () -> Void]?>([])

    /// - Parameter entry: hears that what follows it may go on; as often as somebody says so.
    init(id: UInt64, entry: @escaping @Sendable () -> Void = {}) {
        self.id = id
        self.entry = entry
    }

    /// Names who hears that the call is held up, and that it goes on.
    func follow(_ word: @escaping @Sendable (Bool) -> Void) {
        follower.withLock { $0 = word }
    }

    /// The call is held up, or goes on.
    func tellPause(_ isPaused: Bool) {
        follower.withLock { $0 }?(isPaused)
    }

    /// Its place among those that repeat it is decided.
    func enter() { entry() }
    /// Does something when everybody was told how the start ended; false when they were, and nothing is done.
    func whenTold(_ word: @escaping @Sendable () -> Void) -> Bool {
        lastWords.withLock { words in
            words?.append(word)
            return words != nil
        }
    }

    /// Everybody was told.
    func told() {
        let words = lastWords.withLock { words in
            defer { words = nil }
            return words ?? []
        }
        for word in words {
            word()
        }
    }

    /// The number, for the first that asks: a request that is sent again by somebody who came by it is another call.
    func take() -> UInt64? {
        state.withLock { state in
            defer { state.isTaken = true }
            return state.isTaken ? nil : id
        }
    }

    /// Whether a call was made of it.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// The transfer that it took last.
    var transfer: UInt64? { state.withLock { $0.transfer } }

    /// The place that its transfers were moved to; nil where nobody moved them.
    var priority: Priority? { state.withLock { $0.priority } }

    /// A transfer begins; what is wished of it is done.
    func began(_ transfer: UInt64, _ grip: Grip) {
        state.withLock { state in
            state.transfer = transfer
            state.toldPaused = false
            state.toldPriority = nil
        }
        tell(grip)
    }

    /// Holds its transfers up, the one under way and later ones, or lets them go on.
    func setPaused(_ isPaused: Bool, _ grip: Grip?) {
        state.withLock { $0.isPaused = isPaused }
        tell(grip)
    }

    /// Moves its transfers among those that wait.
    func setPriority(_ priority: Priority, _ grip: Grip?) {
        state.withLock { $0.priority = priority }
        mover.withLock { $0 }?()
        tell(grip)
    }

    /// Names who hears that ``priority`` is another one.
    func whenMoved(_ word: (@Sendable () -> Void)?) {
        mover.withLock { $0 = word }
    }

    /// One thread tells at a time, until the transfer is as it is wished: so the last word is the right one.
    private func tell(_ grip: Grip?) {
        guard let grip else { return }
        var mayTell = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        while mayTell {
            let step = state.withLock { $0.nextStep() }
            switch step {
            case .pause(let transfer, let isPaused): grip.setPaused(transfer, isPaused)
            case .move(let transfer, let priority): grip.setPriority(transfer, priority)
            case nil: mayTell = false
            }
        }
    }
}

extension CallTicket.State {
    fileprivate mutating func nextStep() -> CallTicket.Step? {
        if let transfer, toldPaused != isPaused {
            toldPaused = isPaused
            return .pause(transfer, isPaused)
        }
        if let transfer, let priority, toldPriority != priority {
            toldPriority = priority
            return .move(transfer, priority)
        }
        isTelling = false
        return nil
    }
}

private enum CallTicketNote: RequestNote {
    static let standard: CallTicket? = nil
}

extension Request {
    /// Ties the request to its start; nil where nobody started it.
    var ticket: CallTicket? {
        get { hasNotes ? self[CallTicketNote.self] : nil }
        set { self[CallTicketNote.self] = newValue }
    }
}

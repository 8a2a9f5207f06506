/// The number of a request task, and the control of its transfers, carried by its request.
final class CallTicket: Sendable {
    /// The operations on a transfer.
    struct Grip {
        let setPaused: (UInt64, Bool) -> Void
        let setPriority: (UInt64, Priority) -> Void
    }

    fileprivate struct State: Sendable {
        var isTaken = false
        var transfer: UInt64?
        var isPaused = false
        var priority: Priority?
        // The last values passed to the transfer.
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
    private let follower = Lock<(@Sendable (Bool) -> Void)?>(nil)
    // Set while it waits in a queue outside the engine.
    private let mover = Lock<(@Sendable () -> Void)?>(nil)
    // `nil` after the end was reported.
    private let lastWords = Lock<[@Sendable () -> Void]?>([])

    /// - Parameter entry: called when requests after this one may continue, possibly several times.
    init(id: UInt64, entry: @escaping @Sendable () -> Void = {}) {
        self.id = id
        self.entry = entry
    }

    /// Sets the closure that is called when the call is paused or resumed.
    func follow(_ word: @escaping @Sendable (Bool) -> Void) {
        follower.withLock { $0 = word }
    }

    /// Reports that the call is paused or resumed.
    func tellPause(_ isPaused: Bool) {
        follower.withLock { $0 }?(isPaused)
    }

    /// Reports that its order among duplicates is decided.
    func enter() { entry() }
    /// Runs a closure after the end was reported. Returns false, without running it, if that has happened already.
    func whenTold(_ word: @escaping @Sendable () -> Void) -> Bool {
        lastWords.withLock { words in
            words?.append(word)
            return words != nil
        }
    }

    /// Runs the closures that wait for the report of the end.
    func told() {
        let words = lastWords.withLock { words in
            defer { words = nil }
            return words ?? []
        }
        for word in words {
            word()
        }
    }

    /// Returns the number once: sending the same request value again is another call.
    func take() -> UInt64? {
        state.withLock { state in
            defer { state.isTaken = true }
            return state.isTaken ? nil : id
        }
    }

    /// Whether a call has taken the number.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Its latest transfer.
    var transfer: UInt64? { state.withLock { $0.transfer } }

    /// The changed priority of its transfers; `nil` if it was not changed.
    var priority: Priority? { state.withLock { $0.priority } }

    /// Records a new transfer and applies the pending settings to it.
    func began(_ transfer: UInt64, _ grip: Grip) {
        state.withLock { state in
            state.transfer = transfer
            state.toldPaused = false
            state.toldPriority = nil
        }
        tell(grip)
    }

    /// Pauses or resumes its transfers: the current one and later ones.
    func setPaused(_ isPaused: Bool, _ grip: Grip?) {
        state.withLock { $0.isPaused = isPaused }
        tell(grip)
    }

    /// Changes the priority of its transfers.
    func setPriority(_ priority: Priority, _ grip: Grip?) {
        state.withLock { $0.priority = priority }
        mover.withLock { $0 }?()
        tell(grip)
    }

    /// Sets the closure that is called when ``priority`` changes.
    func whenMoved(_ word: (@Sendable () -> Void)?) {
        mover.withLock { $0 = word }
    }

    /// Applies the settings to the transfer. One thread at a time does so until they match, so the last setting
    /// applies.
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
    /// The ticket of its request task; `nil` without one.
    var ticket: CallTicket? {
        get { hasNotes ? self[CallTicketNote.self] : nil }
        set { self[CallTicketNote.self] = newValue }
    }
}

/// Identifies a request task and controls its transfers. The request carries the handle to the engine.
final class TransferHandle: Sendable {
    /// The operations of an engine on a transfer.
    struct Operations {
        let setPaused: (UInt64, Bool) -> Void
        let setPriority: (UInt64, Priority) -> Void
    }

    fileprivate struct State: Sendable {
        var isTaken = false
        var transfer: UInt64?
        var isPaused = false
        var priority: Priority?
        // The last values passed to the transfer.
        var sentPaused = false
        var sentPriority: Priority?
        var isSending = false
    }

    fileprivate enum Step: Sendable {
        case pause(UInt64, Bool)
        case setPriority(UInt64, Priority)
    }

    let id: UInt64
    private let state = Lock(State())
    private let onOrderDecided: @Sendable () -> Void
    private let pauseHandler = Lock<(@Sendable (Bool) -> Void)?>(nil)
    // Set while the call waits in a queue outside the engine.
    private let priorityHandler = Lock<(@Sendable () -> Void)?>(nil)
    // The download of the task, which also applies pauses and priorities to its later attempts.
    private let plan = Lock<DownloadPlan?>(nil)
    // `nil` after the end was reported.
    private let endHandlers = Lock<[@Sendable () -> Void]?>([])

    /// - Parameters:
    ///   - id: the number of the request task.
    ///   - onOrderDecided: called when the order of this task among its duplicates is decided, so that later requests
    ///     may continue. May be called several times.
    init(id: UInt64, onOrderDecided: @escaping @Sendable () -> Void = {}) {
        self.id = id
        self.onOrderDecided = onOrderDecided
    }

    /// Sets the closure that is called when the call is paused or resumed.
    func follow(_ handler: @escaping @Sendable (Bool) -> Void) {
        pauseHandler.withLock { $0 = handler }
    }

    /// Pauses and resumes a download with the task, and applies its current state.
    func follow(_ plan: DownloadPlan) {
        self.plan.withLock { $0 = plan }
        let (isPaused, priority) = state.withLock { ($0.isPaused, $0.priority) }
        if isPaused {
            plan.setPaused(true)
        }
        if let priority {
            plan.setPriority(priority)
        }
    }

    /// Reports that the call is paused or resumed.
    func reportPause(_ isPaused: Bool) {
        pauseHandler.withLock { $0 }?(isPaused)
    }

    /// Reports that the order of the task among its duplicates is decided.
    func enter() { onOrderDecided() }
    /// Adds a closure that runs when the end of the task is reported. If the end was reported already, returns false
    /// and does not run the closure.
    func onEndReported(_ handler: @escaping @Sendable () -> Void) -> Bool {
        endHandlers.withLock { handlers in
            handlers?.append(handler)
            return handlers != nil
        }
    }

    /// Reports the end of the task, by running the closures of ``onEndReported(_:)``.
    func reportEnd() {
        let handlers = endHandlers.withLock { handlers in
            defer { handlers = nil }
            return handlers ?? []
        }
        plan.withLock { $0 = nil }
        for handler in handlers {
            handler()
        }
    }

    /// Returns the task's number the first time, and then `nil`. If the same request value is sent again, that is a
    /// separate call with its own number.
    func take() -> UInt64? {
        state.withLock { state in
            defer { state.isTaken = true }
            return state.isTaken ? nil : id
        }
    }

    /// Whether a call has taken the number.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// The latest transfer of the task.
    var transfer: UInt64? { state.withLock { $0.transfer } }

    /// The priority that was set for the task's transfers; `nil` if it was not changed.
    var priority: Priority? { state.withLock { $0.priority } }

    /// Records a new transfer, and applies the current pause state and priority to it.
    func began(_ transfer: UInt64, _ operations: Operations) {
        state.withLock { state in
            state.transfer = transfer
            state.sentPaused = false
            state.sentPriority = nil
        }
        sendChanges(operations)
    }

    /// Pauses or resumes the current and later transfers of the task.
    func setPaused(_ isPaused: Bool, _ operations: Operations?) {
        state.withLock { $0.isPaused = isPaused }
        plan.withLock { $0 }?.setPaused(isPaused)
        sendChanges(operations)
    }

    /// Changes the priority of the current and later transfers of the task.
    func setPriority(_ priority: Priority, _ operations: Operations?) {
        state.withLock { $0.priority = priority }
        priorityHandler.withLock { $0 }?()
        plan.withLock { $0 }?.setPriority(priority)
        sendChanges(operations)
    }

    /// Sets the closure that is called when ``priority`` changes.
    func onPriorityChange(_ handler: (@Sendable () -> Void)?) {
        priorityHandler.withLock { $0 = handler }
    }

    /// Applies the pause state and the priority to the transfer. Only one thread does this at a time, and it repeats
    /// until the transfer has the current values.
    private func sendChanges(_ operations: Operations?) {
        guard let operations else { return }
        var maySend = state.withLock { state in
            defer { state.isSending = true }
            return !state.isSending
        }
        while maySend {
            let step = state.withLock { $0.nextStep() }
            switch step {
            case .pause(let transfer, let isPaused): operations.setPaused(transfer, isPaused)
            case .setPriority(let transfer, let priority): operations.setPriority(transfer, priority)
            case nil: maySend = false
            }
        }
    }
}

extension TransferHandle.State {
    fileprivate mutating func nextStep() -> TransferHandle.Step? {
        if let transfer, sentPaused != isPaused {
            sentPaused = isPaused
            return .pause(transfer, isPaused)
        }
        if let transfer, let priority, sentPriority != priority {
            sentPriority = priority
            return .setPriority(transfer, priority)
        }
        isSending = false
        return nil
    }
}

extension Request {
    /// The handle of the request task that sends this request; `nil` for a call without a task.
    var transferHandle: TransferHandle? {
        get { callSettings?.value.transferHandle }
        set { settings.transferHandle = newValue }
    }
}

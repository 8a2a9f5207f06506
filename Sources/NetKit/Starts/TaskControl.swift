/// Controls one running task: cancels it, pauses it, and reports its state.
///
/// It releases all references to requests, listeners and transfers when the task ends.
final class TaskControl: Sendable {
    fileprivate struct Pause: Sendable {
        let isPaused: Bool
        let releasesConnection: Bool
        let parts: [TaskControl]
        let transfers: (any TransferControl)?
    }

    fileprivate struct State: Sendable {
        var run: RequestTask
        var task: Task<Void, Never>?
        var gate: Promise<Void>?
        var parts: [UInt64: TaskControl] = [:]
        var transfers: (any TransferControl)?
        var content: Request<Bytes>?
        var listeners: [any TaskListener] = []
        /// The listeners of the start, which are notified after those of the request.
        var startListeners: [any TaskListener] = []
        var dependencies: [TaskDependency] = []
        /// The error of a failed task, after its end.
        var failure: NetError?
        /// A closure that a pause calls to end the transfer. If `nil`, a pause pauses the transfers instead.
        var interruption: (@Sendable () -> Void)?
        var releasesConnection = false
        // The pause state that was last sent to the transfers and the parts.
        var reportedPaused = false
        var isReporting = false
    }

    let id: UInt64
    /// The type of the endpoint that describes the task; `nil` for a plain request.
    let group: ObjectIdentifier?
    let transferHandle: TransferHandle
    private let orderDecided = Promise<Void>()
    private let state: Lock<State>

    /// - Parameters:
    ///   - run: the task's initial snapshot.
    ///     - group: the type of the endpoint that describes the task, if there is one.
    ///     - transfers: the object that pauses and prioritizes the task's transfers; `nil` if there are none.
    init(_ run: RequestTask, group: ObjectIdentifier? = nil, transfers: (any TransferControl)? = nil) {
        id = run.id
        self.group = group
        transferHandle = TransferHandle(id: run.id) { [orderDecided] in orderDecided.fulfil(.success(())) }
        state = Lock(State(run: run, transfers: transfers))
    }

    /// The current snapshot.
    var run: RequestTask {
        var run = state.withLock { $0.run }
        if run.state == .waiting, transferHandle.isTaken {
            run.state = .running
        }
        run.control = self
        return run
    }

    /// The request, or `nil` until it is created.
    var request: Request<Bytes>? { state.withLock { $0.content } }

    /// Whether the task was cancelled before its outcome was reported.
    var isCancelled: Bool { state.withLock { $0.run.isCancelled } }

    /// Records the request after it was created.
    func describe<Value>(_ request: Request<Value>) {
        let request = request.erased
        state.withLock { state in
            guard state.run.state == .waiting || state.run.state == .running else { return }
            state.content = request
            state.run.method = request.method
            state.run.url = request.url
            if request.tag != 0 {
                state.run.tag = request.tag
            }
            state.run.userInfo.merge(request.userInfo) { _, new in new }
        }
    }

    /// The listeners that were added so far, in the order of their notifications.
    var allListeners: [any TaskListener] { state.withLock { $0.listeners + $0.startListeners } }

    /// Adds listeners, and notifies them that the task starts. They are kept until the task ends.
    func add(listeners: [any TaskListener], ofStart startListeners: [any TaskListener] = []) {
        let added = listeners + startListeners
        if added.isEmpty {
            return
        }
        state.withLock { state in
            state.listeners += listeners
            state.startListeners += startListeners
        }
        let run = run
        for listener in added {
            listener.willStart(run)
        }
    }

    // MARK: Phases

    /// Marks a task that has no call of its own, such as a batch, as running.
    func markRunning() {
        state.withLock { state in
            if state.run.state == .waiting {
                state.run.state = .running
            }
        }
    }

    /// Stores the Swift task that does the work, so that it can be cancelled.
    func began(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if state.run.state == .waiting || state.run.state == .running {
                state.task = task
            }
            return state.run.isCancelled
        }
        if isCancelled {
            task.cancel()
        }
    }

    /// Waits until the order of this task among its duplicates is decided, or until the task has ended.
    func waitForEntry() async throws(NetError) {
        try await orderDecided.value()
    }

    /// Marks the outcome as final. Returns true if the task was cancelled before.
    func beginsStopping() -> Bool {
        let task = state.withLock { state in
            state.run.state = .stopping
            defer { state.task = nil }
            return state.task
        }
        _ = task
        orderDecided.fulfil(.success(()))
        return isCancelled
    }

    /// Releases all references after the listeners were notified.
    func ended(with failure: NetError?) {
        resumeTransfers()
        let last = state.withLock { state in
            let last = state
            state.run.state = .stopped
            state.failure = failure
            state.dependencies = []
            state.interruption = nil
            state.transfers = nil
            state.content = nil
            state.listeners = []
            state.startListeners = []
            state.parts = [:]
            return last
        }
        if !last.dependencies.isEmpty {
            Waits.forget(id)
        }
        transferHandle.reportEnd()
    }

    /// Resumes a paused transfer of a task that has ended. Other callers may share the transfer
    /// (``RequestDeduplication``) and wait for it.
    private func resumeTransfers() {
        let (isPaused, transfers) = state.withLock { ($0.run.isPaused, $0.transfers) }
        if isPaused {
            transferHandle.setPaused(false, transfers.map(TransferHandle.Operations.init))
        }
    }

    /// The error of a failed task. `nil` after a success, and before its end.
    var failure: NetError? { state.withLock { $0.failure } }

    /// Adds dependencies. Returns false if the task is already running.
    func add(_ dependencies: [TaskDependency]) -> Bool {
        state.withLock { state in
            guard state.run.state == .waiting else { return false }
            state.dependencies += dependencies
            return true
        }
    }

    /// Removes and returns the dependencies, for the caller that waits for them.
    func takeDependencies() -> [TaskDependency] {
        state.withLock { state in
            defer { state.dependencies = [] }
            return state.dependencies
        }
    }

    /// Waits while the task is paused. Throws ``NetError/Code/cancelled`` if it was cancelled.
    func waitWhilePaused() async throws(NetError) {
        while let gate = state.withLock({ $0.gate }) {
            try await gate.value()
        }
        if Task.isCancelled || isCancelled {
            throw NetError(.cancelled, "the request was cancelled")
        }
    }

    // MARK: Control

    /// Cancels the task. Returns false if it has ended.
    @discardableResult
    func cancel() -> Bool {
        let (wasCancelled, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.run.state == .waiting || state.run.state == .running else { return (false, nil) }
            state.run.isCancelled = true
            return (true, state.task)
        }
        task?.cancel()
        return wasCancelled
    }

    /// Pauses or resumes the task and all its parts.
    func setPaused(_ isPaused: Bool) {
        let (isChanged, gate) = state.withLock { state -> (Bool, Promise<Void>?) in
            let isInFlight = state.run.state == .waiting || state.run.state == .running
            guard state.run.isPaused != isPaused, isInFlight || !isPaused else { return (false, nil) }
            let last = state.gate
            state.gate = isPaused ? Promise() : nil
            state.run.isPaused = isPaused
            return (true, last)
        }
        if isChanged {
            transferHandle.reportPause(isPaused)
        }
        gate?.fulfil(.success(()))
        reportPauses()
        if isPaused {
            state.withLock { $0.interruption }?()
        }
    }

    /// Makes a pause end the transfer instead of pausing it.
    func setReleasesConnection() {
        state.withLock { $0.releasesConnection = true }
    }

    /// Sets the closure that a pause calls to end the current transfer. If the task is paused already, the closure is
    /// called immediately.
    func setInterruption(_ interruption: (@Sendable () -> Void)?) {
        let isPaused = state.withLock { state in
            state.interruption = interruption
            return state.run.isPaused
        }
        if isPaused {
            interruption?()
        }
    }

    /// Sends the pause state to the transfers and all parts. Only one thread does this at a time, and it repeats until
    /// the state no longer changes, so that the last state sent is the current one.
    private func reportPauses() {
        var mayReport = state.withLock { state in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        while mayReport {
            let step = state.withLock { $0.nextPause() }
            if let step {
                if !step.releasesConnection {
                    transferHandle.setPaused(step.isPaused, step.transfers.map(TransferHandle.Operations.init))
                }
                for part in step.parts {
                    part.setPaused(step.isPaused)
                }
            }
            mayReport = step != nil
        }
    }

    /// Changes the priority of the task and its parts among waiting tasks.
    func setPriority(_ priority: Priority) {
        let (parts, transfers) = state.withLock { (Array($0.parts.values), $0.transfers) }
        transferHandle.setPriority(priority, transfers.map(TransferHandle.Operations.init))
        for part in parts {
            part.setPriority(priority)
        }
    }

    // MARK: Parts

    /// Makes another task a part of this task. Until the part ends, it is paused and resumed with this task.
    func adopt(_ part: TaskControl) {
        state.withLock { state in
            state.parts[part.id] = part
            state.reportedPaused = false
        }
        reportPauses()
    }

    /// Removes a part that has ended.
    func release(_ part: TaskControl) {
        _ = state.withLock { $0.parts.removeValue(forKey: part.id) }
        part.resumeTransfers()
    }
}

extension TaskControl.State {
    fileprivate mutating func nextPause() -> TaskControl.Pause? {
        guard reportedPaused != run.isPaused else {
            isReporting = false
            return nil
        }
        reportedPaused = run.isPaused
        return TaskControl.Pause(
            isPaused: reportedPaused, releasesConnection: releasesConnection, parts: Array(parts.values),
            transfers: transfers)
    }
}

extension TransferHandle.Operations {
    fileprivate init(_ transfers: any TransferControl) {
        self.init(
            setPaused: { $1 ? transfers.pause($0) : transfers.resume($0) },
            setPriority: { transfers.setPriority($1, of: $0) })
    }
}

/// Controls one running task: cancels it, pauses it, and reports its state.
///
/// It references only what it is given, until the task ends.
final class RunControl: Sendable {
    fileprivate struct Pause: Sendable {
        let isPaused: Bool
        let letsGo: Bool
        let parts: [RunControl]
        let transfers: (any TransferControl)?
    }

    fileprivate struct State: Sendable {
        var run: Run
        var task: Task<Void, Never>?
        var gate: Promise<Void>?
        var parts: [UInt64: RunControl] = [:]
        var transfers: (any TransferControl)?
        var content: Request<Bytes>?
        var accessories: [any Accessory] = []
        var earlier: [EarlierStart] = []
        /// The error of a failed task, after its end.
        var failure: NetError?
        /// Ends the transfer on a pause. If `nil`, its transfers are paused instead.
        var interruption: (@Sendable () -> Void)?
        var letsGo = false
        // The pause state last sent to the ticket and the parts.
        var toldPaused = false
        var isTelling = false
    }

    let id: UInt64
    /// The type that describes the task; `nil` for a plain request.
    let group: ObjectIdentifier?
    let ticket: CallTicket
    private let entrance = Promise<Void>()
    private let state: Lock<State>

    /// - Parameters:
    ///   - run: the task's initial snapshot.
    ///   - group: the type that describes the task.
    ///   - transfers: controls its transfers; `nil` if there are none.
    init(_ run: Run, group: ObjectIdentifier? = nil, transfers: (any TransferControl)? = nil) {
        id = run.id
        self.group = group
        ticket = CallTicket(id: run.id) { [entrance] in entrance.fulfil(.success(())) }
        state = Lock(State(run: run, transfers: transfers))
    }

    /// The current snapshot.
    var run: Run {
        var run = state.withLock { $0.run }
        if run.state == .waiting, ticket.isTaken {
            run.state = .running
        }
        return run
    }

    /// The request, or `nil` until it is created.
    var request: Request<Bytes>? { state.withLock { $0.content } }

    /// Whether it was cancelled before its outcome was reported.
    var isCancelled: Bool { state.withLock { $0.run.isCancelled } }

    /// Records the properties of the created request.
    func describe<Value>(_ request: Request<Value>) {
        let request = request.decoded(by: .bytes)
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

    /// The accessories that were added so far.
    var accessories: [any Accessory] { state.withLock { $0.accessories } }

    /// Notifies these accessories of the start, and keeps them until the end.
    func accompany(_ accessories: [any Accessory]) {
        if accessories.isEmpty {
            return
        }
        state.withLock { $0.accessories += accessories }
        let run = run
        for accessory in accessories {
            accessory.willStart(run)
        }
    }

    /// Adds the task to a group until all listeners were notified of its end.
    func join(_ group: CompletionGroup) {
        group.enter()
        if !ticket.whenTold({ group.leave() }) {
            group.leave()
        }
    }

    // MARK: Phases

    /// Marks the task as running, for work without a call.
    func workBegins() {
        state.withLock { state in
            if state.run.state == .waiting {
                state.run.state = .running
            }
        }
    }

    /// Sets the Swift task that does the work.
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

    /// Waits until its order among its duplicates is decided, or until it has ended.
    func waitForEntry() async throws(NetError) {
        try await entrance.value()
    }

    /// Marks the outcome as final. Returns whether the task was cancelled before.
    func beginsStopping() -> Bool {
        let task = state.withLock { state in
            state.run.state = .stopping
            defer { state.task = nil }
            return state.task
        }
        _ = task
        entrance.fulfil(.success(()))
        return isCancelled
    }

    /// Releases all references after the listeners were notified.
    func ended(with failure: NetError?) {
        resumeTransfers()
        let last = state.withLock { state in
            let last = state
            state.run.state = .stopped
            state.failure = failure
            state.earlier = []
            state.interruption = nil
            state.transfers = nil
            state.content = nil
            state.accessories = []
            state.parts = [:]
            return last
        }
        if !last.earlier.isEmpty {
            Waits.forget(id)
        }
        ticket.told()
    }

    /// Resumes a paused transfer: other callers that share it may wait for it (``Repeats``).
    private func resumeTransfers() {
        let (isPaused, transfers) = state.withLock { ($0.run.isPaused, $0.transfers) }
        if isPaused {
            ticket.setPaused(false, transfers.map(CallTicket.Grip.init))
        }
    }

    /// The error of a failed task. `nil` after a success, and before its end.
    var failure: NetError? { state.withLock { $0.failure } }

    /// Adds predecessors. Returns false if it is too late for that.
    func add(_ earlier: [EarlierStart]) -> Bool {
        state.withLock { state in
            guard state.run.state == .waiting else { return false }
            state.earlier += earlier
            return true
        }
    }

    /// Removes and returns the predecessors, for the caller that waits for them.
    func takeEarlier() -> [EarlierStart] {
        state.withLock { state in
            defer { state.earlier = [] }
            return state.earlier
        }
    }

    /// Waits while the task is paused. Throws ``NetError/Code/cancelled`` if it was cancelled.
    func passage() async throws(NetError) {
        while let gate = state.withLock({ $0.gate }) {
            try await gate.value()
        }
        if Task.isCancelled || isCancelled {
            throw NetError(.cancelled, "the start was cancelled")
        }
    }

    // MARK: Control

    /// Cancels the task. Returns false if it has ended.
    @discardableResult
    func cancel() -> Bool {
        let (isInTime, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.run.state == .waiting || state.run.state == .running else { return (false, nil) }
            state.run.isCancelled = true
            return (true, state.task)
        }
        task?.cancel()
        return isInTime
    }

    /// Pauses or resumes the task and all its parts.
    func setPaused(_ isPaused: Bool) {
        let (isChanged, gate) = state.withLock { state -> (Bool, Promise<Void>?) in
            let isUnderWay = state.run.state == .waiting || state.run.state == .running
            guard state.run.isPaused != isPaused, isUnderWay || !isPaused else { return (false, nil) }
            let last = state.gate
            state.gate = isPaused ? Promise() : nil
            state.run.isPaused = isPaused
            return (true, last)
        }
        if isChanged {
            ticket.tellPause(isPaused)
        }
        gate?.fulfil(.success(()))
        tellPauses()
        if isPaused {
            state.withLock { $0.interruption }?()
        }
    }

    /// From now on a pause ends the transfer instead of pausing it.
    func setLetsGo() {
        state.withLock { $0.letsGo = true }
    }

    /// Sets the closure that ends the current transfer on a pause. Called immediately if the task is paused.
    func setInterruption(_ interruption: (@Sendable () -> Void)?) {
        let isPaused = state.withLock { state in
            state.interruption = interruption
            return state.run.isPaused
        }
        if isPaused {
            interruption?()
        }
    }

    /// Only one thread sends the state at a time, until all parts have the current one. So the last state sent is
    /// correct.
    private func tellPauses() {
        var mayTell = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        while mayTell {
            let step = state.withLock { $0.nextPause() }
            if let step {
                if !step.letsGo {
                    ticket.setPaused(step.isPaused, step.transfers.map(CallTicket.Grip.init))
                }
                for part in step.parts {
                    part.setPaused(step.isPaused)
                }
            }
            mayTell = step != nil
        }
    }

    /// Changes the priority among waiting tasks.
    func setPriority(_ priority: Priority) {
        let (parts, transfers) = state.withLock { (Array($0.parts.values), $0.transfers) }
        ticket.setPriority(priority, transfers.map(CallTicket.Grip.init))
        for part in parts {
            part.setPriority(priority)
        }
    }

    // MARK: Parts

    /// Makes another task a part of this one, which is paused and resumed with it until it ends.
    func adopt(_ part: RunControl) {
        state.withLock { state in
            state.parts[part.id] = part
            state.toldPaused = false
        }
        tellPauses()
    }

    /// Removes a part that has ended.
    func release(_ part: RunControl) {
        _ = state.withLock { $0.parts.removeValue(forKey: part.id) }
        part.resumeTransfers()
    }
}

extension RunControl.State {
    fileprivate mutating func nextPause() -> RunControl.Pause? {
        guard toldPaused != run.isPaused else {
            isTelling = false
            return nil
        }
        toldPaused = run.isPaused
        return RunControl.Pause(
            isPaused: toldPaused, letsGo: letsGo, parts: Array(parts.values), transfers: transfers)
    }
}

extension CallTicket.Grip {
    fileprivate init(_ transfers: any TransferControl) {
        self.init(
            setPaused: { $1 ? transfers.pause($0) : transfers.resume($0) },
            setPriority: { transfers.setPriority($1, of: $0) })
    }
}

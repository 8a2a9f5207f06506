/// The reins of one start: whoever holds them can stop it, hold it up, and see how far it is.
///
/// It keeps nothing alive but what it is told to, and that until the end only.
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
        /// What it failed with, once it is over.
        var failure: NetError?
        /// Ends what is under way when it is held up; nil holds its transfers up instead.
        var interruption: (@Sendable () -> Void)?
        var letsGo = false
        // What ticket and parts were told last.
        var toldPaused = false
        var isTelling = false
    }

    let id: UInt64
    /// The type that describes what was started; nil for a plain request.
    let group: ObjectIdentifier?
    let ticket: CallTicket
    private let entrance = Promise<Void>()
    private let state: Lock<State>

    /// - Parameters:
    ///   - run: what is known of it.
    ///   - group: the type that describes it.
    ///   - transfers: what its transfers can be told; nil where there are none.
    init(_ run: Run, group: ObjectIdentifier? = nil, transfers: (any TransferControl)? = nil) {
        id = run.id
        self.group = group
        ticket = CallTicket(id: run.id) { [entrance] in entrance.fulfil(.success(())) }
        state = Lock(State(run: run, transfers: transfers))
    }

    /// What it is, and how far.
    var run: Run {
        var run = state.withLock { $0.run }
        if run.state == .waiting, ticket.isTaken {
            run.state = .running
        }
        return run
    }

    /// The request, once it is described.
    var request: Request<Bytes>? { state.withLock { $0.content } }

    /// Whether it was cancelled in time.
    var isCancelled: Bool { state.withLock { $0.run.isCancelled } }

    /// Takes down what is known now.
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

    /// Who accompanies it so far.
    var accessories: [any Accessory] { state.withLock { $0.accessories } }

    /// Tells these that it starts, and keeps them until its end.
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

    /// Puts it into a group until everybody was told how it ended.
    func join(_ group: CompletionGroup) {
        group.enter()
        if !ticket.whenTold({ group.leave() }) {
            group.leave()
        }
    }

    // MARK: Its course

    /// The work is under way, for what has no call of its own.
    func workBegins() {
        state.withLock { state in
            if state.run.state == .waiting {
                state.run.state = .running
            }
        }
    }

    /// Takes the task that does the work.
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

    /// Waits until this one's place among its repeats is decided, or it is over.
    func waitForEntry() async throws(NetError) {
        try await entrance.value()
    }

    /// The outcome counts from now on; returns whether it was cancelled before.
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

    /// Everybody was told: lets go of all.
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

    /// A transfer that it holds up goes on: others may wait for it, who have joined it (``Repeats``).
    private func resumeTransfers() {
        let (isPaused, transfers) = state.withLock { ($0.run.isPaused, $0.transfers) }
        if isPaused {
            ticket.setPaused(false, transfers.map(CallTicket.Grip.init))
        }
    }

    /// What it failed with; nil of a success, and before its end.
    var failure: NetError? { state.withLock { $0.failure } }

    /// Adds others that come first; false when it is too late for that.
    func add(_ earlier: [EarlierStart]) -> Bool {
        state.withLock { state in
            guard state.run.state == .waiting else { return false }
            state.earlier += earlier
            return true
        }
    }

    /// Those that come first, for whoever waits for them.
    func takeEarlier() -> [EarlierStart] {
        state.withLock { state in
            defer { state.earlier = [] }
            return state.earlier
        }
    }

    /// Waits while it is held up; throws ``NetError/Code/cancelled`` when it was cancelled.
    func passage() async throws(NetError) {
        while let gate = state.withLock({ $0.gate }) {
            try await gate.value()
        }
        if Task.isCancelled || isCancelled {
            throw NetError(.cancelled, "the start was cancelled")
        }
    }

    // MARK: Reins

    /// Asks for its end; false when it is over already.
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

    /// Holds it up, and all its parts, or lets them go on.
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

    /// From now on it lets go of its transfer when it is held up, instead of holding that up.
    func setLetsGo() {
        state.withLock { $0.letsGo = true }
    }

    /// Says how that is done for what is under way now; at once, when it is held up already.
    func setInterruption(_ interruption: (@Sendable () -> Void)?) {
        let isPaused = state.withLock { state in
            state.interruption = interruption
            return state.run.isPaused
        }
        if isPaused {
            interruption?()
        }
    }

    /// One thread tells at a time, until all parts are as they are wished: so the last word is the right one.
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

    /// Moves it among those that wait.
    func setPriority(_ priority: Priority) {
        let (parts, transfers) = state.withLock { (Array($0.parts.values), $0.transfers) }
        ticket.setPriority(priority, transfers.map(CallTicket.Grip.init))
        for part in parts {
            part.setPriority(priority)
        }
    }

    // MARK: Parts

    /// Makes another start a part of this one, held up with it from now on until it ends.
    func adopt(_ part: RunControl) {
        state.withLock { state in
            state.parts[part.id] = part
            state.toldPaused = false
        }
        tellPauses()
    }

    /// The part is over.
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

extension Agent {
    /// Starts a request, a batch, a chain or a graph of steps in the background.
    ///
    /// It runs to its end even if the handle and the agent are released. Its listeners are notified of the start before
    /// this function returns, and of the end on `delivery` (``TaskListener``).
    ///
    /// Pausing the handle of a batch or a chain pauses all its parts. Each part is sent as a separate request, with its
    /// own observers and listeners.
    /// - Parameters:
    ///   - operation: the request, a value that creates one, or the operation to run.
    ///   - delivery: the actor, queue or task on which the end is reported.
    ///   - options: listeners, scope and further options. ``StartOptions/pausing`` and ``StartOptions/limiter`` apply
    ///     to single requests only.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, on delivery: Delivery = .main, options: StartOptions = .init()
    ) -> CallHandle<Work.Outcome> {
        // The handle of a request has the type of the operation's outcome (``RequestConvertible``).
        if let call = operation as? any RequestConvertible,
            let handle = launch(erased: call, on: delivery, options) as? CallHandle<Work.Outcome>
        {
            return handle
        }
        return launch(operation: operation, on: delivery, options)
    }

    private func launch(
        erased call: some RequestConvertible, on delivery: Delivery, _ options: StartOptions
    ) -> any Sendable {
        launch(call, on: delivery, options)
    }

    /// Starts a request.
    func launch<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery, _ options: StartOptions
    ) -> CallHandle<Response<Call.Value>> {
        let handle = CallHandle(control: control(of: call), promise: Promise<Response<Call.Value>>())
        begin(handle, call, on: delivery, options)
        return handle
    }

    private func launch<Work: SendableOperation>(
        operation: Work, on delivery: Delivery, _ options: StartOptions
    ) -> CallHandle<Work.Outcome> {
        var launch = RequestTaskLaunch<Work.Outcome>(delivery: delivery, options: options)
        let composed = operation as? any ComposedOperation
        var task = RequestTask(kind: composed?.kind ?? .chain)
        task.tag = operation.tag
        task.userInfo = composed?.userInfo ?? [:]
        task.partCount = composed?.partCount ?? 0
        launch.listeners = composed?.listeners ?? []
        let control = TaskControl(task, group: ObjectIdentifier(Work.self), transfers: self.control)
        return launch.begin(control, in: registry) { control async throws(NetError) in
            control.markRunning()
            return try await operation.run(through: PartSender(agent: self, parent: control))
        }
    }

    /// Creates the control of a request before its start.
    func control<Call: RequestConvertible>(of call: Call) -> TaskControl {
        var run = RequestTask(kind: .request)
        if let call = call as? any Startable {
            run.tag = call.tag
            run.userInfo = call.userInfo
        }
        let request = call as? Request<Call.Value>
        if request == nil {
            run.name = String(describing: Call.self)
        }
        let group = request == nil ? Call.requestGroup : request?.group
        let control = TaskControl(run, group: group, transfers: self.control)
        if let request {
            control.describe(request)
        }
        return control
    }

    /// Starts a request whose handle exists already.
    func begin<Call: RequestConvertible>(
        _ handle: CallHandle<Response<Call.Value>>, _ call: Call, on delivery: Delivery, _ options: StartOptions
    ) {
        var launch = RequestTaskLaunch<Response<Call.Value>>(delivery: delivery, options: options)
        if let call = call as? any Startable {
            launch.listeners = call.listeners
        }
        var call = call
        if var request = call as? Request<Call.Value> {
            launch.reportOutcome = request.endProgressOnce()
            call = request as? Call ?? call
        }
        let runOptions = RunOptions(options)
        launch.begin(handle, in: registry) { [call] control async throws(NetError) in
            try await self.run(call, control, delivery, runOptions)
        }
    }

    /// Runs a request in its request task.
    private func run<Call: RequestConvertible>(
        _ call: Call, _ control: TaskControl, _ delivery: Delivery, _ options: RunOptions
    ) async throws(NetError) -> Response<Call.Value> {
        var request = try await call.taskRequest()
        let reportOutcome = request.endProgressOnce()
        defer { reportOutcome?() }
        if !(call is Request<Call.Value>) {
            control.describe(request)
            registry.updateIndex(control)
            control.add(listeners: request.listeners)
            try await control.waitWhilePaused()
        }
        request.removeListeners()
        request.transferHandle = control.transferHandle
        try await applyDuplicatePolicy(control, request)
        var permit: ConcurrencyPermit?
        if let limiter = options.limiter {
            let budget = budget(of: request, .send)
            permit = try await limiter.permits.take(for: request.erased, within: budget)
            // If a pause releases the connection, each attempt has its own time limit.
            request.budget = options.releasesConnection ? nil : budget
        }
        defer { permit?.giveBack() }
        guard let relay = ProgressRelay(control, delivery) else {
            return try await sendStarted(request, control, options)
        }
        return try await relay.follow(request) { request async throws(NetError) in
            try await self.sendStarted(request, control, options)
        }
    }

    private func sendStarted<Value>(
        _ request: Request<Value>, _ control: TaskControl, _ options: RunOptions
    ) async throws(NetError) -> Response<Value> {
        options.releasesConnection ? try await sendResumably(request, control) : try await send(request)
    }
}

/// The start options that apply while the request runs.
private struct RunOptions: Sendable {
    let limiter: ConcurrencyLimiter?
    let releasesConnection: Bool

    init(_ options: StartOptions) {
        limiter = options.limiter
        releasesConnection = options.pausing == .releasingConnection
    }
}

extension Agent {
    /// Waits for duplicates that were started earlier, or cancels them, as the request's policy requires.
    ///
    /// Request tasks run concurrently and can reach ``RequestDeduplication`` in another order than they were started
    /// in. This function makes the order of the starts decisive.
    private func applyDuplicatePolicy(_ control: TaskControl, _ request: Request<some Sendable>) async throws(NetError)
    {
        guard let policy = duplicates(of: request), policy == .ignore || policy == .cancelPrevious else { return }
        for earlier in registry.earlier(than: control) {
            // Waiting for a request that turns out to be different is harmless; cancelling it is not. Two tasks must
            // not wait for each other.
            guard earlier.mayBeDuplicate(control, isPerhaps: policy == .ignore),
                !Waits.isWaiting(earlier.id, for: control.id)
            else { continue }
            if earlier.request.flatMap({ duplicates(of: $0) }) == .allow {
                continue
            }
            if policy == .cancelPrevious {
                earlier.cancel()
            } else {
                try await earlier.waitForEntry()
            }
        }
    }

    /// Returns the request's policy for duplicates, or `nil` if no ``RequestDeduplication`` handles the request.
    private func duplicates(of request: Request<some Sendable>) -> DuplicatePolicy? {
        let own = request.hasOptions ? (request.service?.configuration.interceptors ?? []) + request.interceptors : []
        guard
            let deduplication = (configuration.interceptors + own).lazy.compactMap({ $0 as? RequestDeduplication })
                .first
        else {
            return nil
        }
        return request.duplicatePolicy ?? deduplication.policy
    }
}

/// Starts one task with its options and listeners. All request tasks start through this type.
///
///     let control = TaskControl(RequestTask(kind: .batch), transfers: agent.control)
///     let launch = RequestTaskLaunch<Value>(delivery: .main)
///     return launch.begin(control, in: agent.registry) { control async throws(NetError) in … }
struct RequestTaskLaunch<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetError>
    typealias Work = @Sendable (TaskControl) async throws(NetError) -> Value

    var delivery = Delivery.main
    var options = StartOptions()
    /// The listeners of the request, batch or chain itself.
    var listeners: [any TaskListener] = []
    /// Reports to the task's progress that the task has ended. May be called more than once.
    var reportOutcome: (@Sendable () -> Void)?

    /// Runs `work` in a new Swift task. The Swift task references everything that the work needs until all listeners
    /// were notified.
    func begin(_ control: TaskControl, in registry: TaskRegistry, work: @escaping Work) -> CallHandle<Value> {
        let handle = CallHandle(control: control, promise: Promise<Value>())
        begin(handle, in: registry, work: work)
        return handle
    }

    /// Does the same as ``begin(_:in:work:)-(TaskControl,_,_)`` with a handle that exists already.
    func begin(_ handle: CallHandle<Value>, in registry: TaskRegistry, work: @escaping Work) {
        let control = handle.control
        let notifier = TaskNotifier(delivery: delivery, reportsCancellation: options.reportsCancellation)
        let work = Lock<Work?>(work)
        let mayBegin = registry.insert(control)
        // A listener may pause the task when it starts, so the kind of pause is set before.
        if options.pausing == .releasingConnection {
            control.setReleasesConnection()
        }
        control.add(listeners: listeners, ofStart: options.listeners)
        let optionsError = addDependencies(to: control)
        let refusal = mayBegin ? optionsError : InFlightRequests.closed
        let unregister: @Sendable () -> Void = { registry.remove(control) }
        let task = Task { [reportOutcome] in
            let outcome = await InFlightRequests.$currentAgent.withValue(ObjectIdentifier(registry.flights)) {
                await Self.outcome(of: work, control, refusal)
            }
            reportOutcome?()
            let processed = await notifier.prepare(outcome, of: control)
            let reported = await notifier.notify(processed, of: control, unregister: unregister)
            handle.promise.fulfil(reported)
        }
        control.began(task)
    }

    /// Makes the task wait for the tasks of its options. Returns the error if it cannot.
    private func addDependencies(to control: TaskControl) -> NetError? {
        do throws(NetError) {
            try control.addDependencies(options.after)
            return nil
        } catch {
            return error
        }
    }

    /// Runs the work and returns its outcome. The work closure and everything that it captures are released before any
    /// listener is notified.
    private static func outcome(of work: Lock<Work?>, _ control: TaskControl, _ refusal: NetError?) async -> Outcome {
        let operation = work.withLock { work in
            defer { work = nil }
            return work
        }
        do throws(NetError) {
            if let refusal {
                throw refusal
            }
            try await control.waitForDependencies()
            try await control.waitWhilePaused()
            guard let operation else { throw NetError(.internal, "a request was started twice") }
            return .success(try await operation(control))
        } catch {
            return .failure(error)
        }
    }
}

/// Reports the progress of a transfer to the task's listeners, where the task delivers. Values that cannot be reported in
/// time are dropped, except the newest. Nothing is reported after the task has ended.
struct ProgressRelay: Sendable {
    private let control: TaskControl
    private let delivery: Delivery

    /// Returns `nil` if no listener of the task follows the progress.
    init?(_ control: TaskControl, _ delivery: Delivery) {
        guard control.allListeners.contains(where: \.followsProgress) else { return nil }
        self.control = control
        self.delivery = delivery
    }

    /// Sends the request with `send`, reports its progress, and returns after the last report.
    func follow<Value, Outcome: Sendable>(
        _ request: Request<Value>, send: (Request<Value>) async throws(NetError) -> Outcome
    ) async throws(NetError) -> Outcome {
        let (handler, updates) = TransferProgress.stream()
        var observedRequest = request
        observedRequest.progress = { [own = request.progress] progress in
            own?(progress)
            handler(progress)
        }
        async let reports: Void = report(updates)
        let outcome: Result<Outcome, NetError>
        do throws(NetError) {
            outcome = .success(try await send(observedRequest))
        } catch {
            outcome = .failure(error)
        }
        handler(.over)
        await reports
        return try outcome.get()
    }

    private func report(_ updates: AsyncStream<TransferProgress>) async {
        for await progress in updates {
            await delivery.run { [control] in
                if control.isCancelled {
                    return
                }
                let task = control.run
                for listener in control.allListeners where listener.followsProgress {
                    listener.report(progress, of: task)
                }
            }
        }
    }
}

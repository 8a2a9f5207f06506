/// The start of one task: its accessories, its listeners and where they are called. All tasks start through this type.
///
///     let control = RunControl(Run(kind: .batch), transfers: agent.control)
///     return Launch(delivery: .main).begin(control, in: agent.registry) { control async throws(NetError) in … }
struct Launch<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetError>
    typealias Work = @Sendable (RunControl) async throws(NetError) -> Value

    var delivery = Delivery.main
    var options = StartOptions()
    var hooks = OutcomeHooks<Value>()
    /// The accessories of the request, batch or chain itself.
    var accessories: [any Accessory] = []
    weak var delegate: (any RunDelegate)?
    var completion: (@Sendable (Outcome) -> Void)?
    /// Notifies the progress that the task has ended; may be called more than once.
    var tellOver: (@Sendable () -> Void)?

    /// Does `work` in a Swift task, which keeps its dependencies until all listeners were notified.
    func begin(_ control: RunControl, in registry: RunRegistry, work: @escaping Work) -> CallHandle<Value> {
        let handle = CallHandle(control: control, promise: Promise<Value>())
        begin(handle, in: registry, work: work)
        return handle
    }

    /// As ``begin(_:in:work:)-(RunControl,_,_)``, for a caller that already has the handle.
    func begin(_ handle: CallHandle<Value>, in registry: RunRegistry, work: @escaping Work) {
        let control = handle.control
        let audience = Audience(self)
        let work = Lock<Work?>(work)
        let mayBegin = registry.insert(control)
        if let group = options.completionGroup {
            control.join(group)
        }
        options.scope?.insert(control)
        control.accompany(accessories + options.accessories)
        let taken = take(control)
        let refusal = mayBegin ? taken : Flights.closed
        let forget: @Sendable () -> Void = { [weak scope = options.scope] in
            registry.remove(control)
            scope?.remove(control)
        }
        let task = Task { [tracking = options.tracking, tellOver] in
            let outcome = await Flights.$aboard.withValue(ObjectIdentifier(registry.flights)) {
                await Self.outcome(of: work, control, refusal)
            }
            tellOver?()
            let processed = await audience.preprocess(outcome, of: control)
            let told = await audience.tell(processed, of: control, forgetting: forget)
            tracking?.ended(told)
            handle.promise.fulfil(told)
        }
        control.began(task)
    }

    /// Applies the options to the task's control. Returns an error if that is impossible.
    private func take(_ control: RunControl) -> NetError? {
        if options.pausing == .lettingGo {
            control.setLetsGo()
        }
        options.tracking?.follow(control)
        do throws(NetError) {
            try control.come(after: options.after)
            return nil
        } catch {
            return error
        }
    }

    /// Releases everything that the work holds before any listener is notified.
    private static func outcome(of work: Lock<Work?>, _ control: RunControl, _ refusal: NetError?) async -> Outcome {
        let taken = work.withLock { work in
            defer { work = nil }
            return work
        }
        do throws(NetError) {
            if let refusal {
                throw refusal
            }
            try await control.waitForEarlier()
            try await control.passage()
            guard let taken else { throw NetError(.internal, "a start was run twice") }
            return .success(try await taken(control))
        } catch {
            return .failure(error)
        }
    }
}

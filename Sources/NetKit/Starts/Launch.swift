/// One start of anything: who accompanies it, who is told, and where. This is the only place that runs one.
///
///     let control = RunControl(Run(kind: .batch), transfers: agent.control)
///     return Launch(delivery: .main).begin(control, in: agent.registry) { control async throws(NetError) in … }
struct Launch<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetError>
    typealias Work = @Sendable (RunControl) async throws(NetError) -> Value

    var delivery = Delivery.main
    var options = StartOptions()
    var hooks = OutcomeHooks<Value>()
    /// The accessories that what is started brings itself.
    var accessories: [any Accessory] = []
    weak var delegate: (any RunDelegate)?
    var completion: (@Sendable (Outcome) -> Void)?
    /// Tells who follows the progress of what is started that it is over; more than once is no matter.
    var tellOver: (@Sendable () -> Void)?

    /// Does `work` on a task of its own, which keeps all that it needs until everybody was told.
    func begin(_ control: RunControl, in registry: RunRegistry, work: @escaping Work) -> CallHandle<Value> {
        let handle = CallHandle(control: control, promise: Promise<Value>())
        begin(handle, in: registry, work: work)
        return handle
    }

    /// As ``begin(_:in:work:)-(RunControl,_,_)``, for one who has the handle already.
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

    /// What the options say of its reins; returns why it cannot be done.
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

    /// What the work holds is let go before anybody is told.
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

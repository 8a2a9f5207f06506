extension Agent {
    /// Starts an errand: a batch, a chain, a graph of steps; and tells a delegate, or nobody.
    ///
    /// Everything is as for a request that is started: it runs to its end whether or not anybody holds the handle, and
    /// all are told in the same order, once for the whole. The handle holds up all of its parts. Those are sent as by
    /// themselves: their own observers, accessories and hooks see them, once.
    /// - Parameters:
    ///   - errand: what is done.
    ///   - delivery: where its end is told.
    ///   - options: who else accompanies it, and which scope ends it. ``StartOptions/tracking`` follows its parts;
    ///     ``StartOptions/progress``, ``StartOptions/pausing`` and ``StartOptions/lane`` are for requests.
    ///   - delegate: kept weakly.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RunDelegate)? = nil
    ) -> CallHandle<Work.Outcome> {
        launch(errand, on: delivery, options, delegate, nil)
    }

    /// As ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls one closure of two on the main actor,
    /// after the delegate.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        success: @escaping @MainActor (Work.Outcome) -> Void, failure: @escaping @MainActor (NetError) -> Void
    ) -> CallHandle<Work.Outcome> {
        start(errand, options: options, delegate: delegate) { result in
            switch result {
            case .success(let outcome): success(outcome)
            case .failure(let error): failure(error)
            }
        }
    }

    /// As ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls a closure on the main actor, after the delegate.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        completion: @escaping @MainActor (Result<Work.Outcome, NetError>) -> Void
    ) -> CallHandle<Work.Outcome> {
        launch(errand, on: .main, options, delegate) { result in
            MainActor.assumeIsolated { completion(result) }
        }
    }

    /// As ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls a closure there, after the delegate.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, on delivery: Delivery, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        completion: @escaping @Sendable (Result<Work.Outcome, NetError>) -> Void
    ) -> CallHandle<Work.Outcome> {
        launch(errand, on: delivery, options, delegate, completion)
    }

    private func launch<Work: Errand>(
        _ errand: Work, on delivery: Delivery, _ options: StartOptions, _ delegate: (any RunDelegate)?,
        _ completion: (@Sendable (Result<Work.Outcome, NetError>) -> Void)?
    ) -> CallHandle<Work.Outcome> {
        var launch = Launch<Work.Outcome>(delivery: delivery, options: options)
        launch.delegate = delegate
        launch.completion = completion
        let composed = errand as? any ComposedErrand
        var run = Run(kind: composed?.kind ?? .chain)
        run.tag = errand.tag
        run.userInfo = composed?.userInfo ?? [:]
        launch.accessories = composed?.accessories ?? []
        let control = RunControl(run, group: ObjectIdentifier(Work.self), transfers: self.control)
        if let count = composed?.partCount {
            options.tracking?.expect(count)
        }
        return launch.begin(control, in: registry) { control async throws(NetError) in
            control.workBegins()
            let sender = PartSender(agent: self, whole: control, tracking: options.tracking)
            return try await errand.run(through: sender)
        }
    }
}

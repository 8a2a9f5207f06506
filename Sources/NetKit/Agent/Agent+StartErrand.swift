extension Agent {
    /// Starts a batch, a chain or a graph of steps in the background, and optionally notifies a delegate.
    ///
    /// As with a started request, the work runs to its end even if the handle is released. The same notifications come
    /// in the same order, once for the whole. Pausing the handle pauses all of its parts. The parts are sent as
    /// independent requests: their own observers, accessories and hooks are called once.
    /// - Parameters:
    ///   - errand: the work to run.
    ///   - delivery: where the end is reported.
    ///   - options: accessories, scope and further options. ``StartOptions/tracking`` follows the parts;
    ///     ``StartOptions/progress``, ``StartOptions/pausing`` and ``StartOptions/lane`` apply to single requests only.
    ///   - delegate: kept weakly.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RunDelegate)? = nil
    ) -> CallHandle<Work.Outcome> {
        launch(errand, on: delivery, options, delegate, nil)
    }

    /// Starts work as ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls one of two closures on the main actor,
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

    /// Starts work as ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls a closure on the main actor, after the
    /// delegate.
    @discardableResult
    public func start<Work: Errand>(
        _ errand: Work, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        completion: @escaping @MainActor (Result<Work.Outcome, NetError>) -> Void
    ) -> CallHandle<Work.Outcome> {
        launch(errand, on: .main, options, delegate) { result in
            MainActor.assumeIsolated { completion(result) }
        }
    }

    /// Starts work as ``start(_:on:options:delegate:)-(Work,_,_,_)``, and calls a closure on `delivery`, after the
    /// delegate.
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

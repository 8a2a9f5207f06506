extension Agent {
    /// Starts a request in the background and optionally notifies a delegate.
    ///
    /// The request runs to its end even if the handle, the delegate and the agent are released. Its accessories are
    /// notified of the start before this function returns. At the end these run on `delivery`, without interruption and
    /// in this order:
    /// 1. accessories: will stop
    /// 2. the filter, the delegate and the closure
    /// 3. accessories: did stop
    /// 4. closures and accessories are released, and the delegate receives ``RunDelegate/runCleared(_:)``
    ///
    /// The order is the same for a cached response, for an error before anything is sent, and for a cancelled request.
    /// The delegate and the closure learn of a cancelled request only if the options require it.
    /// - Parameters:
    ///   - call: the request, or a value that creates one.
    ///   - delivery: where the end is reported.
    ///   - options: accessories, scope and further options.
    ///   - delegate: kept weakly.
    @discardableResult
    public func start<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RunDelegate)? = nil
    ) -> CallHandle<Response<Call.Value>> {
        launch(call, on: delivery, options, delegate, nil)
    }

    /// Starts a request as ``start(_:on:options:delegate:)-(Call,_,_,_)``, and calls one of two closures on the main
    /// actor, after the delegate.
    @discardableResult
    public func start<Call: RequestConvertible>(
        _ call: Call, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        success: @escaping @MainActor (Response<Call.Value>) -> Void, failure: @escaping @MainActor (NetError) -> Void
    ) -> CallHandle<Response<Call.Value>> {
        start(call, options: options, delegate: delegate) { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Starts a request as ``start(_:on:options:delegate:)-(Call,_,_,_)``, and calls a closure on the main actor, after
    /// the delegate.
    @discardableResult
    public func start<Call: RequestConvertible>(
        _ call: Call, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        completion: @escaping @MainActor (Result<Response<Call.Value>, NetError>) -> Void
    ) -> CallHandle<Response<Call.Value>> {
        launch(call, on: .main, options, delegate) { result in
            MainActor.assumeIsolated { completion(result) }
        }
    }

    /// Starts a request as ``start(_:on:options:delegate:)-(Call,_,_,_)``, and calls one of two closures on `delivery`,
    /// after the delegate.
    @discardableResult
    public func start<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        success: @escaping @Sendable (Response<Call.Value>) -> Void, failure: @escaping @Sendable (NetError) -> Void
    ) -> CallHandle<Response<Call.Value>> {
        launch(call, on: delivery, options, delegate) { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Starts a request as ``start(_:on:options:delegate:)-(Call,_,_,_)``, and calls a closure on `delivery`, after the
    /// delegate.
    @discardableResult
    public func start<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery, options: StartOptions = .init(), delegate: (any RunDelegate)? = nil,
        completion: @escaping @Sendable (Result<Response<Call.Value>, NetError>) -> Void
    ) -> CallHandle<Response<Call.Value>> {
        launch(call, on: delivery, options, delegate, completion)
    }

    /// Starts a request; every start of a request uses this function.
    func launch<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery, _ options: StartOptions, _ delegate: (any RunDelegate)?,
        _ completion: (@Sendable (Result<Response<Call.Value>, NetError>) -> Void)?
    ) -> CallHandle<Response<Call.Value>> {
        let handle = CallHandle(control: control(of: call), promise: Promise<Response<Call.Value>>())
        begin(handle, call, on: delivery, options, delegate, completion)
        return handle
    }

    /// Returns the control of a request that is not started yet.
    func control<Call: RequestConvertible>(of call: Call) -> RunControl {
        var run = Run(kind: .request)
        if let call = call as? any Startable {
            run.tag = call.tag
            run.userInfo = call.userInfo
        }
        let request = call as? Request<Call.Value>
        if request == nil {
            run.name = String(describing: Call.self)
        }
        let group = request == nil ? ObjectIdentifier(Call.self) : request?.group
        let control = RunControl(run, group: group, transfers: self.control)
        if let request {
            control.describe(request)
            if let group = request.completionGroup {
                control.join(group)
            }
        }
        return control
    }

    /// Starts the request that belongs to a control.
    func begin<Call: RequestConvertible>(
        _ handle: CallHandle<Response<Call.Value>>, _ call: Call, on delivery: Delivery, _ options: StartOptions,
        _ delegate: (any RunDelegate)?, _ completion: (@Sendable (Result<Response<Call.Value>, NetError>) -> Void)?
    ) {
        var launch = Launch<Response<Call.Value>>(delivery: delivery, options: options)
        launch.delegate = delegate
        launch.completion = completion
        if let call = call as? any Startable {
            launch.accessories = call.accessories
            launch.hooks = call.hooks(for: Response<Call.Value>.self)
        }
        var call = call
        if var request = call as? Request<Call.Value> {
            launch.tellOver = request.endProgressOnce()
            call = request as? Call ?? call
        }
        let progress = ProgressRelay(launch)
        let course = StartCourse(options)
        launch.begin(handle, in: registry) { [call] control async throws(NetError) in
            try await self.run(call, control, progress, course)
        }
    }

    /// Runs a started request.
    private func run<Call: RequestConvertible>(
        _ call: Call, _ control: RunControl, _ progress: ProgressRelay?, _ course: StartCourse
    ) async throws(NetError) -> Response<Call.Value> {
        var request = try await call.groupedRequest()
        let tellOver = request.endProgressOnce()
        defer { tellOver?() }
        if !(call is Request<Call.Value>) {
            control.describe(request)
            registry.mark(control)
            control.accompany(request.accessories)
            if let group = request.completionGroup {
                control.join(group)
            }
            try await control.passage()
        }
        request.forgetCompany()
        request.ticket = control.ticket
        course.tracking?.watch(&request)
        course.part?.watch(&request)
        try await takeTurn(control, request)
        var slot: TakenSlot?
        if let lane = course.lane {
            let budget = budget(of: request, .send)
            slot = try await lane.slots.take(for: request.decoded(by: .bytes), within: budget)
            // Each go has its own time.
            request.budget = course.letsGo ? nil : budget
        }
        defer { slot?.giveBack() }
        guard let progress else { return try await sendStarted(request, control, course) }
        return try await progress.follow(request, control) { request async throws(NetError) in
            try await self.sendStarted(request, control, course)
        }
    }

    private func sendStarted<Value>(
        _ request: Request<Value>, _ control: RunControl, _ course: StartCourse
    ) async throws(NetError) -> Response<Value> {
        course.letsGo ? try await sendInGoes(request, control) : try await send(request)
    }
}

/// The start options that running the request needs.
private struct StartCourse: Sendable {
    let lane: CallLane?
    let tracking: CallProgress?
    let part: CallProgress?
    let letsGo: Bool

    init(_ options: StartOptions) {
        part = options.part
        lane = options.lane
        tracking = options.tracking
        letsGo = options.pausing == .lettingGo
    }
}

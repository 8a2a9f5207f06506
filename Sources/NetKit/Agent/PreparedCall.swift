/// A call that is created before it is started. It has a number, can wait for other calls, and can be started once.
///
///     let login = agent.prepare(signIn)
///     let cities = agent.prepare(Request<[City]>("cities"))
///     try cities.come(after: login.handle.succeeded)
///     try await agent.send(Batch([cities]).collectingAll)        // or cities.start()
///
/// It can be a member of a ``Batch`` or a step of a chain, which then starts it. For the batch or the chain, it ends
/// after its listeners were notified. If it is released before it was started, it ends as cancelled. Thread-safe.
public final class PreparedCall<Value: Sendable>: SendableOperation, WaitingOperation {
    /// The handle of the call, which exists before the start. If it is cancelled before the start, the call ends at its
    /// start and nothing is sent.
    public let handle: CallHandle<Response<Value>>
    let earlier: [TaskDependency]
    private let startClosure: Lock<(@Sendable ([any TaskListener]) -> Void)?>

    init(
        _ handle: CallHandle<Response<Value>>, after earlier: [TaskDependency],
        begin: @escaping @Sendable ([any TaskListener]) -> Void
    ) {
        self.handle = handle
        self.earlier = earlier
        startClosure = Lock(begin)
    }

    deinit {
        let isUnused = startClosure.withLock { $0 != nil }
        if isUnused {
            let error = NetError(.cancelled, "the prepared request was released before it was started")
            handle.control.ended(with: error)
            handle.promise.fulfil(.failure(error))
        }
    }

    /// The tag of the request.
    public var tag: Int { handle.task.tag }

    /// The number of the call, unique in the process.
    public var id: UInt64 { handle.id }

    /// Starts the call. A second start does nothing.
    @discardableResult
    public func start() -> CallHandle<Response<Value>> {
        start(adding: [])
        return handle
    }

    /// Starts the call with further listeners. Returns false if it was started already.
    @discardableResult
    private func start(adding listeners: [any TaskListener]) -> Bool {
        let begin = startClosure.withLock { begin in
            defer { begin = nil }
            return begin
        }
        begin?(listeners)
        return begin != nil
    }

    /// Makes this call wait for other calls, in addition to those in its ``StartOptions/after``.
    ///
    /// - Throws: ``NetError/Code/usage`` if one of the other calls waits for this one, or if this call was started
    ///   already.
    public func come(after earlier: TaskDependency...) throws(NetError) {
        if startClosure.withLock({ $0 == nil }) {
            throw NetError(.usage, "a request that was started cannot be made to wait for others")
        }
        try handle.control.addDependencies(earlier)
    }

    /// Starts the call, and returns after its end was reported.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        let partSender = sender as? PartSender
        let listeners = partSender?.partListeners ?? []
        let late = start(adding: listeners) ? [] : listeners
        late.forEach { $0.willStart(handle.task) }
        let result: Result<Response<Value>, NetError>
        do throws(NetError) {
            if let partSender {
                result = .success(try await partSender.outcome(of: handle))
            } else {
                result = .success(try await handle.outcome())
            }
        } catch {
            result = .failure(error)
        }
        for listener in late {
            listener.willStop(handle.task)
            _ = listener.deliver(result, of: handle.task)
            listener.didStop(handle.task)
            listener.cleared(handle.task)
        }
        return try result.get()
    }
}

extension Agent {
    /// Creates a call of a request or an endpoint. To start it, call ``PreparedCall/start()``.
    ///
    /// - Parameters:
    ///   - call: the request, or a value that creates one.
    ///   - delivery: the actor, queue or task on which the end is reported.
    ///   - options: the options of the start.
    public func prepare<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery = .main, options: StartOptions = .init()
    ) -> PreparedCall<Call.Value> {
        let handle = CallHandle(control: control(of: call), promise: Promise<Response<Call.Value>>())
        return PreparedCall(handle, after: options.after) { listeners in
            var options = options
            options.listeners += listeners
            self.begin(handle, call, on: delivery, options)
        }
    }
}

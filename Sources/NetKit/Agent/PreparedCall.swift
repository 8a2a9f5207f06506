/// A call that is created and not started. It has a number, can wait for other calls, and is started once.
///
///     let login = agent.prepare(signIn) { result in … }
///     let cities = agent.prepare(Request<[City]>("cities")) { result in show(result) }
///     try cities.come(after: login.handle.succeeded)
///     try await agent.send(Batch([cities]).collectingAll)        // or cities.start()
///
/// As a member of a ``Batch``, or as a step, it is started there, once. It ends for them after its own completion was
/// called. Releasing it without a start ends it as cancelled. Thread-safe.
public final class PreparedCall<Value: Sendable>: Errand, WaitingErrand {
    /// Called at its end.
    public typealias Completion = @Sendable (Result<Response<Value>, NetError>) -> Void

    /// Its handle, also before the start. If it is cancelled before, it ends at its start without being sent.
    public let handle: CallHandle<Response<Value>>
    let earlier: [EarlierStart]
    private let beginning: Lock<(@Sendable (CallProgress?) -> Void)?>

    init(
        _ handle: CallHandle<Response<Value>>, after earlier: [EarlierStart],
        begin: @escaping @Sendable (CallProgress?) -> Void
    ) {
        self.handle = handle
        self.earlier = earlier
        beginning = Lock(begin)
    }

    deinit {
        let isUnused = beginning.withLock { $0 != nil }
        if isUnused {
            let error = NetError(.cancelled, "the call was let go before it was started")
            handle.control.ended(with: error)
            handle.promise.fulfil(.failure(error))
        }
    }

    /// The request's tag.
    public var tag: Int { handle.run.tag }

    /// Its number, unique in the process.
    public var id: UInt64 { handle.id }

    /// Starts it. A second start does nothing.
    @discardableResult
    public func start() -> CallHandle<Response<Value>> {
        start(toldTo: nil)
    }

    private func start(toldTo part: CallProgress?) -> CallHandle<Response<Value>> {
        let begin = beginning.withLock { begin in
            defer { begin = nil }
            return begin
        }
        begin?(part)
        return handle
    }

    /// Makes it wait for other calls, in addition to those of its options.
    ///
    /// - Throws: ``NetError/Code/usage`` if one of them waits for it, or if it was started already.
    public func come(after earlier: EarlierStart...) throws(NetError) {
        if beginning.withLock({ $0 == nil }) {
            throw NetError(.usage, "what was started cannot be made to wait for others")
        }
        try handle.control.come(after: earlier)
    }

    /// Starts it, and returns after its end was reported.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        let parts = sender as? PartSender
        let part = parts?.tracking?.part()
        _ = start(toldTo: part)
        let result: Result<Response<Value>, NetError>
        do throws(NetError) {
            if let parts {
                result = .success(try await parts.outcome(of: handle))
            } else {
                result = .success(try await handle.outcome())
            }
        } catch {
            result = .failure(error)
        }
        part?.ended(result)
        return try result.get()
    }
}

extension Agent {
    /// Creates a call of a request or an endpoint, without starting it.
    ///
    /// - Parameters:
    ///   - call: the request, or a value that creates one.
    ///   - delivery: where the end is reported.
    ///   - options: the options of a start.
    ///   - delegate: kept weakly, from its start on.
    ///   - completion: called at its end, after the delegate.
    public func prepare<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RunDelegate)? = nil, completion: PreparedCall<Call.Value>.Completion? = nil
    ) -> PreparedCall<Call.Value> {
        let handle = CallHandle(control: control(of: call), promise: Promise<Response<Call.Value>>())
        return PreparedCall(handle, after: options.after) { [weak delegate] part in
            var options = options
            options.part = part
            self.begin(handle, call, on: delivery, options, delegate, completion)
        }
    }
}

/// Takes part in the start and the end of request tasks. A task can be a request, a batch or a chain.
///
///     struct Dimmer: TaskListener {
///         func willStart(_ task: RequestTask) { … }
///         func didStop(_ task: RequestTask) { … }
///     }
///     agent.start(request, options: .init(listeners: [Dimmer()]))
///
/// The methods of all listeners are called in this order:
/// 1. ``willStart(_:)``
/// 2. ``report(_:of:)``, any number of times
/// 3. ``prepare(_:of:)``
/// 4. ``willStop(_:)``, ``deliver(_:of:)``, ``didStop(_:)`` and ``cleared(_:)``, with no other work in between
///
/// The order is the same for a response from the network or a cache, for an error before anything is sent, and for a
/// cancelled task. The listeners of the request are called before those of the start (``StartOptions/listeners``).
///
/// The task keeps its listeners alive until it ends. The listeners of a request are also called if it is sent with
/// another function, such as `send(_:)`, `download(_:to:)`, `open(_:)` or `stream(_:)`. All methods are optional.
///
/// The value of the outcome depends on the call:
/// - a request: a ``Response`` of its value. Each response of ``Agent/answers(to:)`` is prepared and delivered.
/// - a ``Download``: a ``Response`` of a ``DownloadedFile``; ``Agent/open(_:)``: a ``ChainResponse``. See
///   ``needsDecodedValue``.
/// - a stream: a ``Response`` of `Void` at the end of the body
/// - a batch or a chain: its outcome
public protocol TaskListener: Sendable {
    /// Whether ``report(_:of:)`` is called; false by default.
    var followsProgress: Bool { get }
    /// Whether the listener needs the decoded value of a download or an opened response; false by default. If true, it
    /// receives the ``Response`` that the request would have. It can then refuse the outcome, but not replace it.
    ///
    /// The file of a download must not be larger than ``Limits/maxBodyBytes``, unless the value is `Void`. A body that is
    /// streamed has no decoded value, and the listener receives no outcome.
    var needsDecodedValue: Bool { get }
    /// Called on the thread that starts the task, before anything else is done. If the request is created later, its own
    /// listeners are called then.
    func willStart(_ task: RequestTask)
    /// Returns the listener of one request of a batch, chain or graph, before the request starts; `nil` by default. A
    /// request with such a listener is a request task of its own.
    func partListener(of task: RequestTask) -> (any TaskListener)?
    /// Called with the progress of the request's transfer, where the task delivers (``Delivery``). Not called for a
    /// stream or for ``Agent/answers(to:)``.
    func report(_ progress: TransferProgress, of task: RequestTask)
    /// Receives the outcome first, and returns it or replaces it. Not called for a cancelled task, unless
    /// ``StartOptions/reportsCancellation`` is true.
    func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) async -> Result<Value, NetError>
    /// Called when the task has ended. It runs where the task delivers (``Delivery``), as all methods that follow.
    func willStop(_ task: RequestTask)
    /// Receives the outcome, and returns it or replaces it for the listeners behind this one and for the handle. Not
    /// called for a cancelled task, unless ``StartOptions/reportsCancellation`` is true.
    func deliver<Value: Sendable>(_ outcome: Result<Value, NetError>, of task: RequestTask) -> Result<Value, NetError>
    /// Called after all listeners have received the outcome.
    func didStop(_ task: RequestTask)
    /// Called last, when the agent no longer lists the task.
    func cleared(_ task: RequestTask)
}

extension TaskListener {
    /// Returns false.
    public var followsProgress: Bool { false }
    /// Returns false.
    public var needsDecodedValue: Bool { false }
    /// Does nothing.
    public func willStart(_ task: RequestTask) {}
    /// Returns `nil`.
    public func partListener(of task: RequestTask) -> (any TaskListener)? { nil }
    /// Does nothing.
    public func report(_ progress: TransferProgress, of task: RequestTask) {}
    /// Returns the outcome.
    public func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) async -> Result<Value, NetError> { outcome }
    /// Does nothing.
    public func willStop(_ task: RequestTask) {}
    /// Returns the outcome.
    public func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> { outcome }
    /// Does nothing.
    public func didStop(_ task: RequestTask) {}
    /// Does nothing.
    public func cleared(_ task: RequestTask) {}
}

/// Passes the outcome of a call whose value is not decoded, such as the file of a download, to a listener that needs the
/// decoded value (``TaskListener/needsDecodedValue``). The listener can refuse the outcome but not replace it.
private struct DecodingListener<Outcome: Sendable, Decoded: Sendable>: TaskListener {
    let listener: any TaskListener
    /// Returns the decoded value, or `nil` if there is none. Then the listener does not receive the outcome.
    let decode: @Sendable (Outcome) async throws(NetError) -> Decoded?
    /// The value that ``prepare(_:of:)`` returned, for ``deliver(_:of:)``.
    let prepared = Lock(Decoded?.none)

    var followsProgress: Bool { listener.followsProgress }

    func willStart(_ task: RequestTask) { listener.willStart(task) }

    func report(_ progress: TransferProgress, of task: RequestTask) { listener.report(progress, of: task) }

    func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) async -> Result<Value, NetError> {
        guard case .success(let value) = outcome else { return await listener.prepare(outcome, of: task) }
        do throws(NetError) {
            guard let value = value as? Outcome, let decoded = try await decode(value) else { return outcome }
            let replaced = try await listener.prepare(Result<Decoded, NetError>.success(decoded), of: task).get()
            prepared.withLock { $0 = replaced }
            return outcome
        } catch {
            return .failure(error)
        }
    }

    func willStop(_ task: RequestTask) { listener.willStop(task) }

    func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        guard case .success = outcome else { return listener.deliver(outcome, of: task) }
        guard let value = prepared.withLock({ $0 }) else { return outcome }
        return listener.deliver(Result<Decoded, NetError>.success(value), of: task).failure.map { .failure($0) }
            ?? outcome
    }

    func didStop(_ task: RequestTask) { listener.didStop(task) }

    func cleared(_ task: RequestTask) {
        prepared.withLock { $0 = nil }
        listener.cleared(task)
    }
}

extension [any TaskListener] {
    /// Returns the listeners for a call whose value is not decoded. Those that need the decoded value receive the result
    /// of `decode`, or no outcome if that is `nil`.
    func decoding<Outcome: Sendable, Decoded: Sendable>(
        _ decode: @escaping @Sendable (Outcome) async throws(NetError) -> Decoded?
    ) -> [any TaskListener] {
        map { $0.needsDecodedValue ? DecodingListener(listener: $0, decode: decode) : $0 }
    }
}

/// Notifies the listeners of one task of its end.
struct TaskNotifier: Sendable {
    let delivery: Delivery
    let reportsCancellation: Bool

    /// Passes the outcome through the listeners, on the current thread.
    func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of control: TaskControl
    ) async -> Result<Value, NetError> {
        let listeners = control.allListeners
        guard !listeners.isEmpty, !isSilent(outcome, control) else { return outcome }
        let task = control.run
        var outcome = outcome
        for listener in listeners {
            outcome = await listener.prepare(outcome, of: task)
        }
        return outcome
    }

    /// Passes an outcome that is not the last one of the task through the listeners.
    func pass<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of control: TaskControl
    ) async -> Result<Value, NetError> {
        let prepared = await prepare(outcome, of: control)
        return await delivery.run { [self] in deliver(prepared, to: control.allListeners, control) }
    }

    /// Notifies all listeners in one uninterrupted call where the task delivers, and returns the outcome that they
    /// received.
    func notify<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of control: TaskControl, unregister: @escaping @Sendable () -> Void
    ) async -> Result<Value, NetError> {
        await delivery.run { [self] in
            var reported = outcome
            if control.beginsStopping(), !outcome.isCancelled {
                reported = .failure(NetError(.cancelled, "cancelled before the outcome was delivered"))
            }
            Self.end(control, unregister) { listeners in
                reported = deliver(reported, to: listeners, control)
                return reported.failure
            }
            return reported
        }
    }

    /// Notifies all listeners of the end of a task, on the current thread.
    ///
    /// - Parameter deliver: delivers the outcome, and returns the error of a failed task.
    static func end(
        _ control: TaskControl, _ unregister: () -> Void, deliver: ([any TaskListener]) -> NetError?
    ) {
        let (listeners, task) = (control.allListeners, control.run)
        for listener in listeners {
            listener.willStop(task)
        }
        let failure = deliver(listeners)
        for listener in listeners {
            listener.didStop(task)
        }
        unregister()
        control.ended(with: failure)
        for listener in listeners {
            listener.cleared(control.run)
        }
    }

    private func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, to listeners: [any TaskListener], _ control: TaskControl
    ) -> Result<Value, NetError> {
        guard !listeners.isEmpty, !isSilent(outcome, control) else { return outcome }
        let task = control.run
        return listeners.reduce(outcome) { $1.deliver($0, of: task) }
    }

    /// Returns true if the outcome is a cancellation that is not reported. If only a member of a batch or chain was
    /// cancelled, the batch or chain still reports the failure, because its owner did not cancel it.
    private func isSilent(_ outcome: Result<some Sendable, NetError>, _ control: TaskControl) -> Bool {
        guard !reportsCancellation, let error = outcome.failure, error.code == .cancelled else { return false }
        return error.failedMember == nil || control.isCancelled
    }
}

extension Result where Failure == NetError {
    /// The error of a failure; otherwise `nil`.
    var failure: NetError? {
        if case .failure(let error) = self { error } else { nil }
    }

    fileprivate var isCancelled: Bool { failure?.code == .cancelled }
}

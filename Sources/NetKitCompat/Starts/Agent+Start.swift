public import NetKit

/// Starting with a delegate or closures.
///
/// A task starts and ends as with `Agent.start(_:on:options:)`. At the end, these run on `delivery` in this order, with
/// no other work in between:
/// 1. accessories: will stop
/// 2. the filter of the hooks, the delegate and the closure
/// 3. accessories: did stop
/// 4. closures and accessories are released, and the delegate receives ``RequestTaskDelegate/runCleared(_:)``
///
/// If the task is cancelled, the delegate and the closure are called only if the options require it
/// (`reportsCancellation`).
extension Agent {
    /// Starts a request, a batch, a chain or a graph of steps in the background, and notifies a delegate.
    ///
    /// - Parameters:
    ///   - operation: the request, a value that creates one, or the operation to run.
    ///   - delivery: the actor, queue or task on which the end is reported.
    ///   - options: accessories, scope and further options.
    ///   - delegate: the delegate, which is referenced weakly.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RequestTaskDelegate)?
    ) -> CallHandle<Work.Outcome> {
        start(operation, on: delivery, options: options.adding(delegate, nil as CompletionListener<Work.Outcome>?))
    }

    /// Starts an operation, and calls one of two closures on the main actor, after the delegate.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, options: StartOptions = .init(), delegate: (any RequestTaskDelegate)? = nil,
        success: @escaping @MainActor (Work.Outcome) -> Void, failure: @escaping @MainActor (NetError) -> Void
    ) -> CallHandle<Work.Outcome> {
        start(operation, options: options, delegate: delegate) { result in
            switch result {
            case .success(let outcome): success(outcome)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Starts an operation, and calls a closure on the main actor, after the delegate.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, options: StartOptions = .init(), delegate: (any RequestTaskDelegate)? = nil,
        completion: @escaping @MainActor (Result<Work.Outcome, NetError>) -> Void
    ) -> CallHandle<Work.Outcome> {
        let listener = CompletionListener<Work.Outcome> { result in
            MainActor.assumeIsolated { completion(result) }
        }
        return start(operation, on: .main, options: options.adding(delegate, listener))
    }

    /// Starts an operation, and calls one of two closures on `delivery`, after the delegate.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, on delivery: Delivery, options: StartOptions = .init(),
        delegate: (any RequestTaskDelegate)? = nil,
        success: @escaping @Sendable (Work.Outcome) -> Void, failure: @escaping @Sendable (NetError) -> Void
    ) -> CallHandle<Work.Outcome> {
        start(operation, on: delivery, options: options, delegate: delegate) { result in
            switch result {
            case .success(let outcome): success(outcome)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Starts an operation, and calls a closure on `delivery`, after the delegate.
    @discardableResult
    public func start<Work: SendableOperation>(
        _ operation: Work, on delivery: Delivery, options: StartOptions = .init(),
        delegate: (any RequestTaskDelegate)? = nil,
        completion: @escaping @Sendable (Result<Work.Outcome, NetError>) -> Void
    ) -> CallHandle<Work.Outcome> {
        start(operation, on: delivery, options: options.adding(delegate, CompletionListener(completion)))
    }
}

extension StartOptions {
    /// Returns the options with a delegate and a completion closure as the last listeners.
    func adding<Outcome: Sendable>(
        _ delegate: (any RequestTaskDelegate)?, _ completion: CompletionListener<Outcome>?
    ) -> StartOptions {
        var options = self
        if let delegate {
            options.listeners.append(DelegateListener(delegate))
        }
        if let completion {
            options.listeners.append(completion)
        }
        return options
    }
}

/// Calls a closure with the outcome of a task, and then releases the closure.
final class CompletionListener<Outcome: Sendable>: TaskListener {
    private let completion: Lock<(@Sendable (Result<Outcome, NetError>) -> Void)?>

    init(_ completion: @escaping @Sendable (Result<Outcome, NetError>) -> Void) {
        self.completion = Lock(completion)
    }

    func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        if let completion = take(), let typed = outcome as? Result<Outcome, NetError> {
            completion(typed)
        }
        return outcome
    }

    func didStop(_ task: RequestTask) {
        _ = take()
    }

    private func take() -> (@Sendable (Result<Outcome, NetError>) -> Void)? {
        completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
    }
}

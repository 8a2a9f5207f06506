public import NetKit

/// Hooks that inspect or replace an outcome before the listeners receive it.
///
/// The preprocessing hooks run first, and not on the main queue. The filters run later, where the task delivers (see
/// `Delivery`), immediately before the delegate is called. If a task was cancelled and its listeners are not
/// notified, no hook runs.
public struct OutcomeHooks<Outcome: Sendable>: TaskListener {
    /// Called first if the task succeeded. If it throws, the outcome becomes a failure, and ``preprocessFailure`` is
    /// not called for it.
    public var preprocessSuccess: (@Sendable (Outcome) async throws(NetError) -> Outcome)?
    /// Called first if the task failed.
    public var preprocessFailure: (@Sendable (NetError) async -> NetError)?
    /// Called with the value before the delegate.
    public var filterSuccess: (@Sendable (Outcome) -> Outcome)?
    /// Called with the error before the delegate.
    public var filterFailure: (@Sendable (NetError) -> NetError)?

    /// Creates an empty set of hooks.
    public init() {}

    var isEmpty: Bool {
        preprocessSuccess == nil && preprocessFailure == nil && filterSuccess == nil && filterFailure == nil
    }

    /// Whether a hook receives the value.
    public var needsDecodedValue: Bool { preprocessSuccess != nil || filterSuccess != nil }

    /// Calls the preprocessing hook for the outcome. A value of another type is not changed.
    public func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) async -> Result<Value, NetError> {
        switch outcome {
        case .success(let value):
            guard let preprocessSuccess, let typed = value as? Outcome else { return outcome }
            do throws(NetError) {
                let replaced = try await preprocessSuccess(typed)
                return .success(replaced as? Value ?? value)
            } catch {
                return .failure(error)
            }
        case .failure(let error):
            return .failure(await preprocessFailure?(error) ?? error)
        }
    }

    /// Calls the filter for the outcome. A value of another type is not changed.
    public func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        switch outcome {
        case .success(let value):
            guard let filterSuccess, let typed = value as? Outcome else { return outcome }
            return .success(filterSuccess(typed) as? Value ?? value)
        case .failure(let error):
            return .failure(filterFailure?(error) ?? error)
        }
    }
}

extension Request {
    /// The hooks that receive the outcome of the request's tasks before the closures and the delegate.
    public var hooks: OutcomeHooks<Response<Value>> {
        get { listeners.lazy.compactMap { $0 as? OutcomeHooks<Response<Value>> }.first ?? OutcomeHooks() }
        set {
            listeners =
                listeners.filter { !($0 is OutcomeHooks<Response<Value>>) } + (newValue.isEmpty ? [] : [newValue])
        }
    }
}

/// An endpoint or another startable type that has hooks.
public protocol Hooked: Startable {
    /// The hooks that see its outcome before the closures and the delegate.
    var hooks: OutcomeHooks<Response<Value>> { get }
}

extension Hooked {
    /// The hooks.
    public var listeners: [any TaskListener] { hooks.isEmpty ? [] : [hooks] }
}

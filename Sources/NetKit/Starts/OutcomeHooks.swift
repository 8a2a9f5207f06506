/// Hooks that inspect or replace an outcome before the listeners receive it.
///
/// The preprocessors run first and not on the main queue. The filters run where the task delivers, just before the
/// delegate. A cancelled task that notifies no listener runs none of them.
public struct OutcomeHooks<Value: Sendable>: Sendable {
    /// Called first with a success. If it throws, the outcome is a failure, which the failure preprocessor does not
    /// see.
    public var preprocessSuccess: (@Sendable (Value) async throws(NetError) -> Value)?
    /// Called first with a failure.
    public var preprocessFailure: (@Sendable (NetError) async -> NetError)?
    /// Called with a success before the delegate.
    public var filterSuccess: (@Sendable (Value) -> Value)?
    /// Called with a failure before the delegate.
    public var filterFailure: (@Sendable (NetError) -> NetError)?

    /// Creates an empty set of hooks.
    public init() {}

    var isEmpty: Bool {
        preprocessSuccess == nil && preprocessFailure == nil && filterSuccess == nil && filterFailure == nil
    }

    func preprocess(_ outcome: Result<Value, NetError>) async -> Result<Value, NetError> {
        switch outcome {
        case .success(let value):
            guard let preprocessSuccess else { return outcome }
            do throws(NetError) {
                return .success(try await preprocessSuccess(value))
            } catch {
                return .failure(error)
            }
        case .failure(let error):
            guard let preprocessFailure else { return outcome }
            return .failure(await preprocessFailure(error))
        }
    }

    func filter(_ outcome: Result<Value, NetError>) -> Result<Value, NetError> {
        switch outcome {
        case .success(let value): .success(filterSuccess?(value) ?? value)
        case .failure(let error): .failure(filterFailure?(error) ?? error)
        }
    }
}

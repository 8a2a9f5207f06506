/// What comes between an outcome and those who are told of it; each may look at it or put another in its place.
///
/// The preprocessors run first and off the main queue, the filters where the start delivers, just before the delegate.
/// A cancelled start that tells nobody runs none of them.
public struct OutcomeHooks<Value: Sendable>: Sendable {
    /// Sees a success first; what it throws makes it a failure, which no preprocessor sees any more.
    public var preprocessSuccess: (@Sendable (Value) async throws(NetError) -> Value)?
    /// Sees a failure first.
    public var preprocessFailure: (@Sendable (NetError) async -> NetError)?
    /// Sees a success before the delegate.
    public var filterSuccess: (@Sendable (Value) -> Value)?
    /// Sees a failure before the delegate.
    public var filterFailure: (@Sendable (NetError) -> NetError)?

    /// No hooks.
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

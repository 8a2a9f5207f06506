/// As `withTaskCancellationHandler(operation:onCancel:)`, with an operation that stays where the caller runs: that of an
/// actor would change threads before it begins, and again when it has ended.
@inline(__always)
func cancelling<Value>(
    _ onCancel: @Sendable () -> Void, isolation: isolated (any Actor)? = #isolation, _ operation: () async -> Value
) async -> Value {
    await withTaskCancellationHandler {
        _ = isolation  // The closure stays with whom it names.
        return await operation()
    } onCancel: {
        onCancel()
    }
}

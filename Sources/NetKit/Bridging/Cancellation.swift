/// Runs an operation like `withTaskCancellationHandler(operation:onCancel:)`, but on the caller's executor: from an
/// actor that function would switch threads before and after the operation.
@inline(__always)
func cancelling<Value>(
    _ onCancel: @Sendable () -> Void, isolation: isolated (any Actor)? = #isolation, _ operation: () async -> Value
) async -> Value {
    await withTaskCancellationHandler {
        _ = isolation  // The closure stays isolated to it.
        return await operation()
    } onCancel: {
        onCancel()
    }
}

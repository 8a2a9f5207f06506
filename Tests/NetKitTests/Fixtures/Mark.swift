/// What a request carries so that a test sees who still keeps it.
///
///     let mark = Mark()
///     request.progress = mark.ignore
///     let seen = WeakMark(mark)
///     …
///     try await seen.waitUntilLetGo()
final class Mark: Sendable {
    /// Does nothing, and keeps the mark.
    func ignore<Value>(_ value: Value) {}
}

/// Nil when nobody keeps it any more.
struct WeakMark: Sendable {
    weak let mark: Mark?

    init(_ mark: Mark) {
        self.mark = mark
    }

    /// Waits until nobody keeps it, up to the test's time limit.
    func waitUntilLetGo() async throws {
        while mark != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// An object that a request holds, so that a test can see when the request is released.
///
///     let mark = Mark()
///     request.progress = mark.ignore
///     let seen = WeakMark(mark)
///     …
///     try await seen.waitUntilLetGo()
final class Mark: Sendable {
    /// Does nothing. A method reference keeps the mark alive.
    func ignore<Value>(_ value: Value) {}
}

/// A weak reference to a mark; `nil` after the mark is deallocated.
struct WeakMark: Sendable {
    weak let mark: Mark?

    init(_ mark: Mark) {
        self.mark = mark
    }

    /// Waits until the mark is deallocated, up to the test's time limit.
    func waitUntilLetGo() async throws {
        while mark != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// An object that a request holds, so that a test can see when the request is released.
///
///     let mark = DeallocationToken()
///     request.progress = mark.ignore
///     let seen = WeakToken(mark)
///     …
///     try await seen.waitUntilDeallocated()
final class DeallocationToken: Sendable {
    /// Does nothing. A reference to this method keeps the token alive.
    func ignore<Value>(_ value: Value) {}
}

/// A weak reference to a token; `nil` after the token is deallocated.
struct WeakToken: Sendable {
    weak let mark: DeallocationToken?

    init(_ mark: DeallocationToken) {
        self.mark = mark
    }

    /// Waits until the token is deallocated, up to the test's time limit.
    func waitUntilDeallocated() async throws {
        while mark != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

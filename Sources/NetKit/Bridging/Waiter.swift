/// A suspended task that waits for an event.
///
/// An unchecked continuation: the checked one's allocation and bookkeeping cost about 2 % of a small request. The
/// owner's state already ensures that each waiter is taken out, and so resumed, exactly once. The owner passes the
/// result separately, under its lock.
@safe struct Waiter: Sendable {
    // SAFETY: the owner of a waiter keeps it in a state behind a lock, and takes it out in the step that ends that
    // state.
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task until the waiter that `body` receives is resumed.
    static func wait(_ body: (Waiter) -> Void) async {
        await unsafe withUnsafeContinuation { unsafe body(Waiter(continuation: $0)) }
    }

    /// Resumes the task; must be called once.
    func resume() {
        unsafe continuation.resume()
    }
}

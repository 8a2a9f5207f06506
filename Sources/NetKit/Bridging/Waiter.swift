/// A task that waits to be told that something is over.
///
/// An unchecked continuation: the checked one's allocation and bookkeeping cost about 2 % of a small request, and its
/// owner's state already sees to it that each waiter is taken out, and so resumed, exactly once. What was waited for
/// is handed over by the owner, under its lock.
@safe struct Waiter: Sendable {
    // SAFETY: whoever holds a waiter keeps it in a state behind a lock, and takes it out in the step that ends that
    // state.
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task until the waiter that `body` gets is resumed.
    static func wait(_ body: (Waiter) -> Void) async {
        await unsafe withUnsafeContinuation { unsafe body(Waiter(continuation: $0)) }
    }

    /// Lets the task go on; once.
    func resume() {
        unsafe continuation.resume()
    }
}

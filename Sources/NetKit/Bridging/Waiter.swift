/// A task that waits for one outcome.
///
/// An unchecked continuation: the checked one's allocation and bookkeeping cost about 2 % of a small request, and the sink's
/// state already sees to it that each waiter is taken out, and so resumed, exactly once.
@safe struct Waiter<Outcome: Sendable>: Sendable {
    // SAFETY: TransferSink.take() and its refusal before the start are the only ways to a waiter, and each ends its
    // sink's life in one step under the sink's lock.
    private nonisolated(unsafe) let continuation: UnsafeContinuation<Outcome, Never>

    /// Suspends the task until the waiter that `body` gets is resumed.
    static func wait(_ body: (Waiter) -> Void) async -> Outcome {
        await unsafe withUnsafeContinuation { unsafe body(Waiter(continuation: $0)) }
    }

    /// Lets the task go on; once.
    func resume(with outcome: Outcome) {
        unsafe continuation.resume(returning: outcome)
    }
}

/// A value that many tasks can wait for; each can stop waiting separately.
final class Promise<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetError>

    private struct State: Sendable {
        var outcome: Outcome?
        var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var last = 0
        // Waiters whose task was cancelled before they began to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Lock(State())

    /// Resumes all waiters with the outcome. Later outcomes are ignored.
    func fulfil(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            guard state.outcome == nil else { return [Int: CheckedContinuation<Outcome, Never>]() }
            state.outcome = outcome
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values {
            continuation.resume(returning: outcome)
        }
    }

    /// Waits for the value. Throws ``NetError/Code/cancelled`` if the task is cancelled first.
    func value() async throws(NetError) -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            cancel(number)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        return try outcome.get()
    }

    /// Waits for the value, even if the task is cancelled.
    func outcome() async -> Outcome {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withCheckedContinuation { wait(number, $0) }
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome: Outcome? = state.withLock { state in
            if state.cancelled.contains(number) {
                return Self.givenUp
            }
            if state.outcome == nil {
                state.waiting[number] = continuation
            }
            return state.outcome
        }
        if let outcome {
            continuation.resume(returning: outcome)
        }
    }

    private func cancel(_ number: Int) {
        let continuation = state.withLock { state in
            if let waiting = state.waiting.removeValue(forKey: number) {
                return Optional(waiting)
            }
            state.cancelled.insert(number)
            return nil
        }
        continuation?.resume(returning: Self.givenUp)
    }

    private static var givenUp: Outcome {
        .failure(NetError(.cancelled, "the task was cancelled while it waited"))
    }
}

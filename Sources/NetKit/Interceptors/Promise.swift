/// A value that several tasks can wait for. Each task can stop waiting independently.
package final class Promise<Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, NetError>

    private struct State: Sendable {
        var outcome: Outcome?
        var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var last = 0
        // The outcomes of waiters that gave up before their continuation was stored.
        var givenUp: [Int: Outcome] = [:]
    }

    private let state = Lock(State())

    /// Creates a value that does not exist yet.
    package init() {}

    /// Resumes all waiters with the outcome. Later outcomes are ignored.
    package func fulfil(_ outcome: Outcome) {
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

    /// Whether there is an outcome.
    var isFulfilled: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the value. Throws ``NetError/Code/cancelled`` if the task is cancelled first.
    package func value() async throws(NetError) -> Value {
        try await value { _ in }
    }

    /// Waits for the value, at most for `limit`. Throws `error` if that takes longer.
    func value(
        within limit: Duration, by timer: DeadlineTimer, else error: @escaping @Sendable @autoclosure () -> NetError
    ) async throws(NetError) -> Value {
        var timerNumber: UInt64?
        defer {
            if let timerNumber {
                timer.remove(timerNumber)
            }
        }
        return try await value { number in
            timerNumber = timer.add(after: limit) { [self] in giveUp(number, .failure(error())) }
        }
    }

    private func value(_ begin: (Int) -> Void) async throws(NetError) -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        begin(number)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            giveUp(number, Self.cancelled)
        }
        state.withLock { _ = $0.givenUp.removeValue(forKey: number) }
        return try outcome.get()
    }

    /// Waits for the outcome, even if the task is cancelled.
    func outcome() async -> Outcome {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withCheckedContinuation { wait(number, $0) }
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome: Outcome? = state.withLock { state in
            if let givenUp = state.givenUp[number] {
                return givenUp
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

    private func giveUp(_ number: Int, _ outcome: Outcome) {
        let continuation = state.withLock { state in
            if let waiting = state.waiting.removeValue(forKey: number) {
                return Optional(waiting)
            }
            state.givenUp[number] = state.givenUp[number] ?? outcome
            return nil
        }
        continuation?.resume(returning: outcome)
    }

    private static var cancelled: Outcome {
        .failure(NetError(.cancelled, "the task was cancelled while it waited"))
    }
}

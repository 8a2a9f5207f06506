import NetKit

/// State behind a lock. Tasks can wait for a condition on it.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let id: Int
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Guarded: Sendable {
        var state: State
        var waiters: [Waiter] = []
        var nextID = 0
        // Waiters whose task was cancelled before they were added.
        var cancelledEarly: Set<Int> = []
    }

    private let guarded: Lock<Guarded>

    init(_ state: State) {
        guarded = Lock(Guarded(state: state))
    }

    var value: State { guarded.withLock { $0.state } }

    /// Changes the state, and resumes the waiters whose condition is now true.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, met) = guarded.withLock { guarded in
            let result = body(&guarded.state)
            let met = guarded.waiters.filter { $0.condition(guarded.state) }
            guarded.waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
            return (result, met)
        }
        for waiter in met {
            waiter.continuation.resume(returning: true)
        }
        return result
    }

    /// Waits until the state meets the condition. Throws `NetError.Code.cancelled` if the task is cancelled first.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async throws(NetError) {
        let id = guarded.withLock { guarded in
            guarded.nextID += 1
            return guarded.nextID
        }
        let isMet = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Waiter(id: id, condition: condition, continuation: continuation))
            }
        } onCancel: {
            remove(id)?.continuation.resume(returning: false)
        }
        guarded.withLock { _ = $0.cancelledEarly.remove(id) }
        if !isMet {
            throw NetError(.cancelled, "the task was cancelled")
        }
    }

    private func add(_ waiter: Waiter) {
        let answer: Bool? = guarded.withLock { guarded in
            if guarded.cancelledEarly.contains(waiter.id) {
                return false
            }
            if waiter.condition(guarded.state) {
                return true
            }
            guarded.waiters.append(waiter)
            return nil
        }
        if let answer {
            waiter.continuation.resume(returning: answer)
        }
    }

    private func remove(_ id: Int) -> Waiter? {
        guarded.withLock { guarded in
            guard let index = guarded.waiters.firstIndex(where: { $0.id == id }) else {
                guarded.cancelledEarly.insert(id)
                return nil
            }
            return guarded.waiters.remove(at: index)
        }
    }
}

/// Returns the operation's result, or throws `NetError.Code.cancelled` as soon as the task is cancelled, without
/// waiting for the operation.
func promptly<Value: Sendable>(
    _ operation: @escaping @Sendable () async throws(NetError) -> Value
) async throws(NetError) -> Value {
    let outcome = Watched<Result<Value, NetError>?>(nil)
    let task = Task {
        let result: Result<Value, NetError>
        do throws(NetError) {
            result = .success(try await operation())
        } catch {
            result = .failure(error)
        }
        outcome.change { $0 = result }
    }
    do throws(NetError) {
        try await outcome.wait { $0 != nil }
    } catch {
        task.cancel()
        throw error
    }
    guard let result = outcome.value else {
        throw NetError(.internal, "a stub ended without an outcome")
    }
    return try result.get()
}

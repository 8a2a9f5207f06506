import NetKit

/// State behind a lock. Tasks can wait until the state meets a condition.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let id: Int
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Protected: Sendable {
        var state: State
        var waiters: [Waiter] = []
        var nextID = 0
        // The waiters whose tasks were cancelled before the waiters were added.
        var cancelledEarly: Set<Int> = []
    }

    private let protected: Lock<Protected>

    init(_ state: State) {
        protected = Lock(Protected(state: state))
    }

    var value: State { protected.withLock { $0.state } }

    /// Changes the state, and resumes the waiters whose condition is now true.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, met) = protected.withLock { protected in
            let result = body(&protected.state)
            let met = protected.waiters.filter { $0.condition(protected.state) }
            protected.waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
            return (result, met)
        }
        for waiter in met {
            waiter.continuation.resume(returning: true)
        }
        return result
    }

    /// Waits until the state meets the condition. Throws `NetError.Code.cancelled` if the task is cancelled before
    /// that.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async throws(NetError) {
        let id = protected.withLock { protected in
            protected.nextID += 1
            return protected.nextID
        }
        let isMet = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Waiter(id: id, condition: condition, continuation: continuation))
            }
        } onCancel: {
            remove(id)?.continuation.resume(returning: false)
        }
        protected.withLock { _ = $0.cancelledEarly.remove(id) }
        if !isMet {
            throw NetError(.cancelled, "the task was cancelled")
        }
    }

    private func add(_ waiter: Waiter) {
        let isMet: Bool? = protected.withLock { protected in
            if protected.cancelledEarly.contains(waiter.id) {
                return false
            }
            if waiter.condition(protected.state) {
                return true
            }
            protected.waiters.append(waiter)
            return nil
        }
        if let isMet {
            waiter.continuation.resume(returning: isMet)
        }
    }

    private func remove(_ id: Int) -> Waiter? {
        protected.withLock { protected in
            guard let index = protected.waiters.firstIndex(where: { $0.id == id }) else {
                protected.cancelledEarly.insert(id)
                return nil
            }
            return protected.waiters.remove(at: index)
        }
    }
}

/// Runs an operation and returns its result. If the task is cancelled, throws `NetError.Code.cancelled` immediately,
/// without waiting for the operation.
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

/// An asynchronous lock that admits one task at a time, in order of arrival.
final class Turns: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Promise<Void>] = []
    }

    private let state = Lock(State())

    /// Acquires the lock. Throws if the task is cancelled first.
    func enter() async throws(NetError) {
        let promise = state.withLock { state -> Promise<Void>? in
            if !state.isTaken {
                state.isTaken = true
                return nil
            }
            let promise = Promise<Void>()
            state.waiting.append(promise)
            return promise
        }
        guard let promise else { return }
        do throws(NetError) {
            try await promise.value()
        } catch {
            let isWaiting = state.withLock { state in
                let count = state.waiting.count
                state.waiting.removeAll { $0 === promise }
                return state.waiting.count < count
            }
            // The lock was passed to it while it was cancelled.
            if !isWaiting {
                leave()
            }
            throw error
        }
    }

    /// Releases the lock to the next task.
    func leave() {
        let next = state.withLock { state -> Promise<Void>? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.fulfil(.success(()))
    }
}

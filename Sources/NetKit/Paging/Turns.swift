/// One task at a time, in the order in which they came.
final class Turns: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Promise<Void>] = []
    }

    private let state = Lock(State())

    /// Waits for one's turn; throws when the task is cancelled first.
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
            // It was called in the moment in which it gave up.
            if !isWaiting {
                leave()
            }
            throw error
        }
    }

    /// Lets the next one in.
    func leave() {
        let next = state.withLock { state -> Promise<Void>? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.fulfil(.success(()))
    }
}

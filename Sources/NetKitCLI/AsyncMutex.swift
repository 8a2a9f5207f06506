import NetKit

/// A mutex for tasks, which admits one writer to standard output at a time. Bodies are therefore written one after the
/// other. Flow control pauses the transfers of the waiting writers.
final class AsyncMutex: Sendable {
    private struct State: Sendable {
        var isLocked = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isLocked = true }
                if state.isLocked {
                    state.waiters.append(continuation)
                }
                return !state.isLocked
            }
            if isFree {
                continuation.resume()
            }
        }
    }

    func unlock() {
        let next = state.withLock { state in
            if state.waiters.isEmpty {
                state.isLocked = false
                return CheckedContinuation<Void, Never>?.none
            }
            return state.waiters.removeFirst()
        }
        next?.resume()
    }
}

import NetKit

/// Admits one writer at a time. Bodies are written to standard output one after the other; flow control delays the
/// other servers.
final class Turn: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isTaken = true }
                if state.isTaken {
                    state.waiting.append(continuation)
                }
                return !state.isTaken
            }
            if isFree {
                continuation.resume()
            }
        }
    }

    func give() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.isTaken = false
                return CheckedContinuation<Void, Never>?.none
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

import NetKit

/// One at a time: bodies on standard output come one after the other, and the others' servers wait.
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

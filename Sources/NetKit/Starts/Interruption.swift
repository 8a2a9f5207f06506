/// Ends what lets go of its connection when it is held up, however early that is.
final class Interruption: Sendable {
    private struct State: Sendable {
        var isMade = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    var isMade: Bool { state.withLock { $0.isMade } }

    func interrupt() {
        let end = state.withLock { state in
            state.isMade = true
            return state.end
        }
        end?()
    }

    /// Says how the go is ended; at once, when it was held up already.
    func ends(_ end: @escaping @Sendable () -> Void) {
        let isMade = state.withLock { state in
            state.end = end
            return state.isMade
        }
        if isMade {
            end()
        }
    }
}

/// The current state and its listeners. Each listener first receives the current state, then every change in order. It
/// is called by one thread at a time, even if several threads update the state.
final class PathBoard: Sendable {
    typealias Handler = @Sendable (PathState) -> Void

    private struct Listener: Sendable {
        let handler: Handler
        let onEnd: @Sendable () -> Void
        var waiting: [PathState]
        var isTelling = false
    }

    private struct Kept: Sendable {
        var state = PathState(.unknown)
        var listeners: [Int: Listener] = [:]
        var last = 0
        var isClosed = false
    }

    private let kept = Lock(Kept())

    var state: PathState { kept.withLock { $0.state } }

    /// Equal states are not repeated.
    func update(_ state: PathState) {
        let numbers = kept.withLock { kept in
            guard state != kept.state else { return [Int]() }
            kept.state = state
            for number in kept.listeners.keys {
                kept.listeners[number]?.waiting.append(state)
            }
            return kept.listeners.keys.sorted()
        }
        for number in numbers {
            tell(number)
        }
    }

    /// Calls the handler with the current state, and returns the listener's number.
    func add(_ handler: @escaping Handler, onEnd: @escaping @Sendable () -> Void = {}) -> Int {
        let number: Int? = kept.withLock { kept in
            if kept.isClosed {
                return nil
            }
            kept.last += 1
            kept.listeners[kept.last] = Listener(handler: handler, onEnd: onEnd, waiting: [kept.state])
            return kept.last
        }
        guard let number else {
            onEnd()
            return 0
        }
        tell(number)
        return number
    }

    func remove(_ number: Int) {
        let listener = kept.withLock { $0.listeners.removeValue(forKey: number) }
        listener?.onEnd()
    }

    /// Removes all listeners.
    func close() {
        let listeners = kept.withLock { kept in
            defer { kept.listeners = [:] }
            kept.isClosed = true
            return kept.listeners
        }
        for listener in listeners.values {
            listener.onEnd()
        }
    }

    private func tell(_ number: Int) {
        var isFirst = true
        while true {
            let next: (Handler, PathState)? = kept.withLock { [isFirst] kept in
                guard var listener = kept.listeners[number], !(isFirst && listener.isTelling) else { return nil }
                defer { kept.listeners[number] = listener }
                listener.isTelling = !listener.waiting.isEmpty
                guard listener.isTelling else { return nil }
                return (listener.handler, listener.waiting.removeFirst())
            }
            guard let (handler, state) = next else { return }
            isFirst = false
            handler(state)
        }
    }
}

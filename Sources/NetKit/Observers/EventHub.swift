internal import Synchronization

/// An agent's internal observer: forwards every event to the readers of ``AgentEvents``. It costs nothing without
/// readers.
final class EventHub: Observer {
    private struct WeakWatch: Sendable {
        weak let watch: Watch?
    }

    private struct State: Sendable {
        var buffers: [EventBuffer] = []
        var isOver = false
        var watches: [UInt64: WeakWatch] = [:]
    }

    private let state = Lock(State())
    private let isRead = Atomic(false)

    /// Whether there is a reader.
    var isHeard: Bool { isRead.load(ordering: .relaxed) }

    /// Forwards the event.
    func observe(_ event: Event) {
        tell(.call(event))
    }

    /// Sends an event to all readers.
    func tell(_ event: AgentEvent) {
        for buffer in state.withLock({ $0.buffers }) {
            buffer.put(event)
        }
    }

    /// Ends all sequences.
    func finish() {
        let buffers = state.withLock { state in
            state.isOver = true
            return state.buffers
        }
        for buffer in buffers {
            buffer.finish()
        }
    }

    /// Adds a reader's buffer, which receives all events from now on.
    func add(_ buffer: EventBuffer) {
        let isOver = state.withLock { state in
            state.buffers.append(buffer)
            isRead.store(true, ordering: .relaxed)
            return state.isOver
        }
        if isOver {
            buffer.finish()
        }
    }

    /// Removes a buffer.
    func remove(_ buffer: EventBuffer) {
        state.withLock { state in
            state.buffers.removeAll { $0 === buffer }
            // Under the lock, so that it cannot overwrite the flag of a reader that is added concurrently.
            isRead.store(!state.buffers.isEmpty, ordering: .relaxed)
        }
    }

    // MARK: Observed transfers

    /// Records that a transfer of an observed call begins.
    func began(_ transfer: UInt64, of watch: Watch) {
        state.withLock { $0.watches[transfer] = WeakWatch(watch: watch) }
    }

    /// Removes transfers that have ended.
    func ended(_ transfers: [UInt64]) {
        state.withLock { state in
            for transfer in transfers {
                state.watches[transfer] = nil
            }
        }
    }

    /// Reports that a transfer was paused or resumed.
    func paused(_ transfer: UInt64, _ isPaused: Bool) {
        state.withLock { $0.watches[transfer]?.watch }?.suspend(isPaused)
    }
}

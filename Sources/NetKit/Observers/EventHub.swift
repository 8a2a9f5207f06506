internal import Synchronization

/// An agent's own observer: passes everything on to those who read ``AgentEvents``, and costs nothing while nobody does.
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

    /// Whether anybody reads.
    var isHeard: Bool { isRead.load(ordering: .relaxed) }

    /// Passes it on.
    func observe(_ event: Event) {
        tell(.call(event))
    }

    /// Gives an event to all who read.
    func tell(_ event: AgentEvent) {
        for buffer in state.withLock({ $0.buffers }) {
            buffer.put(event)
        }
    }

    /// There will be no more.
    func finish() {
        let buffers = state.withLock { state in
            state.isOver = true
            return state.buffers
        }
        for buffer in buffers {
            buffer.finish()
        }
    }

    /// Gives this one all events from now on.
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

    /// Nobody will read this one any more.
    func remove(_ buffer: EventBuffer) {
        state.withLock { state in
            state.buffers.removeAll { $0 === buffer }
            // In here, or it might undo what somebody who begins to read has said meanwhile.
            isRead.store(!state.buffers.isEmpty, ordering: .relaxed)
        }
    }

    // MARK: Transfers that are watched

    /// A transfer of a watched call begins.
    func began(_ transfer: UInt64, of watch: Watch) {
        state.withLock { $0.watches[transfer] = WeakWatch(watch: watch) }
    }

    /// These transfers are over.
    func ended(_ transfers: [UInt64]) {
        state.withLock { state in
            for transfer in transfers {
                state.watches[transfer] = nil
            }
        }
    }

    /// Somebody holds a transfer up, or lets it go on.
    func paused(_ transfer: UInt64, _ isPaused: Bool) {
        state.withLock { $0.watches[transfer]?.watch }?.suspend(isPaused)
    }
}

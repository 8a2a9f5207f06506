internal import Synchronization

/// An event of an agent or of one of its calls.
public enum AgentEvent: Sendable {
    /// A change of a call, as an ``Observer`` receives it.
    case call(Event)
    /// ``Agent/suspend()`` was called. Requests that wait do not start.
    case suspended
    /// ``Agent/resume()`` was called.
    case resumed
    /// ``Agent/invalidate(cancelling:)`` has finished. The agent sends nothing more.
    case invalidated
    /// ``Agent/reset(cancelling:)`` has finished. The next requests open new connections.
    case reset
    /// A file of cookies, HSTS or Alt-Svc entries could not be written. Its contents remain in memory. The agent tries
    /// again after the next change, and at its end. A failure is reported once for each file, until a write succeeds.
    case saveFailed(NetError)
    /// Events were dropped at this position because the reader was too slow. The associated value is their number.
    case missed(Int)
}

/// The events of an agent since this sequence was created: the changes of all calls in order, and the changes of the
/// agent itself.
struct AgentEvents: AsyncSequence, Sendable {
    /// Owns the buffer, and removes it from the hub when the sequence and all its iterators are deallocated.
    fileprivate final class Reader: Sendable {
        let hub: EventHub
        let buffer: EventBuffer

        init(_ hub: EventHub, keeping capacity: Int) {
            self.hub = hub
            buffer = EventBuffer(keeping: capacity)
            hub.add(buffer)
        }

        deinit {
            hub.remove(buffer)
        }
    }

    private let reader: Reader

    init(_ hub: EventHub, keeping capacity: Int) {
        reader = Reader(hub, keeping: capacity)
    }

    /// Returns an iterator that reads the buffered events, then new ones.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader)
    }

    /// Reads the events one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// Returns the next event, or `nil` at the end or if the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> AgentEvent? {
            await reader.buffer.next()
        }
    }
}

/// Forwards the events of an agent and its calls to the readers of `AgentEvents`. While there are no readers, it is
/// not an observer of calls and costs nothing.
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
    private let hasReadersFlag = Atomic(false)

    /// Whether there is a reader.
    var hasReaders: Bool { hasReadersFlag.load(ordering: .relaxed) }

    /// Forwards the event.
    func observe(_ event: Event) {
        send(.call(event))
    }

    /// Sends an event to all readers.
    func send(_ event: AgentEvent) {
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
            hasReadersFlag.store(true, ordering: .relaxed)
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
            // Within the lock. Otherwise this could overwrite the flag after another thread has added a reader.
            hasReadersFlag.store(!state.buffers.isEmpty, ordering: .relaxed)
        }
    }

    // MARK: Observed transfers

    /// Records that a transfer belongs to an observed call.
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
    func reportPause(of transfer: UInt64, _ isPaused: Bool) {
        state.withLock { $0.watches[transfer]?.watch }?.suspend(isPaused)
    }
}

/// A bounded buffer of one reader's events. When it is full, the oldest events are dropped.
final class EventBuffer: Sendable {
    fileprivate typealias Waiter = CheckedContinuation<AgentEvent?, Never>

    fileprivate struct State: Sendable {
        var events: [AgentEvent] = []
        var first = 0
        var missed = 0
        var isOver = false
        var waiting: [(number: Int, waiter: Waiter)] = []
        // Readers whose task was cancelled before they began to wait.
        var cancelled: Set<Int> = []
        var last = 0
    }

    private let capacity: Int
    private let state = Lock(State())

    init(keeping capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Passes an event to a waiting reader, or buffers it.
    func put(_ event: AgentEvent) {
        let waiter = state.withLock { [capacity] state -> Waiter? in
            if state.isOver {
                return nil
            }
            if !state.waiting.isEmpty {
                return state.waiting.removeFirst().waiter
            }
            state.keep(event, upTo: capacity)
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Ends the sequence after the buffered events are read.
    func finish() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting.map(\.waiter)
        }
        for waiter in waiting {
            waiter.resume(returning: nil)
        }
    }

    /// Returns the next event, or `nil` at the end and if the task is cancelled.
    func next() async -> AgentEvent? {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let event = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            cancel(number)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        return event
    }

    private func wait(_ number: Int, _ waiter: Waiter) {
        let (isReady, event) = state.withLock { state -> (Bool, AgentEvent?) in
            if state.cancelled.contains(number) {
                return (true, nil)
            }
            if let event = state.take() {
                return (true, event)
            }
            if state.isOver {
                return (true, nil)
            }
            state.waiting.append((number, waiter))
            return (false, nil)
        }
        if isReady {
            waiter.resume(returning: event)
        }
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            if let index = state.waiting.firstIndex(where: { $0.number == number }) {
                return state.waiting.remove(at: index).waiter
            }
            state.cancelled.insert(number)
            return nil
        }
        waiter?.resume(returning: nil)
    }
}

extension EventBuffer.State {
    fileprivate mutating func keep(_ event: AgentEvent, upTo capacity: Int) {
        if events.count - first == capacity {
            // Releases the values of the dropped event.
            events[first] = .missed(0)
            first += 1
            missed += 1
        }
        events.append(event)
        if first > capacity {
            events.removeFirst(first)
            first = 0
        }
    }

    /// Removes and returns the next event. If events were dropped, their number comes first.
    fileprivate mutating func take() -> AgentEvent? {
        if missed > 0 {
            defer { missed = 0 }
            return .missed(missed)
        }
        guard first < events.count else { return nil }
        let event = events[first]
        events[first] = .missed(0)
        first += 1
        if first == events.count {
            events.removeAll(keepingCapacity: true)
            first = 0
        }
        return event
    }
}

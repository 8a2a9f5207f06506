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
            // Releases what the event that was read references.
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

    /// The number of dropped events is reported before the buffered ones.
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

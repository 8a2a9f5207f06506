/// Something that happened to an agent, or to one of its calls.
public enum AgentEvent: Sendable {
    /// A call changed: the same that an ``Observer`` is told.
    case call(Event)
    /// ``Agent/suspend()``: what waits for a slot does not start.
    case suspended
    /// ``Agent/resume()``.
    case resumed
    /// ``Agent/invalidate(cancelling:)`` is done: the agent sends nothing any more.
    case invalidated
    /// ``Agent/reset(cancelling:)`` is done: the connections are new ones.
    case reset
    /// A file of cookies, HSTS or Alt-Svc could not be saved. What it was to hold stays in memory, and saving it is tried
    /// again when that changes and when the agent ends; told once for each file, until it has been saved again.
    case saveFailed(NetError)
    /// The reader was too slow: so many events before the next one gave way.
    case missed(Int)
}

/// What happens to an agent from the moment that this was asked for: every change of every call, in the order in which
/// they happen, and the changes of the agent itself.
///
///     let events = agent.events
///     Task { for await event in events { … } }
///
/// Events wait for their reader in a bounded row; when it is full the oldest give way, nobody is held up, and the next
/// event is ``AgentEvent/missed(_:)``. It ends with the agent, or when the task that reads is cancelled. Iterators of one
/// value share its events; each ``Agent/events`` has all of them.
public struct AgentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = AgentEvent
    /// None.
    public typealias Failure = Never

    /// Takes the row away with the last one who could read it.
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

    /// Reads what has waited, and then what comes.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader)
    }

    /// Gives the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// The next event; nil when there will be none, or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> AgentEvent? {
            await reader.buffer.next()
        }

        /// The next event; nil when there will be none, or the task was cancelled.
        public mutating func next() async -> AgentEvent? {
            await reader.buffer.next()
        }
    }
}

/// An event of an agent or of one of its calls.
public enum AgentEvent: Sendable {
    /// A change of a call, as an ``Observer`` receives it.
    case call(Event)
    /// ``Agent/suspend()`` was called: waiting requests do not start.
    case suspended
    /// ``Agent/resume()`` was called.
    case resumed
    /// ``Agent/invalidate(cancelling:)`` has finished: the agent sends nothing more.
    case invalidated
    /// ``Agent/reset(cancelling:)`` has finished: the next requests open new connections.
    case reset
    /// A state file of cookies, HSTS or Alt-Svc entries could not be written. Its contents remain in memory. The agent
    /// writes it again after the next change, and when the agent ends. Reported once for each file until a write
    /// succeeds.
    case saveFailed(NetError)
    /// The number of events that were dropped here because the reader was too slow.
    case missed(Int)
}

/// The events of an agent since this sequence was created: every change of every call in order, and the changes of the
/// agent itself.
///
///     let events = agent.events
///     Task { for await event in events { … } }
///
/// Events wait for their reader in a bounded buffer. When it is full the oldest are dropped, and the next event is
/// ``AgentEvent/missed(_:)``. A slow reader never delays the agent. The sequence ends with the agent, or when the
/// reading task is cancelled. Iterators of one value share its events; each ``Agent/events`` receives all of them.
public struct AgentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = AgentEvent
    /// The sequence never fails.
    public typealias Failure = Never

    /// Removes the buffer when its last possible reader is deallocated.
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
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader)
    }

    /// Reads the events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// Returns the next event, or `nil` at the end or if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> AgentEvent? {
            await reader.buffer.next()
        }

        /// Returns the next event, or `nil` at the end or if the task is cancelled.
        public mutating func next() async -> AgentEvent? {
            await reader.buffer.next()
        }
    }
}

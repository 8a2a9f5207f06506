/// Every change as an element of an asynchronous stream.
///
///     let feed = EventFeed()
///     configuration.observers = [feed]
///     for await event in feed.events { … }
///
/// The stream ends when the feed is let go, by the agent too, or ``finish()`` was called.
public final class EventFeed: Observer {
    /// The events, for one reader.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    /// - Parameter keeping: events that wait for the reader; the oldest ones give way.
    public init(keeping: Int = 10_000) {
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(max(1, keeping)))
    }

    deinit {
        continuation.finish()
    }

    /// Passes it on.
    public func observe(_ event: Event) {
        continuation.yield(event)
    }

    /// Ends the stream when what waits was read.
    public func finish() {
        continuation.finish()
    }
}

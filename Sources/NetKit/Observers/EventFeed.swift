/// Delivers every change of every call as an element of an asynchronous stream.
///
///     let feed = EventFeed()
///     configuration.observers = [feed]
///     for await event in feed.events { … }
///
/// The stream ends after ``finish()``, or when the feed is deallocated; the agent keeps a reference to it.
public final class EventFeed: Observer {
    /// The events, for one reader.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    /// - Parameter keeping: the largest number of buffered events; further ones replace the oldest.
    public init(keeping: Int = 10_000) {
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(max(1, keeping)))
    }

    deinit {
        continuation.finish()
    }

    /// Appends the event to the stream.
    public func observe(_ event: Event) {
        continuation.yield(event)
    }

    /// Ends the stream after the buffered events are read.
    public func finish() {
        continuation.finish()
    }
}

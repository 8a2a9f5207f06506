import NetKit

/// Delivers the events of all calls as an asynchronous stream, which ends with the feed.
final class EventFeed: Observer {
    /// The events, for one reader.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    deinit {
        continuation.finish()
    }

    func observe(_ event: Event) {
        continuation.yield(event)
    }

    /// Ends the stream after the buffered events are read.
    func finish() {
        continuation.finish()
    }
}

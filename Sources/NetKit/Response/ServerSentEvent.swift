/// One event of an event stream (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The last identifier that the server gave, with this event or before; empty when there was none.
    public var id: String
    /// The kind; "message" when none is named.
    public var event: String
    /// The data; several lines are joined by LF.
    public var data: String
    /// The time to wait before connecting again, when the event sets one.
    public var retry: Duration?

    /// An event.
    public init(id: String = "", event: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}

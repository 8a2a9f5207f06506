/// One event of an event stream (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The server's last identifier, of this event or an earlier one; empty without any.
    public var id: String
    /// The event type; "message" by default.
    public var event: String
    /// The data; several lines are joined by LF.
    public var data: String
    /// The delay before reconnecting, if the event sets one.
    public var retry: Duration?

    /// Creates an event.
    public init(id: String = "", event: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}

/// Times and sizes of one hop. Times count from the start of sending; `nil` means that the step did not happen.
public struct HopMetrics: Sendable, Hashable {
    /// The requested URL, without credentials.
    public var url = ""
    /// The response's status; 0 without a response.
    public var status = 0
    /// The HTTP version.
    public var httpVersion = HTTPVersion.unknown
    /// Whether it reused an open connection.
    public var isReused = false
    /// The number of connections that the hop opened.
    public var connectionsOpened = 0
    /// The peer's numeric address; empty if unknown.
    public var remoteAddress = ""
    /// The peer's port; 0 if unknown.
    public var remotePort: UInt16 = 0
    /// When the hop got its slot; before, it waited in the queue.
    public var started: Duration?
    /// When the name was resolved.
    public var resolved: Duration?
    /// When TCP was connected.
    public var connected: Duration?
    /// When the TLS handshake was complete.
    public var secured: Duration?
    /// When the connection was ready for the request.
    public var ready: Duration?
    /// When the first response byte arrived.
    public var firstByte: Duration?
    /// When the hop ended.
    public var ended: Duration?
    /// Request bytes on the wire, before TLS.
    public var sentBytes = 0
    /// Response head bytes, before TLS.
    public var headBytes = 0
    /// Response body bytes before decoding.
    public var receivedBytes = 0
    /// Response body bytes after decoding.
    public var decodedBytes = 0
    /// The lines of the response's heads and trailers that were dropped because of malformed names
    /// (``Request/refusesMalformedFields``).
    public var droppedFields = 0
    /// The number of the agent's connection, from 1; `nil` without a connection.
    public var connectionID: Int?
    /// The TLS version, such as "TLSv1.3"; empty without TLS.
    public var tlsVersion = ""
    /// The cipher suite, such as "TLS_AES_256_GCM_SHA384"; empty without TLS.
    public var tlsCipher = ""
    /// The group of the key exchange, such as "X25519MLKEM768" or "x25519"; empty without TLS, or if no group was used.
    public var tlsGroup = ""

    /// Creates the metrics of a hop that has not begun.
    public init() {}

    /// Returns the same hop with times that count from an earlier start.
    func counted(from earlier: Duration) -> HopMetrics {
        var hop = self
        hop.started? += earlier
        hop.resolved? += earlier
        hop.connected? += earlier
        hop.secured? += earlier
        hop.ready? += earlier
        hop.firstByte? += earlier
        hop.ended? += earlier
        return hop
    }
}

/// What one hop of a request cost. Moments count from send; nil means that it did not happen.
public struct HopMetrics: Sendable, Hashable {
    /// The URL asked, without credentials.
    public var url = ""
    /// The status that came back; 0 when none did.
    public var status = 0
    /// The protocol.
    public var httpVersion = HTTPVersion.unknown
    /// Whether an open connection was used again.
    public var isReused = false
    /// Connections that the hop opened.
    public var connectionsOpened = 0
    /// The other end's numeric address; empty when unknown.
    public var remoteAddress = ""
    /// The other end's port; 0 when unknown.
    public var remotePort: UInt16 = 0
    /// The hop got its slot; until then it waited in the queue.
    public var started: Duration?
    /// The name was resolved.
    public var resolved: Duration?
    /// TCP was connected.
    public var connected: Duration?
    /// TLS was ready.
    public var secured: Duration?
    /// The connection was ready for the request.
    public var ready: Duration?
    /// The first response byte arrived.
    public var firstByte: Duration?
    /// The hop was over.
    public var ended: Duration?
    /// Request bytes on the wire, before TLS.
    public var sentBytes = 0
    /// Response head bytes, before TLS.
    public var headBytes = 0
    /// Response body bytes before decoding.
    public var receivedBytes = 0
    /// Response body bytes after decoding.
    public var decodedBytes = 0
    /// Lines of the response's heads and trailers that were dropped, as their names are malformed
    /// (``Request/refusesMalformedFields``).
    public var droppedFields = 0
    /// Which of the agent's connections it was, counted from 1; nil when there was none.
    public var connectionID: Int?
    /// Such as "TLSv1.3"; empty without TLS.
    public var tlsVersion = ""
    /// Such as "TLS_AES_256_GCM_SHA384"; empty without TLS.
    public var tlsCipher = ""
    /// The group of the key exchange, such as "X25519MLKEM768" or "x25519"; empty without TLS, and where none was used.
    public var tlsGroup = ""

    /// Nothing happened yet.
    public init() {}

    /// The same hop, its moments counted from so long before.
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

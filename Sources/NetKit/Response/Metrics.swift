/// The metrics of a response's hops, in order. There is one hop for the first request and one for each followed
/// redirect.
public struct Metrics: Sendable, RandomAccessCollection {
    private let storage: (any ResponseStorage)?
    private let hops: [HopMetrics]

    init(received: any ResponseStorage) {
        storage = received
        hops = []
    }

    /// Creates metrics from hops, for a stub or another transport.
    public init(_ hops: [HopMetrics] = []) {
        storage = nil
        self.hops = hops
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of hops, which is one past the last index.
    public var endIndex: Int { storage?.hopCount ?? hops.count }

    /// The hop at `position`.
    public subscript(position: Int) -> HopMetrics { storage?.hop(at: position) ?? hops[position] }
}

/// The durations of a call's transfer. A duration is `nil` if its event did not happen: a reused connection has neither
/// ``dns`` nor ``connect`` nor ``tls``.
extension Metrics {
    /// The time in which names were resolved, of all hops together.
    public var dns: Duration? { sum { ($0.started, $0.resolved) } }
    /// The time in which TCP was connected, of all hops together.
    public var connect: Duration? { sum { ($0.resolved ?? $0.started, $0.connected) } }
    /// The time of the TLS handshakes, of all hops together.
    public var tls: Duration? { sum { ($0.connected, $0.secured) } }
    /// The time from the submission until the first byte of the last response.
    public var firstByte: Duration? { last?.firstByte }
    /// The time from the submission until the end of the last hop.
    public var total: Duration? { last?.ended }

    private func sum(_ phase: (HopMetrics) -> (begin: Duration?, end: Duration?)) -> Duration? {
        let durations = compactMap { hop -> Duration? in
            guard case (let begin?, let end?) = phase(hop) else { return nil }
            return Swift.max(.zero, end - begin)
        }
        return durations.isEmpty ? nil : durations.reduce(.zero, +)
    }
}

/// Times and sizes of one hop. Times are measured from the moment the transfer was submitted. A time is `nil` if the
/// event did not happen.
public struct HopMetrics: Sendable, Hashable {
    /// The requested URL, without credentials.
    public var url = ""
    /// The response's status; 0 without a response.
    public var status = 0
    /// The HTTP version.
    public var httpVersion = HTTPVersion.unknown
    /// Whether the hop reused an open connection.
    public var isReused = false
    /// The number of connections that the hop opened.
    public var connectionsOpened = 0
    /// The peer's numeric address; empty if unknown.
    public var remoteAddress = ""
    /// The peer's port; 0 if unknown.
    public var remotePort: UInt16 = 0
    /// When the hop started. Before that, it waited in the engine's queue.
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
    /// The number of the connection, unique within the agent and counted from 1; `nil` without a connection.
    public var connectionID: Int?
    /// The TLS version, such as "TLSv1.3"; empty without TLS.
    public var tlsVersion = ""
    /// The cipher suite, such as "TLS_AES_256_GCM_SHA384"; empty without TLS.
    public var tlsCipher = ""
    /// The group of the key exchange, such as "X25519MLKEM768" or "x25519"; empty without TLS, or if no group was used.
    public var tlsGroup = ""
    /// The QUIC version of the connection, 1 (RFC 9000); `nil` without QUIC.
    public var quicVersion: Int?
    /// Whether request bytes were sent as early data of a resumed session (0-RTT).
    public var usedEarlyData = false

    /// Creates the metrics of a hop that has not started.
    public init() {}

    /// Returns the same hop with times that are measured from an earlier start.
    /// - Parameter earlier: the time between the earlier start and the current one.
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

/// A snapshot of one transfer that has not ended.
public struct TransferInfo: Sendable, Hashable, Identifiable {
    /// The state of a transfer.
    public enum State: Sendable, Hashable {
        /// Waits in the engine's queue.
        case waiting
        /// Connects.
        case connecting
        /// Sends its request.
        case sending
        /// Waits for the first response byte.
        case awaitingReply
        /// Receives its response.
        case receiving
    }

    /// The number of the transfer, unique within the agent.
    public let id: UInt64
    /// The state.
    public let state: State
    /// The priority among waiting transfers.
    public let priority: Priority
    /// Whether the transfer is paused, by ``Agent/pause(_:)`` or because the reader of its body is slow.
    public let isPaused: Bool
    /// The time since the transfer was submitted.
    public let age: Duration
    /// The body bytes sent in the current hop.
    public let sentBytes: Int
    /// The body bytes received in the current hop, before decoding.
    public let receivedBytes: Int
    /// The URL of the first hop, without credentials.
    public let url: String
}

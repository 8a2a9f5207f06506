/// The limits of one request.
///
///     request.limits.total = .seconds(5)      // the other limits stay those of the agent
///     request.timeout = .seconds(5)           // the same
///     configuration.limits = Limits(total: .seconds(30))
///
/// A limit that a request does not set is inherited: from its service, then from its agent, and then it has the default
/// named here. By default, every limit except the two rates is finite. A limit that is `nil` does not apply.
/// ``maxRedirects`` cannot be `nil`.
public struct Limits: Sendable, Hashable {
    /// Time for name lookup, TCP and TLS of one hop (10 s).
    public var connect: Duration? = .seconds(10) { didSet { own.insert(.connect) } }
    /// Time from the last request byte to the first response byte of one hop (60 s).
    public var firstByte: Duration? = .seconds(60) { didSet { own.insert(.firstByte) } }
    /// The longest time without body bytes in either direction (60 s). Interim responses, head lines, trailers and
    /// chunk extensions that arrive slowly may together take ten times as long.
    public var idle: Duration? = .seconds(60) { didSet { own.insert(.idle) } }
    /// Time to wait until the engine starts the transfer (60 s). A transfer waits if the agent already has the largest
    /// number of transfers in flight.
    public var slot: Duration? = .seconds(60) { didSet { own.insert(.slot) } }
    /// Time from the start of the call to its end (300 s). It includes computed headers and parameters, interceptors
    /// and their waits, refreshed credentials, all attempts, redirects and challenges, and the wait in a
    /// ``ConcurrencyLimiter``. It is the only limit that includes time spent waiting for the disk.
    /// When the time is over, the call fails with ``NetError/Code/timeout``, and application code in the call,
    /// such as an interceptor, is cancelled. The caller does not wait for code that ignores the cancellation.
    public var total: Duration? = .seconds(300) { didSet { own.insert(.total) } }
    /// Largest size of the decoded response body, in bytes (64 MiB). With 0, a response must not have a body.
    public var maxBodyBytes: Int? = 64 << 20 { didSet { own.insert(.maxBodyBytes) } }
    /// Largest size of one response head, in bytes (256 KiB).
    public var maxHeadBytes: Int? = 256 << 10 { didSet { own.insert(.maxHeadBytes) } }
    /// Largest number of fields in one response head (256).
    public var maxHeadFields: Int? = 256 { didSet { own.insert(.maxHeadFields) } }
    /// Largest number of content codings that were applied to one body in sequence (3). With 0, no coding is requested,
    /// and a response with a coded body fails if the body would have to be decoded.
    public var maxCodings: Int? = 3 { didSet { own.insert(.maxCodings) } }
    /// Largest number of redirects to follow (20). With 0, the first redirect fails.
    public var maxRedirects = 20 { didSet { own.insert(.maxRedirects) } }
    /// Average rate of body bytes sent, per second. If `nil`, there is no limit.
    public var maxSendBytesPerSecond: Int? { didSet { own.insert(.maxSendBytesPerSecond) } }
    /// Average rate of body bytes received before decoding, per second. If `nil`, there is no limit.
    public var maxReceiveBytesPerSecond: Int? { didSet { own.insert(.maxReceiveBytesPerSecond) } }

    private var ownFields = OwnFields()
    /// The limits that were set; the others are inherited.
    private var own: Fields {
        get { ownFields.value }
        set { ownFields.value = newValue }
    }

    /// Creates limits that set nothing: each has its default, and a request inherits it.
    public init() {}

    /// Creates limits that set only the total time.
    public init(total: Duration) {
        self.total = total
        own = .total
    }

    /// The default limits of streams and saves: 7 days in total, and a body of any size. A stalled transfer still ends
    /// by the ``idle`` limit.
    package static var streaming: Limits {
        var limits = Limits()
        limits.total = .seconds(7 * 24 * 60 * 60)
        limits.maxBodyBytes = nil
        return limits
    }
}

extension Limits {
    /// The limits that a value of ``Limits`` can set.
    private struct Fields: OptionSet {
        var rawValue: UInt16 = 0
        static let connect = Fields(rawValue: 1 << 0)
        static let firstByte = Fields(rawValue: 1 << 1)
        static let idle = Fields(rawValue: 1 << 2)
        static let slot = Fields(rawValue: 1 << 3)
        static let total = Fields(rawValue: 1 << 4)
        static let maxBodyBytes = Fields(rawValue: 1 << 5)
        static let maxHeadBytes = Fields(rawValue: 1 << 6)
        static let maxHeadFields = Fields(rawValue: 1 << 7)
        static let maxCodings = Fields(rawValue: 1 << 8)
        static let maxRedirects = Fields(rawValue: 1 << 9)
        static let maxSendBytesPerSecond = Fields(rawValue: 1 << 10)
        static let maxReceiveBytesPerSecond = Fields(rawValue: 1 << 11)
    }

    /// It has no influence on equality: two limits are equal if the same limits apply.
    private struct OwnFields: Hashable {
        var value: Fields = []

        static func == (left: Self, right: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// Whether no limit is set.
    var isEmpty: Bool { own.isEmpty }

    /// Whether the total time is set.
    var hasTotal: Bool { own.contains(.total) }

    /// Returns the limits that are set here, and the others from `outer`.
    func over(_ outer: Limits) -> Limits {
        var limits = outer
        if own.contains(.connect) { limits.connect = connect }
        if own.contains(.firstByte) { limits.firstByte = firstByte }
        if own.contains(.idle) { limits.idle = idle }
        if own.contains(.slot) { limits.slot = slot }
        if own.contains(.total) { limits.total = total }
        if own.contains(.maxBodyBytes) { limits.maxBodyBytes = maxBodyBytes }
        if own.contains(.maxHeadBytes) { limits.maxHeadBytes = maxHeadBytes }
        if own.contains(.maxHeadFields) { limits.maxHeadFields = maxHeadFields }
        if own.contains(.maxCodings) { limits.maxCodings = maxCodings }
        if own.contains(.maxRedirects) { limits.maxRedirects = maxRedirects }
        if own.contains(.maxSendBytesPerSecond) { limits.maxSendBytesPerSecond = maxSendBytesPerSecond }
        if own.contains(.maxReceiveBytesPerSecond) { limits.maxReceiveBytesPerSecond = maxReceiveBytesPerSecond }
        return limits
    }
}

/// Limits behind one reference. Most requests use their agent's limits and store none, and limits take much memory
/// compared with the rest of a request.
final class LimitsStorage: Sendable {
    let value: Limits

    init(_ value: Limits) {
        self.value = value
    }
}

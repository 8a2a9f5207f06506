/// Limits of one request. All but the rates are finite until they are set to nil; ``maxRedirects`` always is a number.
public struct Limits: Sendable, Hashable {
    /// Name lookup, TCP and TLS of one hop (10 s).
    public var connect: Duration? = .seconds(10)
    /// From the last request byte to the first response byte of one hop (60 s).
    public var firstByte: Duration? = .seconds(60)
    /// Between two pieces of the body, either way (60 s).
    /// Interim heads, head lines, trailers and chunk extensions that come bit by bit may take ten times as long in all.
    public var idle: Duration? = .seconds(60)
    /// Waiting for a slot (60 s).
    public var slot: Duration? = .seconds(60)
    /// Everything from send to the end (300 s); waiting for the disk counts here alone.
    public var total: Duration? = .seconds(300)
    /// The response body after decoding, in bytes (64 MiB); 0 refuses any.
    public var maxBodyBytes: Int? = 64 << 20
    /// One response head, in bytes (256 KiB).
    public var maxHeadBytes: Int? = 256 << 10
    /// Fields in one response head (256).
    public var maxHeadFields: Int? = 256
    /// Content codings of one body, one upon the other (3); 0 asks for none and refuses any that would be undone.
    public var maxCodings: Int? = 3
    /// Redirects followed (20); 0 fails on the first.
    public var maxRedirects = 20
    /// Body bytes sent a second, on average; nil is no limit.
    public var maxSendBytesPerSecond: Int?
    /// Body bytes received a second, before decoding, on average; nil is no limit.
    public var maxReceiveBytesPerSecond: Int?

    /// The defaults.
    public init() {}

    /// The defaults of streams and saves: 7 days in all, and a body of any size. Idleness ends them.
    public static var streaming: Limits {
        var limits = Limits()
        limits.total = .seconds(7 * 24 * 60 * 60)
        limits.maxBodyBytes = nil
        return limits
    }
}

/// Limits of one request. All except the rates are finite until they are set to `nil`; ``maxRedirects`` is always
/// finite.
public struct Limits: Sendable, Hashable {
    /// Time for name lookup, TCP and TLS of one hop (10 s).
    public var connect: Duration? = .seconds(10)
    /// Time from the last request byte to the first response byte of one hop (60 s).
    public var firstByte: Duration? = .seconds(60)
    /// Time between two pieces of the body, in either direction (60 s). Interim heads, head lines, trailers and chunk
    /// extensions that arrive bit by bit may take ten times as long in total.
    public var idle: Duration? = .seconds(60)
    /// Time to wait for a slot (60 s).
    public var slot: Duration? = .seconds(60)
    /// Time from sending to the end (300 s): computed headers and parameters, interceptors and their waits, refreshed
    /// credentials, all tries, redirects and challenges, and the wait in a ``CallLane``. Time to wait for the
    /// disk counts only here.
    ///
    /// When the time is over, the call fails with ``NetError/Code/totalTimedOut``. App code in the call, such as an
    /// interceptor, is cancelled. It does not hold the caller if it ignores the cancellation.
    public var total: Duration? = .seconds(300)
    /// Size of the decoded response body, in bytes (64 MiB); 0 refuses any body.
    public var maxBodyBytes: Int? = 64 << 20
    /// Size of one response head, in bytes (256 KiB).
    public var maxHeadBytes: Int? = 256 << 10
    /// Fields in one response head (256).
    public var maxHeadFields: Int? = 256
    /// Content codings of one body, applied on top of each other (3). With 0, none is requested, and a coded body that
    /// would have to be decoded is refused.
    public var maxCodings: Int? = 3
    /// Redirects to follow (20); 0 fails on the first.
    public var maxRedirects = 20
    /// Average rate of body bytes sent, per second. If `nil`, there is no limit.
    public var maxSendBytesPerSecond: Int?
    /// Average rate of body bytes received before decoding, per second. If `nil`, there is no limit.
    public var maxReceiveBytesPerSecond: Int?

    /// Creates the default limits.
    public init() {}

    /// The default limits of streams and saves: 7 days in total, and a body of any size. The idle limit ends stalled
    /// ones.
    public static var streaming: Limits {
        var limits = Limits()
        limits.total = .seconds(7 * 24 * 60 * 60)
        limits.maxBodyBytes = nil
        return limits
    }
}

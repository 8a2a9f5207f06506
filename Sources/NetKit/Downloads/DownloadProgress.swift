/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes of the file so far, including those of earlier attempts.
    public var received = 0
    /// The bytes among them that an earlier attempt received.
    public var resumed = 0
    /// The size of the file in bytes, or `nil` if it is unknown.
    public var total: Int?
    /// Bytes per second over the last seconds, without resumed bytes.
    public var bytesPerSecond = 0
    /// The remaining time at that rate, or `nil` if it is unknown.
    public var timeLeft: Duration?
    /// The number of segments in flight.
    public var activeSegments = 0

    /// Creates an empty progress.
    public init() {}

    /// The received fraction, from 0 to 1. `nil` if the total is unknown.
    public var fractionCompleted: Double? {
        total.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}

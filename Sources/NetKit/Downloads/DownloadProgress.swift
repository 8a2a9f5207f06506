/// How far a download is.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes of the file that are there, what was resumed included.
    public var received = 0
    /// Of these, bytes that an earlier attempt had fetched.
    public var resumed = 0
    /// Bytes of the whole file; nil when nobody knows.
    public var total: Int?
    /// Bytes a second over the last seconds, without what was resumed.
    public var bytesPerSecond = 0
    /// Time left at that rate; nil when nobody knows.
    public var timeLeft: Duration?
    /// Ranges under way.
    public var activeSegments = 0

    /// Nothing yet.
    public init() {}

    /// From 0 to 1; nil when nobody knows the total.
    public var fractionCompleted: Double? {
        total.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}

/// The numbers of finished, failed and all members of a ``Batch``.
public struct BatchProgress: Sendable, Hashable {
    /// The number of members that have ended, successfully or not.
    public var finished: Int
    /// The number of members that failed.
    public var failed: Int
    /// The number of members.
    public var total: Int
    /// Whether this is the last report. In the last report, ``finished`` equals ``total``, unless a failure or a
    /// cancellation stopped the remaining members.
    public var isOver: Bool

    /// Creates a progress value.
    public init(finished: Int = 0, failed: Int = 0, total: Int = 0, isOver: Bool = false) {
        self.finished = finished
        self.failed = failed
        self.total = total
        self.isOver = isOver
    }
}

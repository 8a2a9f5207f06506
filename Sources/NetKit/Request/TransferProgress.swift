/// How far a transfer is: body bytes of the hop under way, as they are on the wire.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes sent.
    public var sent = 0
    /// Bytes to send; nil when nobody knows.
    public var sendTotal: Int?
    /// Bytes received, before decoding.
    public var received = 0
    /// Bytes to receive; nil when nobody knows.
    public var receiveTotal: Int?
    /// Bytes a second, both ways together, over the last seconds.
    public var bytesPerSecond = 0
    /// The time left at that rate; nil when nobody knows.
    public var timeLeft: Duration?
    /// Where in a form of several parts the sending is; nil without one.
    public var part: Part?
    /// Whether the transfer has ended, well or not: nothing comes after it, and the counts are the final ones.
    public var isOver = false

    /// How far the part under way is; the parts before it are whole.
    public struct Part: Sendable, Hashable {
        /// The part's place in the form, from 0.
        public var index: Int
        /// Parts in the form; each value of parameters is one.
        public var count: Int
        /// Bytes of its content that were sent.
        public var sent: Int
        /// Bytes of its content; nil when nobody knows.
        public var total: Int?
    }

    /// Nothing has moved.
    public init() {}

    /// What has moved of what is to move, from 0 to 1; nil when nobody knows.
    public var fractionCompleted: Double? {
        if (sendTotal == nil && sent > 0) || (receiveTotal == nil && received > 0) {
            return nil
        }
        let total = Double(sendTotal ?? 0) + Double(receiveTotal ?? 0)
        return total > 0 ? min(1, (Double(sent) + Double(received)) / total) : nil
    }

    /// A handler for ``Request/progress``, and the sequence of what it is told: the newest alone is kept, and the
    /// sequence ends with the transfer.
    ///
    ///     let (handler, updates) = TransferProgress.stream()
    ///     request.progress = handler
    public static func stream() -> (
        handler: @Sendable (TransferProgress) -> Void, updates: AsyncStream<TransferProgress>
    ) {
        let (updates, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let handler: @Sendable (TransferProgress) -> Void = { progress in
            if progress.isOver {
                continuation.finish()
            } else {
                continuation.yield(progress)
            }
        }
        return (handler, updates)
    }
}

/// The progress of a transfer: body bytes of the current hop, as on the wire.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes sent.
    public var sent = 0
    /// The bytes to send; `nil` if unknown.
    public var sendTotal: Int?
    /// The bytes received, before decoding.
    public var received = 0
    /// The bytes to receive; `nil` if unknown.
    public var receiveTotal: Int?
    /// The rate of both directions together over the last seconds, in bytes per second.
    public var bytesPerSecond = 0
    /// The remaining time at that rate; `nil` if unknown.
    public var timeLeft: Duration?
    /// The progress of a multipart form's current part; `nil` without one.
    public var part: Part?
    /// Whether the transfer has ended, successfully or not. It is the last value, with the final counts.
    public var isOver = false

    /// The progress of the current part; the parts before it are complete.
    public struct Part: Sendable, Hashable {
        /// The part's index in the form, from 0.
        public var index: Int
        /// The number of parts in the form; each value of parameters is one.
        public var count: Int
        /// The bytes of its content that were sent.
        public var sent: Int
        /// The bytes of its content; `nil` if unknown.
        public var total: Int?
    }

    /// Creates the progress of a transfer before its first byte.
    public init() {}

    /// The fraction of the bytes that were transferred, from 0 to 1; `nil` if unknown.
    public var fractionCompleted: Double? {
        if (sendTotal == nil && sent > 0) || (receiveTotal == nil && received > 0) {
            return nil
        }
        let total = Double(sendTotal ?? 0) + Double(receiveTotal ?? 0)
        return total > 0 ? min(1, (Double(sent) + Double(received)) / total) : nil
    }

    /// Returns a handler for ``Request/progress`` and the sequence of its values. Only the newest value is kept, and
    /// the sequence ends with the transfer.
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

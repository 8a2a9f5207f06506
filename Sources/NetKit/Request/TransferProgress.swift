/// The progress of a transfer. The counts are body bytes of the current hop, as they are on the wire.
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
    /// The remaining time at the current rate; `nil` if unknown.
    public var timeLeft: Duration?
    /// The part of ``received`` that earlier attempts of a download received.
    public var resumed = 0
    /// The progress of a multipart form's current part; `nil` without one.
    public var part: Part?
    /// Whether the transfer has ended, successfully or not. The value with `isOver` is the last one and has the final
    /// counts.
    public var isOver = false

    /// The progress of the current part; the parts before it are complete.
    public struct Part: Sendable, Hashable {
        /// The part's index in the form, from 0.
        public var index: Int
        /// The number of parts in the form. Each value of appended ``Parameters`` is a part.
        public var count: Int
        /// The bytes of the part's content that were sent.
        public var sent: Int
        /// The length of the part's content in bytes; `nil` if unknown.
        public var total: Int?
    }

    /// Creates the progress of a transfer before its first byte.
    public init() {}

    /// The bytes to transfer in both directions, to which ``fractionCompleted`` refers: those of the request body, and
    /// those of the response body as soon as its head has arrived. `nil` if unknown.
    public var total: Int? {
        if (sendTotal == nil && sent > 0) || (receiveTotal == nil && received > 0) {
            return nil
        }
        let total = (sendTotal ?? 0).addingSaturated(receiveTotal ?? 0)
        return total > 0 ? total : nil
    }

    /// The fraction of the bytes that were transferred, from 0 to 1; `nil` if unknown.
    public var fractionCompleted: Double? {
        total.map { min(1, (Double(sent) + Double(received)) / Double($0)) }
    }

    /// Returns a handler for ``Request/progress``, and a sequence of the values that the handler receives. The sequence
    /// drops values that are not read before the next one arrives. It ends when the transfer ends.
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

extension Int {
    /// Returns the sum of two non-negative counts, or `Int.max` if it overflows. The lengths that a server announces
    /// may be that large.
    package func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

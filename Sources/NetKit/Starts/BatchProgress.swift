/// The progress of a batch.
public struct BatchProgress: Sendable, Hashable {
    /// Members that have ended, successfully or not.
    public var finished = 0
    /// Members that failed.
    public var failed = 0
    /// The number of members.
    public var total = 0
    /// Whether this is the last report. Then ``finished`` is ``total``, unless a failure or a cancellation ended the
    /// remaining members.
    public var isOver = false

    /// Creates a progress value.
    public init(finished: Int = 0, failed: Int = 0, total: Int = 0, isOver: Bool = false) {
        self.finished = finished
        self.failed = failed
        self.total = total
        self.isOver = isOver
    }

    /// The finished fraction, from 0 to 1; 1 for an empty batch.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }
}

/// A batch's progress as an asynchronous stream.
///
///     let feed = BatchProgressFeed()
///     batch.progress = feed.take
///     for await progress in feed.values { … }
///
/// A feed serves one task. The stream ends with the last report, or when the feed is deallocated.
public final class BatchProgressFeed: Sendable {
    /// Every report in order, for one reader.
    public let values: AsyncStream<BatchProgress>
    private let continuation: AsyncStream<BatchProgress>.Continuation

    /// Creates a feed without values.
    public init() {
        (values, continuation) = AsyncStream.makeStream()
    }

    deinit {
        continuation.finish()
    }

    /// A handler that appends each report to the stream.
    public var take: @Sendable (BatchProgress) -> Void {
        { [continuation] progress in
            continuation.yield(progress)
            if progress.isOver {
                continuation.finish()
            }
        }
    }
}

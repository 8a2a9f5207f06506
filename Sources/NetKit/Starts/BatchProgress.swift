/// How far a batch is.
public struct BatchProgress: Sendable, Hashable {
    /// Members that have ended, well or not.
    public var finished = 0
    /// Those among them that failed.
    public var failed = 0
    /// Members in all.
    public var total = 0
    /// Whether this is the last word. Then ``finished`` is ``total``, unless a failure or a cancellation ended the rest.
    public var isOver = false

    /// So far.
    public init(finished: Int = 0, failed: Int = 0, total: Int = 0, isOver: Bool = false) {
        self.finished = finished
        self.failed = failed
        self.total = total
        self.isOver = isOver
    }

    /// From 0 to 1; 1 of an empty batch.
    public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }
}

/// A batch's progress as an asynchronous stream.
///
///     let feed = BatchProgressFeed()
///     batch.progress = feed.take
///     for await progress in feed.values { … }
///
/// One run for each feed: the stream ends with its last word, or when the feed is let go.
public final class BatchProgressFeed: Sendable {
    /// What is told, in order, for one reader: none is left out.
    public let values: AsyncStream<BatchProgress>
    private let continuation: AsyncStream<BatchProgress>.Continuation

    /// A feed of nothing yet.
    public init() {
        (values, continuation) = AsyncStream.makeStream()
    }

    deinit {
        continuation.finish()
    }

    /// Passes it on.
    public var take: @Sendable (BatchProgress) -> Void {
        { [continuation] progress in
            continuation.yield(progress)
            if progress.isOver {
                continuation.finish()
            }
        }
    }
}

extension CallProgress {
    /// The numbers of ended, failed and all parts of a call, such as the members of a batch.
    public struct Parts: Sendable, Hashable {
        /// The number of parts that have ended, successfully or not.
        public var finished = 0
        /// The number of parts that failed.
        public var failed = 0
        /// The number of parts.
        public var total = 0
        /// Whether this is the last report. In the last report, ``finished`` equals ``total``, unless a failure or a
        /// cancellation stopped the remaining parts.
        public var isOver = false

        /// Creates a progress value.
        package init(finished: Int = 0, failed: Int = 0, total: Int = 0, isOver: Bool = false) {
            self.finished = finished
            self.failed = failed
            self.total = total
            self.isOver = isOver
        }

        /// The finished fraction, from 0 to 1; 1 for an empty batch.
        package var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }
    }

    /// Returns the progress of a whole that consists of weighted parts.
    ///
    /// - Parameters:
    ///   - own: the state of the whole itself.
    ///   - parts: the progress and weight of each part that was added.
    ///   - expected: the announced number of parts. Parts that are still missing count as not started, with weight 1.
    static func sum(
        _ own: Snapshot, _ parts: [(snapshot: Snapshot, weight: Double)], expected: Int
    ) -> Snapshot {
        var sum = own
        sum.upload = Way(total: 0)
        sum.download = Way(total: 0)
        sum.parts = CallProgress.Parts()
        let missing = max(0, expected - parts.count)
        var weight = Double(missing)
        var done = 0.0
        for (part, partWeight) in parts {
            sum.upload.add(part.upload, isOver: part.isOver)
            sum.download.add(part.download, isOver: part.isOver)
            sum.parts.finished += part.parts.finished
            sum.parts.failed += part.parts.failed
            sum.parts.total += part.parts.total
            weight += partWeight
            done += partWeight * (part.isOver ? 1 : part.fractionCompleted ?? 0)
        }
        sum.parts.total += missing
        if missing > 0 {
            sum.upload.total = nil
            sum.download.total = nil
        }
        sum.fractionCompleted = own.isOver ? 1 : weight > 0 ? min(1, done / weight) : nil
        return sum
    }
}

extension CallProgress.Way {
    fileprivate mutating func add(_ other: Self, isOver: Bool) {
        completed = completed.addingSaturated(other.completed)
        bytesPerSecond = bytesPerSecond.addingSaturated(other.bytesPerSecond)
        if isOver {
            total = total.map { $0.addingSaturated(other.completed) }
        } else if let ownTotal = total, let otherTotal = other.total {
            total = ownTotal.addingSaturated(otherTotal)
        } else {
            total = nil
        }
    }
}

/// A smoothed rate in bytes per second. After each window of one second, the rate becomes the mean of the previous rate
/// and the rate of that window. Pure.
struct ByteRate: Sendable, Hashable {
    private static let window = Duration.seconds(1)

    private var windowStart: Duration?
    private var bytesAtWindowStart = 0
    private var rate = 0.0
    /// The rate during the first second.
    private var firstRate = 0.0
    private var lastBytes = 0

    /// Records the total number of bytes at this time.
    mutating func record(_ bytes: Int, at now: Duration) {
        guard let windowStart, bytes >= bytesAtWindowStart else {
            // The first report, or a new transfer that starts from zero.
            self.windowStart = now
            bytesAtWindowStart = bytes
            lastBytes = bytes
            return
        }
        let passed = now - windowStart
        if passed >= Self.window {
            rate = smoothed(bytes - bytesAtWindowStart, passed)
            self.windowStart = now
            bytesAtWindowStart = bytes
        } else if rate == 0, passed > .zero {
            firstRate = Double(bytes - bytesAtWindowStart) / (passed / .seconds(1))
        }
        lastBytes = bytes
    }

    /// The rate at this time. It falls while no bytes arrive.
    func bytesPerSecond(at now: Duration) -> Int {
        guard let windowStart else { return 0 }
        let passed = now - windowStart
        let isLate = passed >= Self.window + Self.window
        let value = isLate ? smoothed(lastBytes - bytesAtWindowStart, passed) : rate == 0 ? firstRate : rate
        // `Int64(moment:)` saturates: many bytes in almost no time could exceed the range of Int.
        return Int(Int64(moment: value.rounded()))
    }

    /// Starts a new window, so that the pause before `now` does not count.
    mutating func excludePause(until now: Duration) {
        windowStart = now
        bytesAtWindowStart = lastBytes
    }

    private func smoothed(_ bytes: Int, _ passed: Duration) -> Double {
        let newRate = Double(max(0, bytes)) / (passed / .seconds(1))
        return rate == 0 ? newRate : (rate + newRate) / 2
    }
}

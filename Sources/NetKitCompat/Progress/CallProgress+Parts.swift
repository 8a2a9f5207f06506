import NetKit

extension CallProgress {
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
        sum.parts = BatchProgress()
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

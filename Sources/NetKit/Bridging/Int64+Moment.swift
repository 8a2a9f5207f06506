extension Int64 {
    /// A moment, a length of time or a count, rounded down. One beyond half of what fits, or that is no number, is
    /// the farthest: the core may add to it.
    init(moment value: Double) {
        // In this order NaN is the farthest too.
        self = Int64(Swift.max(-0x1p62, Swift.min(0x1p62, value.rounded(.down))))
    }
}

extension Int64 {
    /// Creates a moment, a length of time or a count, rounded down. A value beyond half of the range, and NaN, become
    /// the largest one: the core may add to it.
    init(moment value: Double) {
        // In this order NaN becomes the largest value too.
        self = Int64(Swift.max(-0x1p62, Swift.min(0x1p62, value.rounded(.down))))
    }
}

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
        // Many bytes in almost no time could exceed the range of Int.
        return Int(min(0x1p62, value.rounded()))
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

extension Int {
    /// Returns the sum of two non-negative counts, or `Int.max` if it overflows. The lengths that a server announces
    /// may be that large.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

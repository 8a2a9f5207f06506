/// A smoothed rate in bytes per second: each full second has the same weight as all time before it. Pure.
struct ByteRate: Sendable, Hashable {
    private static let window = Duration.seconds(1)

    private var begin: Duration?
    private var beginBytes = 0
    private var rate = 0.0
    /// Bytes of the first second.
    private var early = 0.0
    private var last = 0

    /// Records the total number of bytes at this time.
    mutating func note(_ bytes: Int, at now: Duration) {
        guard let begin, bytes >= beginBytes else {
            // The first report, or a new transfer that starts from zero.
            self.begin = now
            beginBytes = bytes
            last = bytes
            return
        }
        let passed = now - begin
        if passed >= Self.window {
            rate = smoothed(bytes - beginBytes, passed)
            self.begin = now
            beginBytes = bytes
        } else if rate == 0, passed > .zero {
            early = Double(bytes - beginBytes) / (passed / .seconds(1))
        }
        last = bytes
    }

    /// The rate at this time. It falls while no bytes arrive.
    func bytesPerSecond(at now: Duration) -> Int {
        guard let begin else { return 0 }
        let passed = now - begin
        let isLate = passed >= Self.window + Self.window
        let value = isLate ? smoothed(last - beginBytes, passed) : rate == 0 ? early : rate
        // Many bytes in almost no time would exceed the range of Int.
        return Int(Int64(moment: value.rounded()))
    }

    /// Excludes a pause from the rate.
    mutating func rest(until now: Duration) {
        begin = now
        beginBytes = last
    }

    private func smoothed(_ bytes: Int, _ passed: Duration) -> Double {
        let fresh = Double(max(0, bytes)) / (passed / .seconds(1))
        return rate == 0 ? fresh : (rate + fresh) / 2
    }
}

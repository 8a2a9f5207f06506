/// Bytes a second, smoothed: each full second counts as much as all before it. Pure.
struct ByteRate: Sendable, Hashable {
    private static let window = Duration.seconds(1)

    private var begin: Duration?
    private var beginBytes = 0
    private var rate = 0.0
    /// Before the first second is full.
    private var early = 0.0
    private var last = 0

    /// So many bytes have moved by now.
    mutating func note(_ bytes: Int, at now: Duration) {
        guard let begin, bytes >= beginBytes else {
            // The first word, or another transfer that begins anew.
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

    /// The rate by now: when nothing comes any more it falls.
    func bytesPerSecond(at now: Duration) -> Int {
        guard let begin else { return 0 }
        let passed = now - begin
        let isLate = passed >= Self.window + Self.window
        let value = isLate ? smoothed(last - beginBytes, passed) : rate == 0 ? early : rate
        // Much in no time is no rate that a number could tell.
        return Int(Int64(moment: value.rounded()))
    }

    /// Nothing was to move meanwhile.
    mutating func rest(until now: Duration) {
        begin = now
        beginBytes = last
    }

    private func smoothed(_ bytes: Int, _ passed: Duration) -> Double {
        let fresh = Double(max(0, bytes)) / (passed / .seconds(1))
        return rate == 0 ? fresh : (rate + fresh) / 2
    }
}

/// What retries may cost in all: when a server is down for everybody, it is not asked several times by each.
///
/// Every call adds a little, every retry takes one; an empty budget lets failures through. Share one among those that
/// share a server. Thread-safe.
public final class RetryBudget: Sendable {
    private let perCall: Double
    private let most: Double
    private let left: Lock<Double>

    /// - Parameters:
    ///   - perCall: retries that each call adds: 0.2 is one for five calls. From 0.
    ///   - reserve: retries that are there from the beginning, and the most that add up. From 0.
    public init(perCall: Double = 0.2, reserve: Int = 10) {
        self.perCall = max(0, perCall)
        most = Double(max(0, reserve))
        left = Lock(most)
    }

    /// Whole retries that are left.
    public var remaining: Int { Int(Int64(moment: left.withLock { $0 })) }

    func add() {
        left.withLock { [perCall, most] in $0 = min(most, $0 + perCall) }
    }

    /// Takes one; false when there is none.
    func take() -> Bool {
        left.withLock { left in
            // Fifths do not add up to whole numbers exactly.
            guard left > 1 - 1e-9 else { return false }
            left = max(0, left - 1)
            return true
        }
    }
}

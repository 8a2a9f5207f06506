/// A budget of retries, so that clients of a failing server do not multiply its load.
///
/// Every call adds a fraction, every retry takes one, and without one a failure is final. Share a budget among all
/// clients of a server. Thread-safe.
public final class RetryBudget: Sendable {
    private let perCall: Double
    private let most: Double
    private let left: Lock<Double>

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - perCall: the retries that each call adds: 0.2 is one for five calls. From 0.
    ///   - reserve: the retries at the beginning, and the largest number. From 0.
    public init(perCall: Double = 0.2, reserve: Int = 10) {
        self.perCall = max(0, perCall)
        most = Double(max(0, reserve))
        left = Lock(most)
    }

    /// The number of whole retries that are left.
    public var remaining: Int { Int(Int64(moment: left.withLock { $0 })) }

    func add() {
        left.withLock { [perCall, most] in $0 = min(most, $0 + perCall) }
    }

    /// Takes one retry. Returns false if there is none.
    func take() -> Bool {
        left.withLock { left in
            // Multiples of 0.2 do not add up to integers exactly.
            guard left > 1 - 1e-9 else { return false }
            left = max(0, left - 1)
            return true
        }
    }
}

import NetKit

extension Limits {
    /// Whether these limits equal `other`, except that `total` may be smaller. The agent subtracts the elapsed time from
    /// a call's total.
    func equals(_ other: Limits) -> Bool {
        var expected = other
        expected.total = total
        return self == expected && (other.total == total || total.map { $0 > .zero && $0 <= other.total ?? $0 } == true)
    }
}

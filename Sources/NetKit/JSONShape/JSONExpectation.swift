/// The JSON that a response's body must contain. It is checked while it arrives.
public struct JSONExpectation: Sendable {
    /// The shape of the JSON; `nil` accepts any shape.
    public var shape: JSONShape?
    /// Whether the check is as lenient as YTKNetwork's: null is accepted for any member, and a boolean for a number.
    public var isLenient = false
    /// The number of mismatches after which the transfer is ended (1), at most 1000.
    public var maxMismatches = 1
    /// The rules for accepted JSON.
    public var rules = JSONRules()
    /// Whether an empty or blank body is accepted.
    public var allowsEmptyBody = false

    /// Creates an expectation. The other properties have their defaults.
    public init(_ shape: JSONShape? = nil) {
        self.shape = shape
    }
}

extension JSONExpectation {
    /// Whether every body that meets this expectation also meets the other, so that it need not be checked again.
    func covers(_ other: JSONExpectation) -> Bool {
        guard rules == other.rules, !allowsEmptyBody || other.allowsEmptyBody else { return false }
        guard let wanted = other.shape else { return true }
        guard let shape, isLenient == other.isLenient, wanted.fault == nil else { return false }
        return shape.slot === wanted.slot || shape.tree == wanted.tree
    }
}

/// An expectation, stored by reference.
final class KeptExpectation: Sendable {
    let value: JSONExpectation

    init(_ value: JSONExpectation) {
        self.value = value
    }
}

/// What a response's body has to be: checked as it arrives.
public struct JSONExpectation: Sendable {
    /// The shape; nil is JSON of any shape.
    public var shape: JSONShape?
    /// Whether it is as lenient as YTKNetwork: null passes as the value of any member, a boolean as a number.
    public var isLenient = false
    /// Mismatches to collect before the transfer is ended (1), at most 1000.
    public var maxMismatches = 1
    /// What JSON is accepted.
    public var rules = JSONRules()
    /// Whether an empty body passes, and one of white space alone.
    public var allowsEmptyBody = false

    /// What a body has to be, with the defaults for everything else.
    public init(_ shape: JSONShape? = nil) {
        self.shape = shape
    }
}

extension JSONExpectation {
    /// Whether what is as this one wants it is as the other does, without a look at it.
    func covers(_ other: JSONExpectation) -> Bool {
        guard rules == other.rules, !allowsEmptyBody || other.allowsEmptyBody else { return false }
        guard let wanted = other.shape else { return true }
        guard let shape, isLenient == other.isLenient, wanted.fault == nil else { return false }
        return shape.slot === wanted.slot || shape.tree == wanted.tree
    }
}

/// An expectation behind one reference.
final class KeptExpectation: Sendable {
    let value: JSONExpectation

    init(_ value: JSONExpectation) {
        self.value = value
    }
}

/// What JSON is accepted: exactly RFC 8259 in UTF-8, and these choices.
public struct JSONRules: Sendable, Hashable {
    /// Arrays and objects within one another (512), at most 1,000,000; a ``JSONValue`` is never deeper than 512.
    public var maxDepth = 512
    /// Bytes of the whole text; nil is no limit.
    public var maxBytes: Int?
    /// Bytes of one number; nil is no limit.
    public var maxNumberBytes: Int?
    /// Whether `\ud800` without its other half is accepted; it is read as U+FFFD.
    public var allowsLoneSurrogates = false
    /// Whether a name that its object has already had is refused.
    public var refusesDuplicateNames = false

    /// The defaults.
    public init() {}
}

/// The rules for accepted JSON: RFC 8259 in UTF-8, with these options.
public struct JSONRules: Sendable, Hashable {
    /// The largest nesting depth of arrays and objects (512), at most 1,000,000. A ``JSONValue`` is never deeper than
    /// 512.
    public var maxDepth = 512
    /// The largest number of bytes of the text; `nil` is no limit.
    public var maxBytes: Int?
    /// The largest number of bytes of one number; `nil` is no limit.
    public var maxNumberBytes: Int?
    /// Whether a lone surrogate such as `\ud800` is accepted; it is read as U+FFFD.
    public var allowsLoneSurrogates = false
    /// Whether a duplicate name in an object is an error.
    public var refusesDuplicateNames = false

    /// Creates the default rules.
    public init() {}
}

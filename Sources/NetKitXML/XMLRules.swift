/// How much a text may be. Whatever these say, nothing outside is fetched and no entity is expanded: a reference to one
/// other than XML's own five is ``NetKit/NetError/Code/badXML``.
public struct XMLRules: Sendable, Hashable {
    /// The whole text, in bytes (64 MiB).
    public var maxBytes = 64 << 20
    /// How deep elements may stand, 1 to 256 (256).
    public var maxDepth = 256
    /// One tag, comment, instruction or document type, in bytes (1 MiB).
    public var maxTokenBytes = 1 << 20
    /// Elements, attributes, texts and the like of one document (1,000,000); a sequence of events has no such limit.
    public var maxNodes = 1_000_000

    /// The defaults.
    public init() {}
}

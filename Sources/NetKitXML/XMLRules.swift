#if XML
/// The limits of an XML text.
///
/// Regardless of these rules, nothing external is fetched, and only XML's five predefined entities are supported. A
/// reference to any other entity throws ``NetKit/NetError/Code/badXML``.
public struct XMLRules: Sendable, Hashable {
    /// The largest size of the text in bytes (64 MiB).
    public var maxBytes = 64 << 20
    /// The largest nesting depth of elements, 1 to 256 (256).
    public var maxDepth = 256
    /// The largest size of a tag, comment, processing instruction or document type declaration in bytes (1 MiB).
    public var maxTokenBytes = 1 << 20
    /// The largest number of nodes in a document, such as elements, attributes and texts (1,000,000). A sequence of
    /// events has no such limit.
    public var maxNodes = 1_000_000

    /// Creates the default rules.
    public init() {}
}
#endif

#if XML
/// The name of an element or an attribute.
public struct XMLName: Sendable, Hashable {
    /// The part after the colon, or the whole name.
    public var local: String
    /// The part before the colon, or `nil` if there is no colon.
    public var prefix: String?
    /// The namespace that the prefix stands for, or the default namespace. `nil` if the name has no namespace.
    public var namespace: String?

    /// Creates a name.
    public init(_ local: String, prefix: String? = nil, namespace: String? = nil) {
        self.local = local
        self.prefix = prefix
        self.namespace = namespace
    }

    /// The name as written in the document.
    public var qualified: String { prefix.map { "\($0):\(local)" } ?? local }
}
#endif

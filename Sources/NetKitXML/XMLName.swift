/// The name of an element or an attribute.
public struct XMLName: Sendable, Hashable {
    /// The part after the colon, or the whole name.
    public var local: String
    /// The part before the colon, or `nil` without one.
    public var prefix: String?
    /// The namespace of the prefix, or the default one; `nil` is none.
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

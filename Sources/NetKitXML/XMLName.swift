/// The name of an element or an attribute.
public struct XMLName: Sendable, Hashable {
    /// What stands behind the colon, or all of it.
    public var local: String
    /// What stands before the colon; nil where there is none.
    public var prefix: String?
    /// The namespace that the prefix, or its absence, means; nil is none.
    public var namespace: String?

    /// A name.
    public init(_ local: String, prefix: String? = nil, namespace: String? = nil) {
        self.local = local
        self.prefix = prefix
        self.namespace = namespace
    }

    /// As it is written.
    public var qualified: String { prefix.map { "\($0):\(local)" } ?? local }
}

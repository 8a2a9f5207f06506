#if XML
/// An attribute of an element.
public struct XMLAttribute: Sendable, Hashable {
    /// The name.
    public var name: XMLName
    /// The value, with character and entity references resolved.
    public var value: String

    /// Creates an attribute.
    public init(_ name: XMLName, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A namespace declaration of an element.
public struct XMLNamespace: Sendable, Hashable {
    /// The prefix, or `nil` for the default namespace.
    public var prefix: String?
    /// The namespace name. An empty name removes the declaration of the prefix.
    public var name: String

    /// Creates a declaration.
    public init(prefix: String?, name: String) {
        self.prefix = prefix
        self.name = name
    }
}
#endif

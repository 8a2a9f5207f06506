/// An attribute of an element.
public struct XMLAttribute: Sendable, Hashable {
    /// Its name.
    public var name: XMLName
    /// Its value, references undone.
    public var value: String

    /// An attribute.
    public init(_ name: XMLName, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A namespace that an element declares.
public struct XMLNamespace: Sendable, Hashable {
    /// What stands for it in names; nil where names have no colon.
    public var prefix: String?
    /// Its name; empty takes a namespace back.
    public var name: String

    /// A declaration.
    public init(prefix: String?, name: String) {
        self.prefix = prefix
        self.name = name
    }
}

/// The format of a property list.
public enum PropertyListFormat: Sendable, Hashable {
    /// XML 1.0, as AFNetworking writes it.
    case xml
    /// The binary format.
    case binary
}

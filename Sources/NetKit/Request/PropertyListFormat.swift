/// How a property list is written.
public enum PropertyListFormat: Sendable, Hashable {
    /// XML 1.0, as AFNetworking writes it.
    case xml
    /// The binary format.
    case binary
}

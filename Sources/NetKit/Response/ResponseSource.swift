/// The origin of a response.
public enum ResponseSource: Sendable, Hashable {
    /// The network.
    case network
    /// A stub, in tests.
    case stub
    /// The cache; see ``Response/cache``.
    case cache
}

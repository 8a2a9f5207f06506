/// Where a response came from.
public enum ResponseSource: Sendable, Hashable {
    /// The network.
    case network
    /// A stub, in tests.
    case stub
    /// The cache; ``Response/cache`` tells more.
    case cache
}

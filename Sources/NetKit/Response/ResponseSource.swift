/// Where a response came from.
public enum ResponseSource: Sendable, Hashable {
    /// The network.
    case network
    /// A stub, in tests.
    case stub
}

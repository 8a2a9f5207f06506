/// The addresses at which servers and proxies are connected to.
public enum AddressFamily: Sendable, Hashable {
    /// IPv6 and IPv4, and of them the one that connects first (RFC 8305).
    case any
    /// IPv4 alone.
    case ipv4
    /// IPv6 alone.
    case ipv6
}

/// The address family of connections to servers and proxies.
public enum AddressFamily: Sendable, Hashable {
    /// IPv6 and IPv4; the one that connects first is used (RFC 8305).
    case any
    /// IPv4 only.
    case ipv4
    /// IPv6 only.
    case ipv6
}

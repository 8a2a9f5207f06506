/// Which protocol is spoken.
public enum ProtocolChoice: Sendable, Hashable {
    /// HTTP/2 over TLS when the server agrees by ALPN, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
}

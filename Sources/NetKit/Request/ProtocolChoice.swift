/// Which protocol is spoken.
public enum ProtocolChoice: Sendable, Hashable {
    /// HTTP/2 over TLS when the server agrees by ALPN, else HTTP/1.1.
    case automatic
    /// HTTP/1.0 only.
    case http1_0
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 without asking, also over plain TCP (RFC 9113, 3.3).
    case http2PriorKnowledge
    /// HTTP/3 only; ``NetError/Code/unsupported`` where libcurl has none.
    case http3
}

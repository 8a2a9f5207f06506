/// Which protocol is spoken.
public enum ProtocolChoice: Sendable, Hashable {
    /// HTTP/2 over TLS when the server agrees by ALPN, else HTTP/1.1. A URL and headers that together have more than
    /// 48 KiB go over HTTP/1.1.
    case automatic
    /// HTTP/1.0 only.
    case http1_0
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 over plain TCP without asking (RFC 9113, 3.3). Over TLS as ``automatic``: the handshake asks, and may choose
    /// HTTP/1.1. A larger head than ``automatic`` sends so is ``NetError/Code/tooLarge``. Without TLS a body that has no
    /// Content-Length fails with ``NetError/Code/cutShort``, because it is unknown whether it is whole.
    case http2PriorKnowledge
    /// HTTP/3 only; ``NetError/Code/unsupported`` where libcurl has none.
    case http3
}

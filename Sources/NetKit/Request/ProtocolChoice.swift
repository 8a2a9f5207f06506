/// The HTTP version to use.
public enum ProtocolChoice: Sendable, Hashable {
    /// HTTP/2 over TLS if the server agrees by ALPN, otherwise HTTP/1.1. A request whose URL and headers together
    /// exceed 48 KiB uses HTTP/1.1.
    case automatic
    /// HTTP/1.0 only.
    case http1_0
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 over plain TCP with prior knowledge (RFC 9113, 3.3). Over TLS as ``automatic``: ALPN may select HTTP/1.1.
    /// A head that is too large for HTTP/2 (see ``automatic``) fails with ``NetError/Code/tooLarge``. Without TLS, a
    /// body without Content-Length fails with ``NetError/Code/cutShort``, because it may be incomplete.
    case http2PriorKnowledge
    /// HTTP/3 only; ``NetError/Code/unsupported`` if libcurl has no HTTP/3.
    case http3
}

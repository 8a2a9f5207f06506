/// The protocol that a response came in.
public enum HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// Nothing came back, or the transport does not say.
    case unknown
    /// HTTP/1.0.
    case http1_0
    /// HTTP/1.1.
    case http1_1
    /// HTTP/2.
    case http2
    /// HTTP/3.
    case http3

    /// As a status line spells it, such as "HTTP/1.1".
    public var description: String {
        switch self {
        case .unknown: "HTTP"
        case .http1_0: "HTTP/1.0"
        case .http1_1: "HTTP/1.1"
        case .http2: "HTTP/2"
        case .http3: "HTTP/3"
        }
    }
}

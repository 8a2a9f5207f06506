/// The HTTP version of a response.
public enum HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// No response, or a transport that does not report the version.
    case unknown
    /// HTTP/1.0.
    case http1_0
    /// HTTP/1.1.
    case http1_1
    /// HTTP/2.
    case http2
    /// HTTP/3.
    case http3

    /// The version as in a status line, such as "HTTP/1.1".
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

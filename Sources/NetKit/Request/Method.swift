/// A request method (RFC 9110, 9): a token, compared with case.
public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The token as it is sent.
    public let rawValue: String

    /// Any token; what is no token is refused when the request is sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Any token, as a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// Whether it changes nothing on the server (RFC 9110, 9.2.1). QUERY is a safe method with a body
    /// (draft-ietf-httpbis-safe-method-w-body).
    var isSafe: Bool { [.get, .head, .options, "TRACE", "QUERY"].contains(self) }

    /// Whether sending it twice has the effect of sending it once (RFC 9110, 9.2.2): safe methods, PUT and DELETE.
    var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The token.
    public var description: String { rawValue }

    /// Asks for a representation.
    public static let get: Method = "GET"
    /// As GET, without the body.
    public static let head: Method = "HEAD"
    /// Hands a body to the resource.
    public static let post: Method = "POST"
    /// Replaces the resource.
    public static let put: Method = "PUT"
    /// Changes a part of the resource (RFC 5789).
    public static let patch: Method = "PATCH"
    /// Removes the resource.
    public static let delete: Method = "DELETE"
    /// Asks what is possible.
    public static let options: Method = "OPTIONS"
}

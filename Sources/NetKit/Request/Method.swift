/// A request method (RFC 9110, 9): a case-sensitive token.
public struct Method: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The token as sent.
    public let rawValue: String

    /// Creates a method from any text. One that is not a token is refused when the request is sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// Whether it is safe: changes nothing on the server (RFC 9110, 9.2.1). QUERY is a safe method with a body
    /// (draft-ietf-httpbis-safe-method-w-body).
    var isSafe: Bool { [.get, .head, .options, "TRACE", "QUERY"].contains(self) }

    /// Whether it is idempotent: sending it twice has the effect of sending it once (RFC 9110, 9.2.2). Safe methods,
    /// PUT and DELETE are.
    var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The token.
    public var description: String { rawValue }

    /// Requests a representation.
    public static let get: Method = "GET"
    /// GET without the response body.
    public static let head: Method = "HEAD"
    /// Submits a body to the resource.
    public static let post: Method = "POST"
    /// Replaces the resource.
    public static let put: Method = "PUT"
    /// Changes a part of the resource (RFC 5789).
    public static let patch: Method = "PATCH"
    /// Removes the resource.
    public static let delete: Method = "DELETE"
    /// Requests the supported options.
    public static let options: Method = "OPTIONS"
}

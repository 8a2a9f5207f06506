/// A request method, which is a case-sensitive token (RFC 9110, 9).
public struct Method: TextConstant, Hashable, Sendable {
    /// The token as sent.
    public let rawValue: String

    /// Creates a method from any text. If the text is not a token, sending the request fails.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

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

/// A response head without a body, such as that of a followed redirect.
public struct ResponseHead: Sendable {
    /// The status code, 100 to 999.
    public var status: Int
    /// The fields.
    public var headers: Headers
    /// The HTTP version.
    public var httpVersion: HTTPVersion
    /// The URL of the response, without credentials.
    public var url: String

    /// Creates a head for a stub or another transport.
    public init(status: Int, headers: Headers = [:], httpVersion: HTTPVersion = .unknown, url: String = "") {
        self.status = status
        self.headers = headers
        self.httpVersion = httpVersion
        self.url = url
    }
}

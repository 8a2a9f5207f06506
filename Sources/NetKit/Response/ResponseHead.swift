/// A head by itself: that of a redirect which was followed.
public struct ResponseHead: Sendable {
    /// The status code, 100 to 999.
    public var status: Int
    /// The fields.
    public var headers: Headers
    /// The protocol.
    public var httpVersion: HTTPVersion
    /// The URL that answered, without credentials.
    public var url: String

    /// A head as a stub or another transport tells it.
    public init(status: Int, headers: Headers = [:], httpVersion: HTTPVersion = .unknown, url: String = "") {
        self.status = status
        self.headers = headers
        self.httpVersion = httpVersion
        self.url = url
    }
}

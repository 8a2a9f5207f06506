/// What came back, and from where: a value.
public struct Response<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    /// The status code, 100 to 999; 0 in an error that came before any head.
    public var status: Int
    /// The fields of the last head.
    public var headers: Headers
    /// The body, its content codings undone.
    public var bytes: Bytes
    /// The protocol of the last hop.
    public var httpVersion: HTTPVersion
    /// What each hop cost.
    public var metrics: Metrics
    /// Where it came from.
    public var source: ResponseSource
    /// The fields after the body (RFC 9110, 6.5).
    public var trailers: Headers = [:]
    /// Whether nothing but the end of the connection told where the body ended: without TLS it may have been cut short
    /// without anybody's knowing.
    public var isCloseDelimited = false
    /// What the cache has to say of it, and to do with it.
    var cacheNote: CacheNote?

    /// What the cache had to do with it; nil where none was asked.
    public var cache: CacheReport? { cacheNote?.report }

    /// A response with another value in it.
    public func map<Other, Failure: Error>(
        _ transform: (Response) throws(Failure) -> Other
    ) throws(Failure) -> Response<Other> {
        replacingValue(by: try transform(self))
    }

    /// The same response around another value.
    func replacingValue<Other>(by value: Other) -> Response<Other> {
        var other = Response<Other>(
            value: value, status: status, headers: headers, bytes: bytes, httpVersion: httpVersion,
            metrics: metrics, source: source)
        other.trailers = trailers
        other.isCloseDelimited = isCloseDelimited
        other.cacheNote = cacheNote
        return other
    }

    /// The URL that answered, after redirects, without credentials; empty for a stub that names none.
    public var url: String { metrics.last?.url ?? "" }

    /// The URL up to its query, which may hold secrets that no message should tell.
    var place: Substring { url.prefix { $0 != "?" && $0 != "#" } }

    init(
        value: Value, status: Int, headers: Headers, bytes: Bytes, httpVersion: HTTPVersion, metrics: Metrics,
        source: ResponseSource
    ) {
        self.value = value
        self.status = status
        self.headers = headers
        self.bytes = bytes
        self.httpVersion = httpVersion
        self.metrics = metrics
        self.source = source
    }
}

extension Response where Value == Bytes {
    /// A response as a stub or a test makes it.
    public init(status: Int, headers: Headers = [:], bytes: Bytes = [], metrics: Metrics = Metrics()) {
        self.init(
            value: bytes, status: status, headers: headers, bytes: bytes, httpVersion: .unknown, metrics: metrics,
            source: .stub)
    }

    init(received: any ResponseStorage) {
        let bytes = Bytes(received: received)
        self.init(
            value: bytes, status: received.status, headers: Headers(received: received), bytes: bytes,
            httpVersion: received.httpVersion, metrics: Metrics(received: received), source: .network)
        trailers = received.trailers
        isCloseDelimited = received.isCloseDelimited
    }
}

/// The response to a request, with its decoded value.
public struct Response<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    // Four words in total: so small a value is passed in registers.
    private var kept: KeptResponse
    /// The cache's report, and the pending write to the cache.
    var cacheNote: CacheNote?

    /// The cache's report; `nil` if no cache was used.
    public var cache: CacheReport? { cacheNote?.report }

    /// Returns the response with another value.
    public func map<Other, Failure: Error>(
        _ transform: (Response) throws(Failure) -> Other
    ) throws(Failure) -> Response<Other> {
        replacingValue(by: try transform(self))
    }

    /// Returns the response with another value.
    func replacingValue<Other>(by value: Other) -> Response<Other> {
        Response<Other>(value: value, kept: kept, cacheNote: cacheNote)
    }

    /// The URL of the response after redirects, without credentials; empty for a stub without one.
    public var url: String { metrics.last?.url ?? "" }

    /// The URL up to its query, for messages: the query may contain secrets.
    var place: Substring { url.withoutQuery }

    init(value: Value, content: ResponseContent) {
        self.init(value: value, kept: KeptResponse(content), cacheNote: nil)
    }

    private init(value: Value, kept: KeptResponse, cacheNote: CacheNote?) {
        self.value = value
        self.kept = kept
        self.cacheNote = cacheNote
    }
}

extension Response {
    /// Setting it replaces the whole content: other copies keep the old one.
    private var content: ResponseContent {
        get { kept.value }
        set { kept = KeptResponse(newValue) }
    }

    /// The status code, 100 to 999; 0 in an error before any head.
    public var status: Int {
        get { kept.value.status }
        set { content.status = newValue }
    }

    /// The fields of the last head.
    public var headers: Headers {
        get { kept.value.headers }
        set { content.headers = newValue }
    }

    /// Whether credentials of a challenge were used: then the request does not show which user the response is for.
    var cameByChallenge: Bool {
        get { kept.value.cameByChallenge }
        set { content.cameByChallenge = newValue }
    }

    /// The body with content codings decoded.
    public var bytes: Bytes {
        get { kept.value.bytes }
        set { content.bytes = newValue }
    }

    /// The HTTP version of the last hop.
    public var httpVersion: HTTPVersion {
        get { kept.value.httpVersion }
        set { content.httpVersion = newValue }
    }

    /// The metrics of each hop.
    public var metrics: Metrics {
        get { kept.value.metrics }
        set { content.metrics = newValue }
    }

    /// The origin of the response: network, cache or stub.
    public var source: ResponseSource {
        get { kept.value.source }
        set { content.source = newValue }
    }

    /// The trailer fields (RFC 9110, 6.5).
    public var trailers: Headers {
        get { kept.value.trailers }
        set { content.trailers = newValue }
    }

    /// Whether the body ended with the connection only: without TLS it may have been truncated without detection.
    public var isCloseDelimited: Bool {
        get { kept.value.isCloseDelimited }
        set { content.isCloseDelimited = newValue }
    }
}

extension Response where Value == Bytes {
    /// Creates a response for a stub or a test.
    public init(status: Int, headers: Headers = [:], bytes: Bytes = [], metrics: Metrics = Metrics()) {
        self.init(
            value: bytes,
            content: ResponseContent(
                status: status, headers: headers, bytes: bytes, metrics: metrics, source: .stub))
    }

    init(received: any ResponseStorage) {
        let bytes = Bytes(received: received)
        let content = ResponseContent(
            status: received.status, headers: Headers(received: received), bytes: bytes,
            httpVersion: received.httpVersion, metrics: Metrics(received: received), source: .network,
            trailers: received.trailers, isCloseDelimited: received.isCloseDelimited)
        self.init(value: bytes, content: content)
    }
}

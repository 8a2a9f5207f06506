/// What came back, and from where: a value.
public struct Response<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    // Four words in all: so small a value is handed on in registers.
    private var kept: KeptResponse
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
        Response<Other>(value: value, kept: kept, cacheNote: cacheNote)
    }

    /// The URL that answered, after redirects, without credentials; empty for a stub that names none.
    public var url: String { metrics.last?.url ?? "" }

    /// The URL up to its query, which may hold secrets that no message should tell.
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
    /// Changed as a whole: what has been handed on stays as it was.
    private var content: ResponseContent {
        get { kept.value }
        set { kept = KeptResponse(newValue) }
    }

    /// The status code, 100 to 999; 0 in an error that came before any head.
    public var status: Int {
        get { kept.value.status }
        set { content.status = newValue }
    }

    /// The fields of the last head.
    public var headers: Headers {
        get { kept.value.headers }
        set { content.headers = newValue }
    }

    /// Whether it came to credentials that a challenge asked for: the request does not tell whose it is.
    var cameByChallenge: Bool {
        get { kept.value.cameByChallenge }
        set { content.cameByChallenge = newValue }
    }

    /// The body, its content codings undone.
    public var bytes: Bytes {
        get { kept.value.bytes }
        set { content.bytes = newValue }
    }

    /// The protocol of the last hop.
    public var httpVersion: HTTPVersion {
        get { kept.value.httpVersion }
        set { content.httpVersion = newValue }
    }

    /// What each hop cost.
    public var metrics: Metrics {
        get { kept.value.metrics }
        set { content.metrics = newValue }
    }

    /// Where it came from.
    public var source: ResponseSource {
        get { kept.value.source }
        set { content.source = newValue }
    }

    /// The fields after the body (RFC 9110, 6.5).
    public var trailers: Headers {
        get { kept.value.trailers }
        set { content.trailers = newValue }
    }

    /// Whether nothing but the end of the connection told where the body ended: without TLS it may have been cut short
    /// without anybody's knowing.
    public var isCloseDelimited: Bool {
        get { kept.value.isCloseDelimited }
        set { content.isCloseDelimited = newValue }
    }
}

extension Response where Value == Bytes {
    /// A response as a stub or a test makes it.
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

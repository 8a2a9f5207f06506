/// The response to a request, with its decoded value.
public struct Response<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    // With one reference for all content, a response has four words and is passed in registers.
    private var storage: ResponseContentStorage
    /// The cache's report, and the write to the cache that is still to be done.
    var cacheAnnotation: CacheAnnotation?

    /// The cache's report; `nil` if no cache was used.
    public var cache: CacheReport? { cacheAnnotation?.report }

    /// Returns the same response with a value that `transform` computes.
    public func map<Other, Failure: Error>(
        _ transform: (Response) throws(Failure) -> Other
    ) throws(Failure) -> Response<Other> {
        replacingValue(by: try transform(self))
    }

    /// Returns the response with another value.
    func replacingValue<Other>(by value: Other) -> Response<Other> {
        Response<Other>(value: value, storage: storage, cacheAnnotation: cacheAnnotation)
    }

    /// The URL of the response after redirects, without credentials; empty for a stub without one.
    public var url: String { metrics.last?.url ?? "" }

    /// The URL without its query, for messages. The query may contain secrets.
    var urlWithoutQuery: Substring { url.withoutQuery }

    init(value: Value, content: ResponseContent) {
        self.init(value: value, storage: ResponseContentStorage(content), cacheAnnotation: nil)
    }

    private init(value: Value, storage: ResponseContentStorage, cacheAnnotation: CacheAnnotation?) {
        self.value = value
        self.storage = storage
        self.cacheAnnotation = cacheAnnotation
    }
}

extension Response {
    /// Setting the content replaces the whole storage, so that copies of the response do not change.
    private var content: ResponseContent {
        get { storage.value }
        set { storage = ResponseContentStorage(newValue) }
    }

    /// The status code, 100 to 999. In the response of an error, 0 if no head was received.
    public var status: Int {
        get { storage.value.status }
        set { content.status = newValue }
    }

    /// Whether the status is from 200 to 299. By default, a call throws ``NetError/Code/status`` otherwise.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// The header fields of the last hop.
    public var headers: Headers {
        get { storage.value.headers }
        set { content.headers = newValue }
    }

    /// Whether credentials were sent in response to a challenge. If so, the request alone does not show which user the
    /// response is for.
    var cameByChallenge: Bool {
        get { storage.value.cameByChallenge }
        set { content.cameByChallenge = newValue }
    }

    /// The settings for decoding the body as JSON.
    var jsonCoding: JSONCodingStorage {
        get { storage.value.json ?? .standard }
        set { content.json = newValue }
    }

    /// The body with content codings decoded.
    public var bytes: Bytes {
        get { storage.value.bytes }
        set { content.bytes = newValue }
    }

    /// The HTTP version of the last hop.
    public var httpVersion: HTTPVersion {
        get { storage.value.httpVersion }
        set { content.httpVersion = newValue }
    }

    /// The metrics of each hop.
    public var metrics: Metrics {
        get { storage.value.metrics }
        set { content.metrics = newValue }
    }

    /// Where the response comes from: the network, a cache or a stub.
    public var source: ResponseSource {
        get { storage.value.source }
        set { content.source = newValue }
    }

    /// The trailer fields (RFC 9110, 6.5).
    public var trailers: Headers {
        get { storage.value.trailers }
        set { content.trailers = newValue }
    }

    /// Whether only the end of the connection marked the end of the body. Without TLS, such a body may be truncated,
    /// which cannot be detected.
    public var isCloseDelimited: Bool {
        get { storage.value.isCloseDelimited }
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

/// Where a response comes from.
public enum ResponseSource: Sendable, Hashable {
    /// The network.
    case network
    /// A stub, in tests.
    case stub
    /// The cache; see ``Response/cache``.
    case cache
}

/// The content of a response except its value.
struct ResponseContent: Sendable {
    var status: Int
    var headers: Headers
    var bytes: Bytes
    var httpVersion = HTTPVersion.unknown
    var metrics: Metrics
    var source: ResponseSource
    var trailers: Headers = [:]
    var isCloseDelimited = false
    var cameByChallenge = false
    /// The settings for decoding the body as JSON; `nil` for the defaults.
    var json: JSONCodingStorage?
}

/// The content of a response behind one reference. Interceptors pass a response on several times, and copying the whole
/// content each time would cost more than their work.
final class ResponseContentStorage: Sendable {
    let value: ResponseContent

    init(_ value: ResponseContent) {
        self.value = value
    }
}

/// Storage of a received response. Strings and other values are created only when they are read.
protocol ResponseStorage: ByteStorage {
    var status: Int { get }
    var httpVersion: HTTPVersion { get }
    var url: String { get }
    var headerCount: Int { get }
    func headerField(at index: Int) -> Headers.Field
    func headerContent(named name: String) -> ByteText?
    var trailers: Headers { get }
    var isCloseDelimited: Bool { get }
    var hopCount: Int { get }
    func hop(at index: Int) -> HopMetrics
}

/// The HTTP version of a response.
public enum HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// Unknown, because there was no response or the transport does not report the version.
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

/// A request: a value that an ``Agent`` can send any number of times.
///
///     let cities = Request<[City]>("cities", parameters: ["count": 10])
///     let login = Request<Token>("login", method: .post, body: try .json(credentials))
public struct Request<Value: Sendable>: Sendable {
    private(set) var kept: KeptContent
    /// The fields in the order of sending; they override the agent's.
    public var headers: Headers
    /// The conversion of the body to the value.
    public var decoding: Decoding<Value>

    /// Setting it replaces the whole content: other copies keep the old one.
    var content: RequestContent {
        get { kept.value }
        set { kept = KeptContent(newValue) }
    }

    /// Creates a request whose body `decoding` converts to a value.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        decoding: Decoding<Value>, acceptedStatuses: Range<Int>? = 200..<300
    ) {
        let content = RequestContent(
            method: method, url: url, body: body, parameters: parameters, acceptedStatuses: acceptedStatuses)
        self.init(KeptContent(content), headers: headers, decoding: decoding)
    }

    init(_ content: KeptContent, headers: Headers, decoding: Decoding<Value>) {
        kept = content
        self.headers = headers
        self.decoding = decoding
    }

    /// Returns the same request with another decoding.
    public func decoded<Other>(by decoding: Decoding<Other>) -> Request<Other> {
        Request<Other>(kept, headers: headers, decoding: decoding)
    }
}

extension Request {
    /// The method.
    public var method: Method {
        get { kept.value.method }
        set { content.method = newValue }
    }

    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String {
        get { kept.value.url }
        set { content.url = newValue }
    }

    /// The body; `nil` sends none.
    public var body: Body? {
        get { kept.value.body }
        set { content.body = newValue }
    }

    /// The limits. If `nil`, the agent's apply.
    public var limits: Limits? {
        get { kept.value.limits }
        set { content.limits = newValue }
    }

    /// The redirect policy. If `nil`, the agent's applies.
    public var redirects: RedirectPolicy? {
        get { kept.value.redirects }
        set { content.redirects = newValue }
    }

    /// The TLS trust policy. If `nil`, the agent's applies.
    public var trust: TrustPolicy? {
        get { kept.value.rare?.value.trust }
        set { content.rareParts.trust = newValue }
    }

    /// The HTTP version to use.
    public var protocolChoice: ProtocolChoice {
        get { kept.value.protocolChoice }
        set { content.protocolChoice = newValue }
    }

    /// Whether content codings are requested and decoded.
    public var acceptsCodings: Bool {
        get { kept.value.acceptsCodings }
        set { content.acceptsCodings = newValue }
    }

    /// Address overrides; the first match applies.
    public var addressOverrides: [AddressOverride] {
        get { kept.value.rare?.value.addressOverrides ?? [] }
        set { content.rareParts.addressOverrides = newValue }
    }

    /// The credentials to send. If `nil`, the agent uses its netrc file, if it has one.
    public var credentials: Credentials? {
        get { kept.value.rare?.value.credentials }
        set { content.rareParts.credentials = newValue }
    }

    /// The proxy. If `nil`, the agent's applies.
    public var proxy: Proxy? {
        get { kept.value.rare?.value.proxy }
        set { content.rareParts.proxy = newValue }
    }

    /// The path of a Unix socket to connect to, for the URL's own origin.
    public var unixSocket: String? {
        get { kept.value.rare?.value.unixSocket }
        set { content.rareParts.unixSocket = newValue }
    }

    /// The priority among the requests that wait for a slot.
    public var priority: Priority {
        get { kept.value.priority }
        set { content.priority = newValue }
    }

    /// The service class of its packets. If `nil`, the agent's applies; if that is `nil` too, packets have the default
    /// class.
    public var serviceClass: ServiceClass? {
        get { kept.value.rare?.value.serviceClass }
        set { content.rareParts.serviceClass = newValue }
    }

    /// How it uses the agent's cookie jar, if there is one (``Agent/Configuration/cookies``).
    public var cookieUse: CookieUse {
        get { kept.value.cookieUse }
        set { content.cookieUse = newValue }
    }

    /// Whether "/../" and "/./" in the path of an absolute URL are sent unchanged, including those in a redirect's
    /// Location.
    public var keepsDotSegments: Bool {
        get { kept.value.keepsDotSegments }
        set { content.keepsDotSegments = newValue }
    }

    /// Whether POST, PUT and PATCH without a body omit `Content-Length: 0`, which RFC 9110, 8.6 recommends.
    public var omitsZeroLength: Bool {
        get { kept.value.omitsZeroLength }
        set { content.omitsZeroLength = newValue }
    }

    /// Whether a response with a malformed field name, such as "X Foo", fails with ``NetError/Code/badResponse``.
    /// Otherwise that line is dropped and counted (``HopMetrics/droppedFields``). A line that another parser could take
    /// for the body's framing always fails.
    public var refusesMalformedFields: Bool {
        get { kept.value.refusesMalformedFields }
        set { content.refusesMalformedFields = newValue }
    }

    /// Whether to wait for the server's consent before sending the body (`Expect: 100-continue`; RFC 9110, 10.1.1). Has
    /// no effect without a body, or with an empty one.
    public var expectsContinue: Bool {
        get { kept.value.expectsContinue }
        set { content.expectsContinue = newValue }
    }

    /// Receives the progress, at most ten times a second, on the event loop thread; it must not block. The last value
    /// (``TransferProgress/isOver``) may come from another thread.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { kept.value.progress }
        set { content.progress = newValue }
    }

    /// The largest number of unread bytes of a streamed body (1 MiB). Above it, the transfer pauses.
    public var streamBufferBytes: Int {
        get { kept.value.streamBufferBytes }
        set { content.streamBufferBytes = newValue }
    }

    /// The destination of `save(_:to:)`. A transport that writes the body there returns a response without bytes.
    public internal(set) var savePath: String? {
        get { kept.value.rare?.value.savePath }
        set { content.rareParts.savePath = newValue }
    }

    /// The accepted statuses; any other throws ``NetError/Code/unacceptableStatus``. If `nil`, all are accepted.
    public var acceptedStatuses: Range<Int>? {
        get { kept.value.acceptedStatuses }
        set { content.acceptedStatuses = newValue }
    }
}

extension Request {
    /// The accepted content types: "text/json", "application/*", "*/*", or "*+json" for a suffix (RFC 6839). Any other
    /// throws ``NetError/Code/unacceptableType``. The type of a body without Content-Type is detected from its bytes.
    /// Parameters of a type, such as a charset, are ignored.
    ///
    /// If `nil`, the decoding's types apply: application/json, text/json, text/javascript and *+json for JSON,
    /// otherwise any.
    public var acceptedTypes: [String]? {
        get { kept.value.rare?.value.acceptedTypes }
        set { content.rareParts.acceptedTypes = newValue }
    }

    /// The JSON that the body must be; see ``expecting(_:)-(JSONExpectation)``.
    public var expectation: JSONExpectation? {
        get { kept.value.rare?.value.expectation }
        set { content.rareParts.expectation = newValue }
    }
}

extension Request where Value == Bytes {
    /// Creates a request for the unchanged body, with any status.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .bytes,
            acceptedStatuses: nil)
    }
}

extension Request where Value == Void {
    /// Creates a request that only checks for a status from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .nothing)
    }
}

extension Request where Value == String {
    /// Creates a request for text, decoded by the charset of the Content-Type, otherwise as UTF-8. Accepts statuses
    /// from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .text)
    }
}

extension Request where Value: Decodable {
    /// Creates a request for a JSON body that is decoded to a `Value`. Accepts statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .json)
    }
}

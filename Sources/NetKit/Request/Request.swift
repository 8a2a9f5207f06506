/// What to ask: a value, sent by an ``Agent`` as often as one likes.
///
///     let cities = Request<[City]>("cities", parameters: ["count": 10])
///     let login = Request<Token>("login", method: .post, body: try .json(credentials))
public struct Request<Value: Sendable>: Sendable {
    private(set) var kept: KeptContent
    /// Fields in the order in which they are sent; they win over the agent's.
    public var headers: Headers
    /// How the body becomes the value.
    public var decoding: Decoding<Value>

    /// Changed as a whole: what has been handed on stays as it was.
    var content: RequestContent {
        get { kept.value }
        set { kept = KeptContent(newValue) }
    }

    /// A request whose body becomes a value by `decoding`.
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

    /// The same question with another way to read the answer.
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

    /// The body; nil sends none.
    public var body: Body? {
        get { kept.value.body }
        set { content.body = newValue }
    }

    /// Limits; nil takes the agent's.
    public var limits: Limits? {
        get { kept.value.limits }
        set { content.limits = newValue }
    }

    /// What becomes of redirects; nil takes the agent's policy.
    public var redirects: RedirectPolicy? {
        get { kept.value.redirects }
        set { content.redirects = newValue }
    }

    /// Whom TLS believes; nil takes the agent's policy.
    public var trust: TrustPolicy? {
        get { kept.value.rare?.value.trust }
        set { content.rareParts.trust = newValue }
    }

    /// Which protocol is spoken.
    public var protocolChoice: ProtocolChoice {
        get { kept.value.protocolChoice }
        set { content.protocolChoice = newValue }
    }

    /// Whether content codings are asked for and undone.
    public var acceptsCodings: Bool {
        get { kept.value.acceptsCodings }
        set { content.acceptsCodings = newValue }
    }

    /// Address overrides, the first match wins.
    public var addressOverrides: [AddressOverride] {
        get { kept.value.rare?.value.addressOverrides ?? [] }
        set { content.rareParts.addressOverrides = newValue }
    }

    /// Who asks; nil is nobody, or what the agent's netrc file says.
    public var credentials: Credentials? {
        get { kept.value.rare?.value.credentials }
        set { content.rareParts.credentials = newValue }
    }

    /// Through whom it goes; nil takes the agent's proxy.
    public var proxy: Proxy? {
        get { kept.value.rare?.value.proxy }
        set { content.rareParts.proxy = newValue }
    }

    /// The path of a Unix socket to connect to, for the URL's own origin.
    public var unixSocket: String? {
        get { kept.value.rare?.value.unixSocket }
        set { content.rareParts.unixSocket = newValue }
    }

    /// Its place among those that wait for a slot.
    public var priority: Priority {
        get { kept.value.priority }
        set { content.priority = newValue }
    }

    /// How its packets are to be treated on their way; nil takes the agent's choice, and says nothing where that says
    /// nothing.
    public var serviceClass: ServiceClass? {
        get { kept.value.rare?.value.serviceClass }
        set { content.rareParts.serviceClass = newValue }
    }

    /// Which way the agent's cookies go with it, where it has a jar (``Agent/Configuration/cookies``).
    public var cookieUse: CookieUse {
        get { kept.value.cookieUse }
        set { content.cookieUse = newValue }
    }

    /// Whether "/../" and "/./" in the path of an absolute URL are sent as they are, those that a redirect's Location
    /// names too.
    public var keepsDotSegments: Bool {
        get { kept.value.keepsDotSegments }
        set { content.keepsDotSegments = newValue }
    }

    /// Whether POST, PUT and PATCH without a body are sent without `Content-Length: 0`, which RFC 9110, 8.6 asks for.
    public var omitsZeroLength: Bool {
        get { kept.value.omitsZeroLength }
        set { content.omitsZeroLength = newValue }
    }

    /// Whether a response with a malformed field name, such as "X Foo", fails with ``NetError/Code/badResponse``. Otherwise
    /// that line is dropped and counted (``HopMetrics/droppedFields``). A line that another reader could take for the body's
    /// framing always fails.
    public var refusesMalformedFields: Bool {
        get { kept.value.refusesMalformedFields }
        set { content.refusesMalformedFields = newValue }
    }

    /// Whether the server is asked before the body is sent (`Expect: 100-continue`; RFC 9110, 10.1.1); without a body, or
    /// with an empty one, there is nothing to ask.
    public var expectsContinue: Bool {
        get { kept.value.expectsContinue }
        set { content.expectsContinue = newValue }
    }

    /// Hears how far the transfer is, at most ten times a second; on the loop thread, so it must not block. The last
    /// word, ``TransferProgress/isOver``, may come from another thread.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { kept.value.progress }
        set { content.progress = newValue }
    }

    /// Bytes of a streamed body that wait for their reader (1 MiB); with more the server has to wait.
    public var streamBufferBytes: Int {
        get { kept.value.streamBufferBytes }
        set { content.streamBufferBytes = newValue }
    }

    /// Where `save(_:to:)` wants the body; a transport that writes it there leaves the response without bytes.
    public internal(set) var savePath: String? {
        get { kept.value.rare?.value.savePath }
        set { content.rareParts.savePath = newValue }
    }

    /// The statuses that are answers; another one throws ``NetError/Code/unacceptableStatus``. Nil accepts all.
    public var acceptedStatuses: Range<Int>? {
        get { kept.value.acceptedStatuses }
        set { content.acceptedStatuses = newValue }
    }
}

extension Request {
    /// The content types that are answers: "text/json", "application/*", "*/*", or "*+json" for a suffix (RFC 6839).
    /// Another one throws ``NetError/Code/unacceptableType``; a body without a type is judged by what it is. Parameters,
    /// such as a charset, count neither here nor there.
    ///
    /// Nil takes those of the decoding: application/json, text/json, text/javascript and *+json where JSON is wanted, and
    /// otherwise any.
    public var acceptedTypes: [String]? {
        get { kept.value.rare?.value.acceptedTypes }
        set { content.rareParts.acceptedTypes = newValue }
    }

    /// What JSON the body has to be; see ``expecting(_:)-(JSONExpectation)``.
    public var expectation: JSONExpectation? {
        get { kept.value.rare?.value.expectation }
        set { content.rareParts.expectation = newValue }
    }
}

extension Request where Value == Bytes {
    /// Asks for the body as it is, whatever the status.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .bytes,
            acceptedStatuses: nil)
    }
}

extension Request where Value == Void {
    /// Asks for nothing but a status from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .nothing)
    }
}

extension Request where Value == String {
    /// Asks for text, read in the charset that the Content-Type names, else UTF-8; statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .text)
    }
}

extension Request where Value: Decodable {
    /// Asks for a JSON body that becomes a `Value`; statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, headers: headers, body: body, decoding: .json)
    }
}

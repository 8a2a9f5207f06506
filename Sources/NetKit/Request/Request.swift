/// What to ask: a value, sent by an ``Agent`` as often as one likes.
///
///     let cities = Request<[City]>("cities")
///     let login = Request<Token>("login", method: .post, body: try .json(credentials))
public struct Request<Value: Sendable>: Sendable {
    /// The method.
    public var method: Method
    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String
    /// Fields in the order in which they are sent; they win over the agent's.
    public var headers: Headers
    /// The body; nil sends none.
    public var body: Body?
    /// Limits; nil takes the agent's.
    public var limits: Limits?
    /// What becomes of redirects; nil takes the agent's policy.
    public var redirects: RedirectPolicy?
    /// Whom TLS believes; nil takes the agent's policy.
    public var trust: TrustPolicy?
    /// Which protocol is spoken.
    public var protocolChoice = ProtocolChoice.automatic
    /// Whether content codings are asked for and undone.
    public var acceptsCodings = true
    /// Address overrides, the first match wins.
    public var addressOverrides: [AddressOverride] = []
    /// Who asks; nil is nobody, or what the agent's netrc file says.
    public var credentials: Credentials?
    /// Through whom it goes; nil takes the agent's proxy.
    public var proxy: Proxy?
    /// The path of a Unix socket to connect to, for the URL's own origin.
    public var unixSocket: String?
    /// Its place among those that wait for a slot.
    public var priority = Priority.normal
    /// Whether the agent's cookies are left out, both ways.
    public var ignoresCookies = false
    /// Whether "/../" and "/./" in the path of an absolute URL are sent as they are.
    public var keepsDotSegments = false
    /// Whether the server is asked before the body is sent (`Expect: 100-continue`; RFC 9110, 10.1.1).
    public var expectsContinue = false
    /// Hears how far the transfer is, at most ten times a second; on the loop thread, so it must not block. The last
    /// word, ``TransferProgress/isOver``, may come from another thread.
    public var progress: (@Sendable (TransferProgress) -> Void)?
    /// Bytes of a streamed body that wait for their reader (256 KiB); with more the server has to wait.
    public var streamBufferBytes = 256 << 10
    /// Where ``Agent/save(_:to:)`` wants the body; a transport that writes it there leaves the response without bytes.
    public internal(set) var savePath: String?
    /// The statuses that are answers; another one throws ``NetError/Code/unacceptableStatus``. Nil accepts all.
    public var acceptedStatuses: Range<Int>?
    /// How the body becomes the value.
    public var decoding: Decoding<Value>

    /// A request whose body becomes a value by `decoding`.
    public init(
        _ url: String, method: Method = .get, headers: Headers = [:], body: Body? = nil,
        decoding: Decoding<Value>, acceptedStatuses: Range<Int>? = 200..<300
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.decoding = decoding
        self.acceptedStatuses = acceptedStatuses
    }

    /// The same question with another way to read the answer.
    public func decoded<Other>(by decoding: Decoding<Other>) -> Request<Other> {
        var other = Request<Other>(
            url, method: method, headers: headers, body: body, decoding: decoding,
            acceptedStatuses: acceptedStatuses)
        other.limits = limits
        other.redirects = redirects
        other.trust = trust
        other.protocolChoice = protocolChoice
        other.acceptsCodings = acceptsCodings
        other.addressOverrides = addressOverrides
        other.credentials = credentials
        other.proxy = proxy
        other.unixSocket = unixSocket
        other.priority = priority
        other.ignoresCookies = ignoresCookies
        other.keepsDotSegments = keepsDotSegments
        other.expectsContinue = expectsContinue
        other.progress = progress
        other.streamBufferBytes = streamBufferBytes
        other.savePath = savePath
        return other
    }
}

extension Request where Value == Bytes {
    /// Asks for the body as it is, whatever the status.
    public init(_ url: String, method: Method = .get, headers: Headers = [:], body: Body? = nil) {
        self.init(url, method: method, headers: headers, body: body, decoding: .bytes, acceptedStatuses: nil)
    }
}

extension Request where Value == Void {
    /// Asks for nothing but a status from 200 to 299.
    public init(_ url: String, method: Method = .get, headers: Headers = [:], body: Body? = nil) {
        self.init(url, method: method, headers: headers, body: body, decoding: .nothing)
    }
}

extension Request where Value == String {
    /// Asks for text, read in the charset that the Content-Type names, else UTF-8; statuses from 200 to 299.
    public init(_ url: String, method: Method = .get, headers: Headers = [:], body: Body? = nil) {
        self.init(url, method: method, headers: headers, body: body, decoding: .text)
    }
}

extension Request where Value: Decodable {
    /// Asks for a JSON body that becomes a `Value`; statuses from 200 to 299.
    public init(_ url: String, method: Method = .get, headers: Headers = [:], body: Body? = nil) {
        self.init(url, method: method, headers: headers, body: body, decoding: .json)
    }
}

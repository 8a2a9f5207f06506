/// An HTTP request: a value that an ``Agent`` can send any number of times.
///
///     let cities = Request<[City]>("cities", query: ["count": 10])
///     let login = Request<Token>("login", method: .post, body: try .json(credentials))
public struct Request<Value: Sendable>: Sendable {
    private(set) var storage: RequestStorage
    /// The header fields, in the order in which they are sent. They override the agent's.
    public var headers: Headers
    /// The decoding that converts the response's body to the value.
    public var decoding: Decoding<Value>

    /// Setting the content replaces the whole storage, so that copies of the request do not change.
    var content: RequestContent {
        get { storage.value }
        set { storage = RequestStorage(newValue) }
    }

    /// Creates a request. `decoding` converts the body of the response to a value.
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: Parameters? = nil, query: Parameters? = nil,
        headers: Headers = [:], body: Body? = nil, decoding: Decoding<Value>, acceptedStatuses: StatusSet = .automatic
    ) {
        let content = RequestContent(
            method: method, url: url._urlText, body: body, parameters: parameters, query: query,
            acceptedStatuses: acceptedStatuses)
        self.init(RequestStorage(content), headers: headers, decoding: decoding)
    }

    init(_ content: RequestStorage, headers: Headers, decoding: Decoding<Value>) {
        storage = content
        self.headers = headers
        self.decoding = decoding
    }

    /// Returns the same request with another decoding.
    public func decoded<Other>(by decoding: Decoding<Other>) -> Request<Other> {
        Request<Other>(storage, headers: headers, decoding: decoding)
    }
}

extension Request {
    /// The method.
    public var method: Method {
        get { storage.value.method }
        set { content.method = newValue }
    }

    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String {
        get { storage.value.url }
        set { content.url = newValue }
    }

    /// The body; `nil` sends none.
    public var body: Body? {
        get { storage.value.body }
        set { content.body = newValue }
    }

    /// The limits. Those that are not set are the service's or the agent's.
    public var limits: Limits {
        get { storage.value.limits }
        set { content.limits = newValue }
    }

    /// The total time of a call (``Limits/total``).
    public var timeout: Duration? {
        get { limits.total }
        set { limits.total = newValue }
    }

    /// The redirect policy.
    public var redirects: RedirectPolicy {
        get { storage.value.redirects ?? .inherited }
        set { content.redirects = newValue == .inherited ? nil : newValue }
    }

    /// The TLS trust policy. If `nil`, the agent's applies.
    public var trust: TrustPolicy? {
        get { storage.value.optionalStorage?.value.trust }
        set { content.optionalSettings.trust = newValue }
    }

    /// The HTTP version to use.
    public var httpVersionPolicy: HTTPVersionPolicy {
        get { storage.value.httpVersionPolicy }
        set { content.httpVersionPolicy = newValue }
    }

    /// Whether content codings are requested and decoded.
    public var acceptsCodings: Bool {
        get { storage.value.acceptsCodings }
        set { content.acceptsCodings = newValue }
    }

    /// Whether a compressed transfer is requested over HTTP/1.1 (`TE: gzip`), and the transfer codings gzip and deflate
    /// are decoded. Otherwise a response with them is an error. The limits of content codings apply. Resumable downloads
    /// ignore it.
    public var acceptsTransferCodings: Bool {
        get { storage.value.acceptsTransferCodings }
        set { content.acceptsTransferCodings = newValue }
    }

    /// Address overrides; the first match applies.
    public var addressOverrides: [AddressOverride] {
        get { storage.value.optionalStorage?.value.addressOverrides ?? [] }
        set { content.optionalSettings.addressOverrides = newValue }
    }

    /// The credentials to send. ``Credentials/none`` sends none, whatever the agent has.
    public var credentials: Credentials {
        get { storage.value.optionalStorage?.value.credentials ?? .inherited }
        set { content.optionalSettings.credentials = newValue == .inherited ? nil : newValue }
    }

    /// The proxy. ``Proxy/direct`` uses none, whatever the agent has.
    public var proxy: Proxy {
        get { ownProxy ?? .inherited }
        set { content.optionalSettings.proxy = newValue == .inherited ? nil : newValue }
    }

    /// The proxy that the request itself sets.
    package var ownProxy: Proxy? { storage.value.optionalStorage?.value.proxy }

    /// The credentials that the request sends.
    package var effectiveCredentials: Credentials? {
        credentials == .inherited || credentials == .none ? nil : credentials
    }

    /// The path of a Unix socket to connect to. It is used only for the origin of the URL, not after a cross-origin
    /// redirect.
    public var unixSocket: String? {
        get { storage.value.optionalStorage?.value.unixSocket }
        set { content.optionalSettings.unixSocket = newValue }
    }

    /// The priority among the requests that wait for a slot.
    public var priority: Priority {
        get { storage.value.priority }
        set { content.priority = newValue }
    }

    /// The service class of the request's packets. If `nil`, the agent's applies. If the agent has none either, packets
    /// have the default class.
    public var serviceClass: ServiceClass? {
        get { storage.value.optionalStorage?.value.serviceClass }
        set { content.optionalSettings.serviceClass = newValue }
    }

    /// How the request uses the agent's cookie jar, if the agent has one (``Agent/Configuration/cookies``).
    public var cookiePolicy: CookiePolicy {
        get { storage.value.cookiePolicy }
        set { content.cookiePolicy = newValue }
    }

    /// Whether "/../" and "/./" in the path of an absolute URL are sent unchanged, including those in a redirect's
    /// Location.
    public var keepsDotSegments: Bool {
        get { storage.value.keepsDotSegments }
        set { content.keepsDotSegments = newValue }
    }

    /// Whether POST, PUT and PATCH without a body omit `Content-Length: 0`, which RFC 9110, 8.6 recommends.
    public var omitsZeroLength: Bool {
        get { storage.value.omitsZeroLength }
        set { content.omitsZeroLength = newValue }
    }

    /// Whether a response with a malformed field name, such as "X Foo", fails with ``NetError/Code/badResponse``. If
    /// false, the line is dropped and counted in ``HopMetrics/droppedFields``. The response fails in both cases if
    /// another HTTP parser could read the line as a field that determines where the body ends.
    public var refusesMalformedFields: Bool {
        get { storage.value.refusesMalformedFields }
        set { content.refusesMalformedFields = newValue }
    }

    /// Whether to wait for the server's 100 (Continue) response before sending the body (`Expect: 100-continue`; RFC
    /// 9110, 10.1.1). It has no effect if there is no body or the body is empty.
    public var expectsContinue: Bool {
        get { storage.value.expectsContinue }
        set { content.expectsContinue = newValue }
    }

    /// A closure that receives the progress at most ten times a second. It is called on the event loop thread and must
    /// not block. The last call (``TransferProgress/isOver``) may come from another thread.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { storage.value.progress }
        set { content.progress = newValue }
    }

    /// The largest number of unread bytes of a streamed body (1 MiB). If more bytes are unread, the transfer pauses.
    public var streamBufferBytes: Int {
        get { storage.value.streamBufferBytes }
        set { content.streamBufferBytes = newValue }
    }

    /// Whether the reader of the streamed body never waits for long, for example because it writes to a regular file.
    /// The stream may then share an HTTP/2 connection with other requests. If the reader waits nevertheless, it delays
    /// them.
    package var isReadImmediately: Bool {
        get { storage.value.isReadImmediately }
        set { content.isReadImmediately = newValue }
    }

    /// The file to which a download that is not resumable writes the body. A transport that writes the file itself
    /// returns a response without bytes.
    public internal(set) var savePath: String? {
        get { storage.value.optionalStorage?.value.savePath }
        set { content.optionalSettings.savePath = newValue }
    }

    /// The accepted statuses. A response with any other status throws ``NetError/Code/status``. By default
    /// these are the statuses of the service or the agent (``StatusSet/automatic``), and all for a request for
    /// ``Bytes``.
    public var acceptedStatuses: StatusSet {
        get { storage.value.acceptedStatuses }
        set { content.acceptedStatuses = newValue }
    }
}

extension Request {
    /// The accepted content types, such as "text/json", "application/*", "*/*", or "*+json" for all types with that
    /// suffix (RFC 6839). Parameters of a type, such as a charset, are ignored.
    /// A response with any other type throws ``NetError/Code/contentType``. If a response has no Content-Type, its
    /// type is detected from the bytes of the body.
    /// If `nil`, the types of the decoding apply. For JSON these are application/json, text/json, text/javascript and
    /// *+json; most other decodings accept any type.
    public var acceptedTypes: [String]? {
        get { storage.value.optionalStorage?.value.acceptedTypes }
        set { content.optionalSettings.acceptedTypes = newValue }
    }

    /// The JSON structure that the body must have; see ``expecting(_:)-(JSONExpectation)``.
    public var expectation: JSONExpectation? {
        get { storage.value.optionalStorage?.value.expectation }
        set { content.optionalSettings.expectation = newValue }
    }

    /// A number that groups requests, so that ``Agent/cancel(tag:)`` can cancel them together. 0 means no tag.
    public var tag: Int {
        get { callSettings?.value.tag ?? 0 }
        set { settings.tag = newValue }
    }

    /// Values that the caller stores with the request. The library ignores them.
    public var userInfo: [String: any Sendable] {
        get { callSettings?.value.userInfo ?? [:] }
        set { settings.userInfo = newValue }
    }

    /// The type of the endpoint that created the request. All requests of that type form a group, with any URL.
    var group: ObjectIdentifier? {
        get { callSettings?.value.group }
        set { settings.group = newValue }
    }

    /// The destination of an accepted response's body. If `nil`, the body is kept in memory.
    /// With an output, `send` and request tasks return a response without ``Response/bytes``, and the value is decoded
    /// from an empty body. If the status or type is not accepted, nothing is written, and the error contains the body
    /// as usual. Streams, saves and downloads ignore the output.
    public var output: (any BodyOutput)? {
        get { callSettings?.value.output }
        set { settings.output = newValue }
    }
}

extension Request {
    /// Returns the same request with its response's body written to `output`.
    public func writing(to output: any BodyOutput) -> Request<Void> {
        var request = decoded(by: .nothing)
        request.acceptedTypes = acceptedTypes ?? decoding.types
        request.output = output
        return request
    }
}

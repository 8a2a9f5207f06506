/// What a request asks for, but for its fields and for how the answer is read.
///
/// It is copied a few times on the way to the engine, and each reference in it is counted each time: what few requests
/// say stands together behind one.
struct RequestContent: Sendable {
    var method: Method
    var url: String
    var body: Body?
    var keptLimits: KeptLimits?
    var redirects: RedirectPolicy?
    var protocolChoice = ProtocolChoice.automatic
    var priority = Priority.normal
    var acceptedStatuses: Range<Int>?
    var streamBufferBytes = 1 << 20
    var acceptsCodings = true
    var cookieUse = CookieUse.sendAndStore
    var keepsDotSegments = false
    var refusesMalformedFields = false
    var omitsZeroLength = false
    var expectsContinue = false
    var progress: (@Sendable (TransferProgress) -> Void)?
    /// Nil where nothing of it is said.
    private(set) var rare: KeptRareContent?

    init(method: Method, url: String, body: Body?, parameters: Parameters?, acceptedStatuses: Range<Int>?) {
        self.method = method
        self.url = url
        self.body = body
        self.acceptedStatuses = acceptedStatuses
        if let parameters {
            rareParts.parameters = parameters
        }
    }

    /// Nil takes the agent's.
    var limits: Limits? {
        get { keptLimits?.value }
        set { keptLimits = newValue.map(KeptLimits.init) }
    }

    /// What few requests say, to be changed; ``rare`` reads it without a copy.
    var rareParts: RareContent {
        get { rare?.value ?? RareContent() }
        set { rare = KeptRareContent(newValue) }
    }
}

/// What few requests say.
struct RareContent: Sendable {
    var parameters: Parameters?
    var queryEncoding = QueryEncoding()
    var queryMethods = Method.withQueryByDefault
    var placement = ParameterPlacement.byMethod
    var serializer: (any RequestSerializer)?
    var trust: TrustPolicy?
    var addressOverrides: [AddressOverride] = []
    var credentials: Credentials?
    var proxy: Proxy?
    var unixSocket: String?
    /// Whether a redirect that is followed here has left the origin of the call: no client certificate, no netrc.
    var isElsewhere = false
    var savePath: String?
    var acceptedTypes: [String]?
    var expectation: JSONExpectation?
    var serviceClass: ServiceClass?
    /// By the identity of a ``RequestNote``.
    var notes: [ObjectIdentifier: any Sendable] = [:]
}

/// Rare content behind one reference.
final class KeptRareContent: Sendable {
    let value: RareContent

    init(_ value: RareContent) {
        self.value = value
    }
}

/// A content behind one reference: a request is handed on a dozen times on its way to the engine, and to copy all of a
/// content each time costs more than the rest of that way.
final class KeptContent: Sendable {
    let value: RequestContent

    init(_ value: RequestContent) {
        self.value = value
    }
}

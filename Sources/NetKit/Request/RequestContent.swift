/// The content of a request except its fields and its decoding.
///
/// It is copied several times on the way to the engine, and each copy counts every reference in it. Options that few
/// requests set share one reference.
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
    /// `nil` if no such option is set.
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

    /// `nil` stands for the agent's.
    var limits: Limits? {
        get { keptLimits?.value }
        set { keptLimits = newValue.map(KeptLimits.init) }
    }

    /// The rarely used options, for writing; ``rare`` reads them without a copy.
    var rareParts: RareContent {
        get { rare?.value ?? RareContent() }
        set { rare = KeptRareContent(newValue) }
    }
}

/// Options that few requests set.
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
    /// Whether a followed redirect has left the call's origin: then no client certificate and no netrc entry is used.
    var isElsewhere = false
    var savePath: String?
    var acceptedTypes: [String]?
    var expectation: JSONExpectation?
    var serviceClass: ServiceClass?
    /// Keyed by the identity of the ``RequestNote``.
    var notes: [ObjectIdentifier: any Sendable] = [:]
}

/// Rarely used options behind one reference.
final class KeptRareContent: Sendable {
    let value: RareContent

    init(_ value: RareContent) {
        self.value = value
    }
}

/// A content behind one reference. A request is passed on a dozen times on its way to the engine. Copying the whole
/// content each time would cost more than everything else there.
final class KeptContent: Sendable {
    let value: RequestContent

    init(_ value: RequestContent) {
        self.value = value
    }
}

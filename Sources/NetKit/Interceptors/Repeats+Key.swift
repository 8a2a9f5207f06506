extension Repeats {
    /// The properties that make two calls duplicates.
    struct Key: Hashable, Sendable {
        private enum What: Hashable, Sendable {
            case named(String)
            case described(ObjectIdentifier)
            case place(Method, [UInt8])
            case whole(Whole)
        }

        private let what: What
        /// A call that waits for a refresh must not join the refresh's own call.
        private let refreshes: Set<ObjectIdentifier>
        private let bypassesRefresh: Bool
    }
}

extension Repeats.Key {
    /// `nil` if the request cannot be compared.
    init?(_ call: Call, _ policy: RepeatPolicy, _ next: Next) {
        let request = call.request
        if policy == .join, call.kind != .send || (request.body ?? Body([])).wholeBytes == nil {
            return nil
        }
        if let name = request.repeatKey {
            what = .named(name)
        } else if policy == .join {
            guard let whole = Whole(next.identified(call), next.owner) else { return nil }
            what = .whole(whole)
        } else if let type = request.group {
            what = .described(type)
        } else {
            what = .place(request.method, Array(request.url.withoutQuery.utf8))
        }
        refreshes = RefreshUnderWay.numbers
        bypassesRefresh = request.bypassesCredentialRefresh
    }
}

/// Everything that determines the response. URL and fields are compared by bytes: texts that are equal for String may
/// differ for a server.
private struct Whole: Hashable, Sendable {
    let agent: ObjectIdentifier?
    let service: ObjectIdentifier?
    let method: Method
    /// Replaces URL and body if not all parameters count.
    let cacheKey: CacheKey?
    let url: [UInt8]
    let keepsDotSegments: Bool
    let refusesMalformedFields: Bool
    let omitsZeroLength: Bool
    let fields: [[UInt8]]
    let body: [UInt8]?
    let type: String?
    let credentials: Credentials?
    let trust: TrustPolicy?
    let limits: Limits?
    let redirects: RedirectPolicy?
    let protocolChoice: ProtocolChoice
    let acceptsCodings: Bool
    let cookieUse: CookieUse
    let allowsCellular: Bool
    let waitsForConnectivity: Bool
    let wanted: Wanted
    let caching: [String]?
    let interceptors: [ObjectIdentifier]

    /// `nil` if it cannot be compared.
    init?(_ call: Call, _ agent: ObjectIdentifier?) {
        let request = call.request
        guard request.proxy == nil, request.unixSocket == nil, request.addressOverrides.isEmpty,
            request.transferHooks.isEmpty, let interceptors = request.interceptors.identities
        else { return nil }
        if let rules = request.caching {
            guard let terms = rules.terms else { return nil }
            caching = terms
        } else {
            caching = nil
        }
        self.agent = agent
        self.interceptors = interceptors
        service = request.service.map { ObjectIdentifier($0) }
        method = request.method
        fields = request.headers.map { Array("\($0.name): ".utf8) + $0.content.bytes }
        let names = request.headers.map(\.name)
        cacheKey = request.cacheKeyParameters.flatMap { _ in try? call.cacheKey(headers: names) }
        url = cacheKey == nil ? Array(request.url.utf8) : []
        keepsDotSegments = request.content.keepsDotSegments
        refusesMalformedFields = request.content.refusesMalformedFields
        omitsZeroLength = request.content.omitsZeroLength
        body = cacheKey == nil ? request.body.map { Array($0.bytes) } : nil
        type = request.body?.contentType
        credentials = request.credentials
        trust = request.trust
        limits = request.limits
        redirects = request.redirects
        protocolChoice = request.protocolChoice
        acceptsCodings = request.acceptsCodings
        cookieUse = request.cookieUse
        allowsCellular = request.allowsCellular
        waitsForConnectivity = request.waitsForConnectivity
        wanted = Wanted(request)
    }
}

/// The request's options for its response.
private struct Wanted: Hashable, Sendable {
    let statuses: Range<Int>?
    let types: [String]?
    let expectsJSON: Bool
    let shape: JSONValue?
    let shapeFault: String?
    let isLenient: Bool?
    let maxMismatches: Int?
    let rules: JSONRules?
    let allowsEmptyBody: Bool?

    init(_ request: Request<Bytes>) {
        let expectation = request.expectation
        statuses = request.acceptedStatuses
        types = request.acceptedTypes
        expectsJSON = expectation != nil
        shape = expectation?.shape?.tree
        shapeFault = expectation?.shape?.fault
        isLenient = expectation?.isLenient
        maxMismatches = expectation?.maxMismatches
        rules = expectation?.rules
        allowsEmptyBody = expectation?.allowsEmptyBody
    }
}

extension [any Interceptor] {
    /// The identities of the objects; `nil` if one is a value type, which cannot be compared.
    fileprivate var identities: [ObjectIdentifier]? {
        var identities: [ObjectIdentifier] = []
        for interceptor in self {
            guard type(of: interceptor) is AnyClass else { return nil }
            identities.append(ObjectIdentifier(interceptor as AnyObject))
        }
        return identities
    }
}

extension CacheRules {
    /// All settings as comparable texts; `nil` if they contain a closure.
    fileprivate var terms: [String]? {
        switch self {
        case .off: return ["off"]
        case .application(let policy):
            guard case .accepted = policy.storing else { return nil }
            let texts = [policy.sensitiveData, policy.appVersion, policy.scope].map { "\($0 as Any)" }
            let methods = policy.methods.map { "\($0.map { "\($0)" }.sorted())" }
            return texts + [
                "application \(policy.mode) \(policy.maximumAge) \(policy.version)", "\(policy.keyFields)",
                "\(methods as Any)", "\(policy.tags.sorted())",
                "\(policy.writesAsynchronously) \(policy.ignoresStored) \(policy.isReadOnly) \(policy.revalidates)",
                "\(policy.maximumBodyBytes)",
            ]
        case .http(let policy):
            return [
                "\(policy.scope as Any)", "http \(policy.mode) \(policy.heuristicFraction) \(policy.heuristicLimit)",
                "\(policy.tags.sorted())",
                "\(policy.writesAsynchronously) \(policy.ignoresStored) \(policy.isReadOnly)",
                "\(policy.maximumBodyBytes)",
            ]
        }
    }
}

extension RequestDeduplication {
    /// The properties that make two calls duplicates.
    struct Key: Hashable, Sendable {
        private enum Identity: Hashable, Sendable {
            case named(String, User?)
            case endpoint(ObjectIdentifier)
            case target(Method, [UInt8])
            case complete(CompleteKey)
        }

        private let identity: Identity
        // A call that waits for a credential refresh must not share the response to a request of that refresh.
        private let refreshes: Set<ObjectIdentifier>
        private let bypassesRefresh: Bool
    }
}

extension RequestDeduplication.Key {
    /// Creates the key of a call. Returns `nil` if the request cannot be compared with others.
    init?(_ call: Call, _ policy: DuplicatePolicy, _ next: Next) {
        let request = call.request
        if policy == .join, call.kind != .send || (request.body ?? Body([])).wholeBytes == nil {
            return nil
        }
        if let name = request.duplicateKey {
            identity = .named(name, policy == .join ? User(next.identified(call), next.owner) : nil)
        } else if policy == .join {
            guard let key = CompleteKey(next.identified(call), next.owner) else { return nil }
            identity = .complete(key)
        } else if let type = request.group {
            identity = .endpoint(type)
        } else {
            identity = .target(request.method, Array(request.url.withoutQuery.utf8))
        }
        refreshes = RunningRefreshes.identifiers
        bypassesRefresh = request.bypassesCredentialRefresh
    }
}

/// The user that a response belongs to. A response is never shared between users, even if their requests have the same
/// ``Request/duplicateKey``.
private struct User: Hashable, Sendable {
    let agent: ObjectIdentifier?
    let service: ObjectIdentifier?
    let credentials: Credentials
    let trust: TrustPolicy?
    let cookiePolicy: CookiePolicy
    /// The URL, if it contains a user name.
    let url: String?
    /// The fields with secret names, and the fields that an interceptor adds to identify the user.
    let fields: [[UInt8]]

    init(_ call: Call, _ agent: ObjectIdentifier?) {
        let request = call.request
        self.agent = agent
        service = request.service.map { ObjectIdentifier($0) }
        credentials = request.credentials
        trust = request.trust
        cookiePolicy = request.cookiePolicy
        url = request.url.hasUserinfo ? request.url : nil
        fields = request.headers.lazy
            .filter { $0.name.isUsualSecret(in: .field) || $0.isOne(of: request.identityFields) }
            .map { Array("\($0.name.lowercased()): ".utf8) + $0.content.bytes }
    }
}

/// Everything that determines the response. URL and fields are compared byte by byte, because two strings that are
/// equal in Swift may differ for a server.
private struct CompleteKey: Hashable, Sendable {
    let agent: ObjectIdentifier?
    let service: ObjectIdentifier?
    let method: Method
    /// Replaces URL and body if ``Request/cacheKeyParameters`` leaves out parameters; otherwise `nil`.
    let cacheKey: CacheKey?
    let url: [UInt8]
    let keepsDotSegments: Bool
    let refusesMalformedFields: Bool
    let omitsZeroLength: Bool
    let fields: [[UInt8]]
    let body: [UInt8]?
    let type: String?
    let credentials: Credentials
    let trust: TrustPolicy?
    let limits: Limits
    let redirects: RedirectPolicy
    let httpVersionPolicy: HTTPVersionPolicy
    let acceptsCodings: Bool
    let acceptsTransferCodings: Bool
    let cookiePolicy: CookiePolicy
    let options: [ObjectIdentifier: OptionValues.ComparedValue]
    let responseOptions: ResponseOptions
    let caching: [String]?
    let interceptors: [ObjectIdentifier]

    /// Returns `nil` if the request cannot be compared with others.
    init?(_ call: Call, _ agent: ObjectIdentifier?) {
        let request = call.request
        guard request.ownProxy == nil, request.unixSocket == nil, request.addressOverrides.isEmpty,
            request.trailers == nil, let interceptors = request.interceptors.identities
        else { return nil }
        if let rules = request.callSettings?.value.caching {
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
        httpVersionPolicy = request.httpVersionPolicy
        acceptsCodings = request.acceptsCodings
        acceptsTransferCodings = request.acceptsTransferCodings
        cookiePolicy = request.cookiePolicy
        options = request.content.optionalStorage?.value.options.comparedValues ?? [:]
        responseOptions = ResponseOptions(request)
    }
}

/// The request's options for its response.
private struct ResponseOptions: Hashable, Sendable {
    let statuses: StatusSet
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
    /// The identities of the interceptors; `nil` if one is a value type, which cannot be compared.
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
    /// All settings as comparable texts; `nil` if they contain a closure, which cannot be compared.
    fileprivate var terms: [String]? {
        switch self {
        case .off: return ["off"]
        case .inherited: return ["inherited"]
        case .mode(let mode): return ["mode \(mode)"]
        case .reload: return ["reload"]
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
                "\(policy.scope as Any)", "http \(policy.mode) \(policy.heuristicFraction)",
                "\(policy.tags.sorted())",
                "\(policy.writesAsynchronously) \(policy.ignoresStored) \(policy.isReadOnly)",
                "\(policy.maximumBodyBytes)",
            ]
        }
    }
}

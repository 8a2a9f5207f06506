/// The rules by which responses are stored and used.
public enum CacheRules: Sendable {
    /// No caching: neither stored nor used.
    case off
    /// The app's rules.
    case application(CachePolicy)
    /// The server's rules.
    case http(HTTPCachePolicy)

    /// The order of cache and network; `nil` for ``off``.
    public var mode: CacheMode? {
        switch self {
        case .off: nil
        case .application(let policy): policy.mode
        case .http(let policy): policy.mode
        }
    }

    /// The same rules for a request that goes to the network and whose response is stored.
    package var renewing: CacheRules {
        switch with(.cacheElseNetwork) {
        case .off: return .off
        case .application(var policy):
            policy.ignoresStored = true
            return .application(policy)
        case .http(var policy):
            policy.ignoresStored = true
            return .http(policy)
        }
    }

    /// Returns the same rules with another order of cache and network.
    func with(_ mode: CacheMode) -> CacheRules {
        switch self {
        case .off: return .off
        case .application(var policy):
            policy.mode = mode
            return .application(policy)
        case .http(var policy):
            policy.mode = mode
            return .http(policy)
        }
    }
}

private enum CacheRulesNote: RequestNote {
    static let standard = CacheRules?.none
}

extension Request {
    /// The cache rules of the request. If `nil`, those of ``Caching`` apply. An agent without ``Caching`` ignores this
    /// and sends the request, except with ``CacheMode/cacheOnly``, which then fails with ``NetError/Code/notCached``.
    public var caching: CacheRules? {
        get { self[CacheRulesNote.self] }
        set { self[CacheRulesNote.self] = newValue }
    }
}

/// By whose word an answer is stored and used.
public enum CacheRules: Sendable {
    /// Nobody's: neither stored nor used.
    case off
    /// The app's.
    case application(CachePolicy)
    /// The server's.
    case http(HTTPCachePolicy)

    /// In which order the cache and the network are asked; nil for ``off``.
    public var mode: CacheMode? {
        switch self {
        case .off: nil
        case .application(let policy): policy.mode
        case .http(let policy): policy.mode
        }
    }

    /// The same rules for a request that the network is to answer, and whose answer is then stored.
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

    /// The same rules in another order of asking.
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
    /// By whose word its answers are cached; nil takes the rules of ``Caching``, which is what does it: an agent
    /// without one sends the request whatever this says, but for ``CacheMode/cacheOnly``, which is
    /// ``NetError/Code/notCached`` then.
    public var caching: CacheRules? {
        get { self[CacheRulesNote.self] }
        set { self[CacheRulesNote.self] = newValue }
    }
}

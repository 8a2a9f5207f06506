/// The rules by which responses are stored and used.
///
///     let cities = try await agent.get("cities", as: [City].self, caching: .maxAge(.seconds(300)))
///     let fresh = try await agent.get("cities", as: [City].self, caching: .reload)
///     request.caching = .http()
public enum CacheRules: Sendable {
    /// The rules of the service, or else those of ``Caching``.
    case inherited
    /// The inherited rules with another mode.
    case mode(CacheMode)
    /// The inherited rules, but the stored response is not used. The new response replaces it.
    case reload
    /// No caching: responses are neither stored nor used.
    case off
    /// The app's rules.
    case application(CachePolicy)
    /// The server's rules.
    case http(HTTPCachePolicy = HTTPCachePolicy())

    /// The app's rules: a stored response is used up to this age, whatever the server's rules are.
    public static func maxAge(_ age: Duration) -> CacheRules { .application(CachePolicy(maximumAge: age)) }

    /// The inherited rules, without the network: see ``CacheMode/cacheOnly``.
    public static let cacheOnly = CacheRules.mode(.cacheOnly)
    /// The inherited rules, for ``Agent/answers(to:)``: see ``CacheMode/cacheThenNetwork``.
    public static let cacheThenNetwork = CacheRules.mode(.cacheThenNetwork)
    /// The inherited rules, with the stored response if the network fails: see ``CacheMode/networkElseCache``.
    public static let networkElseCache = CacheRules.mode(.networkElseCache)

    /// The order in which cache and network are used; `nil` if the rules do not determine it.
    package var mode: CacheMode? {
        switch self {
        case .off, .inherited, .reload: nil
        case .mode(let mode): mode
        case .application(let policy): policy.mode
        case .http(let policy): policy.mode
        }
    }

    /// Returns the rules to apply, if these are the rules of a request and `outer` are those of the service or of
    /// ``Caching``. If `outer` is ``off``, ``mode(_:)`` and ``reload`` remain.
    package func over(_ outer: CacheRules) -> CacheRules {
        switch (self, outer) {
        case (.mode, .off), (.reload, .off): self
        case (.inherited, _): outer
        case (.mode(let mode), _): outer.with(mode)
        case (.reload, _): outer.renewing
        case (.off, _), (.application, _), (.http, _): self
        }
    }

    /// The same rules for a request that ignores stored responses, so that its response replaces them.
    package var renewing: CacheRules {
        switch with(.cacheElseNetwork) {
        case .off: return .off
        case .inherited, .mode, .reload: return .reload
        case .application(var policy):
            policy.ignoresStored = true
            return .application(policy)
        case .http(var policy):
            policy.ignoresStored = true
            return .http(policy)
        }
    }

    /// Returns the same rules with another mode.
    func with(_ mode: CacheMode) -> CacheRules {
        switch self {
        case .off: return .off
        case .inherited, .mode, .reload: return .mode(mode)
        case .application(var policy):
            policy.mode = mode
            return .application(policy)
        case .http(var policy):
            policy.mode = mode
            return .http(policy)
        }
    }
}

extension Request {
    /// The cache rules of the request.
    ///
    /// An agent without ``Caching`` ignores the rules and sends the request. With ``CacheMode/cacheOnly``, the request
    /// fails with ``NetError/Code/notCached`` instead.
    public var caching: CacheRules {
        get { callSettings?.value.caching ?? .inherited }
        set {
            if case .inherited = newValue {
                settings.caching = nil
            } else {
                settings.caching = newValue
            }
        }
    }

    /// Whether the request itself sets the policy of the app, which then applies to any method.
    var setsCachePolicy: Bool {
        guard hasOptions, case .application = caching else { return false }
        return true
    }

    /// Returns the rules to apply. Those of the request come first, then those of its service, then `outer`.
    func cacheRules(over outer: CacheRules) -> CacheRules {
        guard hasOptions else { return outer }
        return caching.over((service?.configuration.caching ?? .inherited).over(outer))
    }
}

/// The order in which cache and network are used.
public enum CacheMode: Sendable, Hashable {
    /// Uses the stored response if the rules allow it, otherwise the network.
    case cacheElseNetwork
    /// Uses the network. If it fails, uses the stored response at any age. A response with an error status is not a
    /// failure of the network.
    case networkElseCache
    /// Returns the stored response, if it is usable, and then the response from the network: see
    /// ``Agent/answers(to:)``. A call that returns only one response returns the one from the network.
    case cacheThenNetwork
    /// Uses the stored response. If none is usable, fails with ``NetError/Code/notCached``. Sends nothing.
    case cacheOnly
    /// Works like ``cacheElseNetwork``, but also uses a stale response. It may have been stale for at most this time.
    /// Meanwhile a new response is fetched in the background (RFC 5861, 3).
    case staleWhileRevalidate(Duration)
    /// Works like ``cacheElseNetwork``, but uses a stale response if the network fails, or if the server responds with
    /// 500, 502, 503 or 504 (RFC 5861, 4). The response may have been stale for at most this time.
    case staleIfError(Duration)
    /// Returns the last known response immediately, at any age, and fetches a new one in the background for the next
    /// call. If nothing is stored, uses the network (CTNetworking's native load).
    case nativeLoad
}

/// The app's cache policy for a request: how long a response may be used, and for which user.
///
///     var request = Request<[City]>("cities")
///     request.caching = .application(CachePolicy(maximumAge: .seconds(300), version: 2))
///
/// The server's caching directives are ignored. To follow them, use ``HTTPCachePolicy``.
public struct CachePolicy: Sendable {
    /// The responses to store.
    public enum Storing: Sendable {
        /// Responses that the request accepts, with a valid status, type and JSON shape, and that can be decoded.
        case accepted
        /// Accepted responses for which the closure returns true.
        case acceptedWhere(@Sendable (Response<Bytes>) -> Bool)
    }

    /// The order in which cache and network are used.
    public var mode: CacheMode
    /// The largest age of a usable response. If it is zero, nothing is stored. If it is negative, nothing is read or
    /// stored.
    public var maximumAge: Duration
    /// The version of the app's data. A response that was stored with another version is not used.
    public var version: Int64
    /// A text on which the response depends. A response that was stored with another text, or without one, is not used.
    /// Only a keyed hash of the text is stored.
    public var sensitiveData: String?
    /// The version of the app. A response that another version stored is not used. If `nil`,
    /// ``Agent/Configuration/appVersion`` applies.
    public var appVersion: String?
    /// The owner of the response, such as a user's number. No other owner gets the response. Only a keyed hash of the
    /// scope is stored.
    ///
    /// If the scope is empty, all users share the response. If it is `nil`, users are distinguished by their
    /// credentials, client certificate, netrc file, Cookie field and the agent's cookies.
    public var scope: String?
    /// The names of the request fields that are part of the cache key. Other fields are ignored.
    public var keyFields = ["Accept", "Accept-Language", "Content-Type"]
    /// The methods whose responses are stored and used. If `nil`, a request's own policy applies to any method, and the
    /// policy of ``Caching`` applies to GET and HEAD.
    public var methods: Set<Method>?
    /// Whether the call may end before its response is stored.
    public var writesAsynchronously = true
    /// Whether stored responses are ignored. The response from the network is still stored.
    package var ignoresStored = false
    /// Whether stored responses are used, but none are stored.
    public var isReadOnly = false
    /// The responses to store.
    public var storing = Storing.accepted
    /// Whether an expired response is revalidated with its ETag or Last-Modified. If it is still valid, the server need
    /// not send the body again.
    public var revalidates = true
    /// The tags of the stored entries, for ``CacheSelection/tagged(_:)``.
    public var tags: Set<String> = []
    /// The size of the largest streamed body to store, in bytes (16 MiB).
    public var maximumBodyBytes = 16 << 20

    /// Creates a policy.
    public init(
        maximumAge: Duration, version: Int64 = 0, sensitiveData: String? = nil, scope: String? = nil,
        mode: CacheMode = .cacheElseNetwork
    ) {
        self.maximumAge = maximumAge
        self.version = version
        self.sensitiveData = sensitiveData
        self.scope = scope
        self.mode = mode
    }
}

/// Caching by the server's directives, as a private cache (RFC 9111). Unlike a proxy's cache, it does not share
/// responses between users.
///
///     request.caching = .http()
public struct HTTPCachePolicy: Sendable {
    /// The order in which cache and network are used.
    public var mode: CacheMode
    /// The owner of the responses, such as a user's number. No other owner gets the responses. Only a keyed hash of the
    /// scope is stored.
    ///
    /// If the scope is empty, all users share the responses. If it is `nil`, users are distinguished by their
    /// credentials, client certificate and netrc file. If a stored response belongs to a request with cookies, they are
    /// also distinguished by their cookies.
    public var scope: String?
    /// Determines how long a response without an explicit lifetime is fresh: for this fraction of the time between
    /// Last-Modified and Date, at most a day (0.1; RFC 9111, 4.2.2). If 0, such a response is never fresh.
    public var heuristicFraction = 0.1
    /// Whether the call may end before its response is stored.
    public var writesAsynchronously = true
    /// Whether stored responses are ignored. The response from the network is still stored.
    package var ignoresStored = false
    /// Whether stored responses are used, but none are stored.
    public var isReadOnly = false
    /// The tags of the stored entries, for ``CacheSelection/tagged(_:)``.
    public var tags: Set<String> = []
    /// The size of the largest streamed body to store, in bytes (16 MiB).
    public var maximumBodyBytes = 16 << 20

    /// Creates a policy.
    public init(mode: CacheMode = .cacheElseNetwork, scope: String? = nil) {
        self.mode = mode
        self.scope = scope
    }
}

/// Caching by the server's directives, as a private cache (RFC 9111): for one user, not for a proxy.
///
///     request.caching = .http(HTTPCachePolicy())
public struct HTTPCachePolicy: Sendable {
    /// The order of cache and network.
    public var mode: CacheMode
    /// The owner of the responses; no other owner gets them. If empty, they are shared. If `nil`, users are
    /// distinguished by their credentials, client certificate and netrc file, and by their cookies if the response was
    /// to a request with cookies. Only a keyed hash of it is stored.
    public var scope: String?
    /// The fraction of the time since Last-Modified for which a response without explicit freshness is fresh (0.1; RFC
    /// 9111, 4.2.2); 0 disables heuristic freshness.
    public var heuristicFraction = 0.1
    /// The longest heuristic lifetime (1 day).
    public var heuristicLimit: Duration = .seconds(86_400)
    /// Whether the call ends before its response is stored.
    public var writesAsynchronously = true
    /// Whether stored responses are ignored; the network's response is still stored.
    public var ignoresStored = false
    /// Whether nothing is stored.
    public var isReadOnly = false
    /// The tags of entries, for ``CacheStore/removeAll(tagged:)``.
    public var tags: Set<String> = []
    /// The largest streamed body to store, in bytes (16 MiB).
    public var maximumBodyBytes = 16 << 20

    /// Creates a policy.
    public init(mode: CacheMode = .cacheElseNetwork, scope: String? = nil) {
        self.mode = mode
        self.scope = scope
    }
}

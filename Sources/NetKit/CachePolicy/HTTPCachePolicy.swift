/// What a server says of caching, obeyed as by a private cache (RFC 9111): one user's, not a proxy's.
///
///     request.caching = .http(HTTPCachePolicy())
public struct HTTPCachePolicy: Sendable {
    /// In which order the cache and the network are asked.
    public var mode: CacheMode
    /// Whose answers they are: nobody else gets them. Empty is anybody's. Nil tells users apart by their credentials,
    /// client certificate and netrc file, and by their cookies where an answer came to a request that had some. Kept as
    /// a keyed hash alone.
    public var scope: String?
    /// The part of the time since Last-Modified for which a response that says nothing is fresh (0.1; RFC 9111, 4.2.2);
    /// 0 guesses nothing.
    public var heuristicFraction = 0.1
    /// The longest of such times (1 day).
    public var heuristicLimit: Duration = .seconds(86_400)
    /// Whether the call ends before its answer is stored.
    public var writesAsynchronously = true
    /// Whether what is stored is not looked at; the network's answer is stored all the same.
    public var ignoresStored = false
    /// Whether nothing is stored.
    public var isReadOnly = false
    /// Names for ``CacheStore/removeAll(tagged:)``.
    public var tags: Set<String> = []
    /// Bytes of a streamed body that are kept to be stored (16 MiB); a larger one is not stored.
    public var maximumBodyBytes = 16 << 20

    /// A policy.
    public init(mode: CacheMode = .cacheElseNetwork, scope: String? = nil) {
        self.mode = mode
        self.scope = scope
    }
}

/// What an app wants of the cache for a request: how long an answer is good, and for whom.
///
///     var request = Request<[City]>("cities")
///     request.caching = .application(CachePolicy(maximumAge: .seconds(300), version: 2))
///
/// What the server says of caching does not count; ``HTTPCachePolicy`` goes by that.
public struct CachePolicy: Sendable {
    /// Which responses are stored.
    public enum Storing: Sendable {
        /// Those that the request accepts: their status, type, JSON shape and decoding are in order.
        case accepted
        /// Those of them that this says yes to.
        case acceptedWhere(@Sendable (Response<Bytes>) -> Bool)
    }

    /// In which order the cache and the network are asked.
    public var mode: CacheMode
    /// How old an answer may be; exactly so old is not too old. Negative: nothing is read or stored; zero: nothing is
    /// stored.
    public var maximumAge: Duration
    /// An answer that was stored under another number is not used.
    public var version: Int64
    /// An answer that was stored with another text, or without one, is not used. Kept as a keyed hash alone.
    public var sensitiveData: String?
    /// An answer that another version of the app stored is not used; nil takes ``Agent/Configuration/appVersion``.
    public var appVersion: String?
    /// Whose answer it is, such as a user's number: nobody else gets it. Empty is anybody's. Nil tells users apart by
    /// their credentials, client certificate, netrc file and Cookie field and by the agent's cookies. Kept
    /// as a keyed hash alone.
    public var scope: String?
    /// The fields that choose the answer; others make no difference.
    public var keyFields = ["Accept", "Accept-Language", "Content-Type"]
    /// The methods whose answers are stored and used; nil is any method, where the request names this policy itself, and
    /// GET and HEAD where it is the policy of all requests.
    public var methods: Set<Method>?
    /// Whether the call ends before its answer is stored.
    public var writesAsynchronously = true
    /// Whether what is stored is not looked at; the network's answer is stored all the same.
    public var ignoresStored = false
    /// Whether nothing is stored.
    public var isReadOnly = false
    /// Which responses are stored.
    public var storing = Storing.accepted
    /// Whether an answer that is too old is asked about by its ETag or Last-Modified, so that it need not be sent again.
    public var revalidates = true
    /// Names for ``CacheStore/removeAll(tagged:)``.
    public var tags: Set<String> = []
    /// Bytes of a streamed body that are kept to be stored (16 MiB); a larger one is not stored.
    public var maximumBodyBytes = 16 << 20

    /// A policy.
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

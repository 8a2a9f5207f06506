/// An app's cache policy for a request: how long a response is usable, and for which user.
///
///     var request = Request<[City]>("cities")
///     request.caching = .application(CachePolicy(maximumAge: .seconds(300), version: 2))
///
/// The server's caching directives are ignored; ``HTTPCachePolicy`` follows them.
public struct CachePolicy: Sendable {
    /// The responses to store.
    public enum Storing: Sendable {
        /// Responses that the request accepts: with valid status, type, JSON shape and decoding.
        case accepted
        /// Accepted responses for which the closure returns true.
        case acceptedWhere(@Sendable (Response<Bytes>) -> Bool)
    }

    /// The order of cache and network.
    public var mode: CacheMode
    /// The maximum age of a response, inclusive. With a negative age nothing is read or stored; with zero nothing is
    /// stored.
    public var maximumAge: Duration
    /// A response that was stored with another number is not used.
    public var version: Int64
    /// A response that was stored with another text, or without one, is not used. Only a keyed hash of it is stored.
    public var sensitiveData: String?
    /// A response that another version of the app stored is not used. If `nil`, ``Agent/Configuration/appVersion``
    /// applies.
    public var appVersion: String?
    /// The owner of the response, such as a user's number; no other owner gets it. If empty, it is shared. If `nil`,
    /// users are distinguished by their credentials, client certificate, netrc file, Cookie field and the agent's
    /// cookies. Only a keyed hash of it is stored.
    public var scope: String?
    /// The fields that select the response; others are ignored.
    public var keyFields = ["Accept", "Accept-Language", "Content-Type"]
    /// The methods whose responses are stored and used. If `nil`, any method in a request's own policy, and GET and
    /// HEAD in the policy of all requests.
    public var methods: Set<Method>?
    /// Whether the call ends before its response is stored.
    public var writesAsynchronously = true
    /// Whether stored responses are ignored; the network's response is still stored.
    public var ignoresStored = false
    /// Whether nothing is stored.
    public var isReadOnly = false
    /// The responses to store.
    public var storing = Storing.accepted
    /// Whether an expired response is revalidated by its ETag or Last-Modified, which may avoid sending it again.
    public var revalidates = true
    /// The tags of entries, for ``CacheStore/removeAll(tagged:)``.
    public var tags: Set<String> = []
    /// The largest streamed body to store, in bytes (16 MiB).
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

/// Stores responses and returns them for later requests, by the app's rules or by the server's.
///
///     let caching = Caching(DiskCacheStore(directory: path))
///     configuration.interceptors = [caching]
///     request.caching = .maxAge(.seconds(300))
///
/// Place it before interceptors that should not run for a cached response, such as ``Retry`` and ``RateLimit``. A
/// cached response is checked, decoded and observed like one from the network. ``Response/cache`` reports the decision
/// of the cache.
///
/// Not cached:
/// - saves to files and downloads. With ``CacheMode/cacheOnly`` they throw ``NetError/Code/notCached``.
/// - requests whose body is read while it is sent. By the server's rules, a request whose method is not safe still
///   invalidates stored responses.
/// - responses that were received after a challenge, with the credentials for it
///
/// A response is never returned to another user. Users are distinguished by the ``Request/credentials``, the cookies,
/// and the fields with secret names, such as X-Api-Key (see ``Redaction/Names/usual``). This includes credentials that
/// interceptors behind the cache add, such as ``CredentialRefresh`` (see ``Interceptor/identified(_:)``).
///
/// If the store fails, the request is sent as if the store were empty. Thread-safe.
public final class Caching: PromptInterceptor {
    /// The rules of requests that set none.
    package let rules: CacheRules
    let time: TimeSource
    let secret: CacheSecret
    /// Names of header fields whose values distinguish users.
    let secrets: Redaction.Names
    let background = BackgroundWork()
    let changes = ChangedKeys()
    // A store in memory never delays a call. A store on disk, or a store of the app, may delay it.
    let isPrompt: Bool
    private let stores: @Sendable (Request<Bytes>) -> any CacheStore
    private let failing = Lock(false)

    /// Whether the last entry could not be stored.
    var isFailing: Bool { failing.withLock { $0 } }

    /// Records whether an entry could be stored. If an entry is too large, or if the app rejects it, the store has not
    /// failed.
    func recordStoreResult(_ error: NetError?) {
        switch error?.code {
        case .tooLarge?, .stoppedByCaller?, .cancelled?, .usage?, .unsupported?: break
        case nil: failing.withLock { $0 = false }
        default: failing.withLock { $0 = true }
        }
    }

    /// Creates a cache with one store for all requests.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - rules: the rules of requests that set none: by default those of the server.
    ///   - hashKey: the key of the hashes of users and sensitive data, 32 random bytes. If `nil`, the cache creates a
    ///     key and keeps it in the store.
    ///   - secrets: names of header fields whose values distinguish users.
    ///   - time: the clock.
    public init(
        _ store: any CacheStore, rules: CacheRules = .http(), hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { store }
        stores = { _ in store }
        isPrompt = store is MemoryCacheStore
    }

    /// Creates a cache with a store for each request.
    ///
    /// - Parameters:
    ///   - standard: the store for the key of the hashes, if there is no `hashKey`.
    ///   - rules: the rules of requests that set none: by default those of the server.
    ///   - hashKey: the key of the hashes of users and sensitive data, 32 random bytes. If `nil`, the cache creates a
    ///     key and keeps it in the store `standard`.
    ///   - secrets: names of header fields whose values distinguish users.
    ///   - time: the clock.
    ///   - store: returns the store of a request. It is called often and must be fast.
    public init(
        _ standard: any CacheStore, rules: CacheRules = .http(), hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system,
        storeFor store: @escaping @Sendable (Request<Bytes>) -> any CacheStore
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { standard }
        stores = store
        isPrompt = false
    }

    /// Returns a stored response, or continues with the call and stores its response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        switch evaluator(for: next.identified(call), next.cacheContext) {
        case nil:
            guard call.request.cacheRules(over: rules).mode != .cacheOnly else {
                throw NetError(.notCached, "cache-only request, but its cache policy is off or does not apply to it")
            }
            return try await next(call)
        case .application(let evaluator)?:
            guard call.kind != .save else { return try await saved(call, evaluator.mode, next) }
            let response = try await CachedCall(evaluator: evaluator, caching: self, call: call, next: next).response()
            return try limited(response, by: call.request)
        case .http(let evaluator)?:
            guard call.kind != .save || evaluator.isChanging else { return try await saved(call, evaluator.mode, next) }
            let response = try await HTTPCachedCall(evaluator: evaluator, caching: self, call: call, next: next)
                .response()
            return try limited(response, by: call.request)
        }
    }

    /// Throws if a stored body exceeds the limit of this request. The request that it was stored for may have had
    /// another limit.
    private func limited(_ response: ChainResponse, by request: Request<Bytes>) throws(NetError) -> ChainResponse {
        guard let limit = request.limits.maxBodyBytes, case .bytes(let bytes) = response.body, bytes.count > limit,
            response.response.source == .cache
        else { return response }
        throw NetError(
            .bodyTooLarge, "the stored body is larger than the limit of \(limit) bytes (limits.maxBodyBytes)")
    }

    /// Continues with a save. A saved body always comes from the network, so this throws if the network must not be
    /// used.
    private func saved(_ call: Call, _ mode: CacheMode, _ next: Next) async throws(NetError) -> ChainResponse {
        if mode == .cacheOnly {
            throw NetError(.notCached, "cache-only request, but files are only saved from the network")
        }
        return try await next(call)
    }

    /// Waits until all background writes and refreshes have ended.
    public func finish() async {
        await background.finish()
    }

    /// Returns the key under which the response to a call will be looked up again, if the call has to use the network
    /// because no usable response is stored. Returns `nil` for other calls.
    ///
    /// - Parameter next: the chain that this cache is a part of.
    package func keyToFetch(_ call: Call, _ next: Next) async -> CacheKey? {
        guard call.kind == .send else { return nil }
        let (lookup, mode): (CacheLookup, CacheMode)
        switch evaluator(for: next.identified(call), next.cacheContext) {
        case nil: return nil
        case .application(let evaluator)?: (lookup, mode) = (await evaluator.lookup(at: now), evaluator.mode)
        case .http(let evaluator)?:
            if evaluator.isChanging {
                return nil
            }
            (lookup, mode) = (await evaluator.lookup(at: now), evaluator.mode)
        }
        switch mode {
        case .cacheElseNetwork, .staleWhileRevalidate, .staleIfError: return lookup.decision.isUse ? nil : lookup.key
        case .networkElseCache, .cacheThenNetwork, .cacheOnly, .nativeLoad: return nil
        }
    }

    /// Waits until the running writes of a key have ended, or the call's time is over.
    package func waitForWrites(of key: CacheKey, _ call: Call) async {
        await background.waitForWrites(of: key, within: call.budget)
    }

    // MARK: Choosing the rules

    enum Evaluator: Sendable {
        case application(TTLCacheEvaluator)
        case http(HTTPCacheEvaluator)
    }

    /// Returns the evaluator for a call, or `nil` if the call does not use the cache.
    func evaluator(for call: Call, _ context: CacheContext) -> Evaluator? {
        let request = call.request
        switch request.cacheRules(over: rules) {
        case .off, .inherited, .mode, .reload: return nil
        case .application(let policy):
            guard request.body == nil || request.body?.wholeBytes != nil,
                policy.applies(to: request.method, isExplicit: request.setsCachePolicy), !request.hasPreconditions
            else { return nil }
            return .application(
                TTLCacheEvaluator(policy: policy, call: call, caching: self, context: context))
        case .http(let policy):
            let evaluator = HTTPCacheEvaluator(
                policy: policy, request: request, caching: self, context: context, budget: call.budget)
            // The key contains the URL but not the body, so it does not identify a GET request with a body.
            return request.body == nil || evaluator.isChanging ? .http(evaluator) : nil
        }
    }

    func store(for request: Request<Bytes>) -> any CacheStore { stores(request) }

    /// Stores an entry, unless its key was invalidated, or a later response was stored, since the request was sent.
    func put(
        _ entry: CacheEntry, for entryKey: CacheKey, under key: CacheKey, requestedAt moment: UInt64,
        in store: any CacheStore
    ) async throws(NetError) {
        guard changes.claim(entryKey, for: moment) else { return }
        try await store.put(entry, for: entryKey)
        if ![key, entryKey].allSatisfy({ changes.isUnchanged($0, since: moment) }) {
            // The key was invalidated during the write, which may have put the invalid response back.
            try await store.remove(entryKey)
        }
    }

    /// The current time in milliseconds since 1970.
    var now: Int64 { Int64(moment: time.epochSeconds() * 1000) }
}

extension CachePolicy {
    /// Returns true if the policy applies to a method. If the policy does not list methods and is not the request's
    /// own, it applies only to GET and HEAD.
    fileprivate func applies(to method: Method, isExplicit: Bool) -> Bool {
        methods?.contains(method) ?? (isExplicit || method == .get || method == .head)
    }
}

private let preconditionNames = [
    "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
]

extension Request {
    /// Whether the request is conditional or requests a range.
    var hasPreconditions: Bool { headers.hasAny(preconditionNames) }

    /// Whether a condition can be added to revalidate the stored response. With other methods than GET and HEAD, a
    /// condition would prevent the effect of the request (RFC 9110, 13.1.2).
    var canBeConditional: Bool { method == .get || method == .head }

    /// Changes the request to an unconditional GET of the whole representation.
    mutating func makeUnconditionalGet() {
        method = .get
        for name in preconditionNames {
            headers[name] = nil
        }
    }
}

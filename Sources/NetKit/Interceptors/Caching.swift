/// Stores responses and answers later requests from the store, by the app's rules or by the server's.
///
///     let caching = Caching(DiskCacheStore(directory: path))
///     configuration.interceptors = [caching]
///     request.caching = .application(CachePolicy(maximumAge: .seconds(300)))
///
/// Place it before interceptors that should not run for a cached response, such as ``Retry`` and ``RateLimit``. A
/// cached response passes the same decoding, checks and observers as one from the network. ``Response/cache`` reports
/// the decision.
///
/// Not cached:
/// - saves to files and downloads (with ``CacheMode/cacheOnly`` they throw ``NetError/Code/notCached``)
/// - requests whose body is read while it is sent. By the server's rules, a method that is not safe still invalidates
///   stored responses.
/// - responses to credentials that a challenge required
///
/// Users are distinguished by the credentials of their requests: credentials, cookies, and fields with secret names,
/// such as X-Api-Key (see ``Redaction/Names/usual``). Credentials that interceptors behind it add count too
/// (``Interceptor/identified(_:)``), such as those of ``CredentialRefresh``. A failing store is treated as an empty
/// one. Thread-safe.
public final class Caching: PromptInterceptor {
    /// The rules of requests that set none.
    public let rules: CacheRules
    let time: TimeSource
    let secret: CacheSecret
    /// Names of header fields whose values distinguish users.
    let secrets: Redaction.Names
    let background = BackgroundWork()
    let changes = ChangedKeys()
    /// A store in memory holds no call; a disk, or a store of the app's own, may.
    let isPrompt: Bool
    private let stores: @Sendable (Request<Bytes>) -> any CacheStore
    private let failing = Lock(false)

    /// Whether the last entry could not be stored.
    var isFailing: Bool { failing.withLock { $0 } }

    /// Records the store's result for an entry. An entry that is too large, or that the app rejects, is no failure.
    func tookEntry(_ error: NetError?) {
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
    ///   - rules: the rules of requests that set none.
    ///   - hashKey: the key of the hashes of users and sensitive data, 32 random bytes; `nil` creates one and keeps it
    ///     in the store.
    ///   - secrets: names of header fields whose values distinguish users.
    ///   - time: the clock.
    public init(
        _ store: any CacheStore, rules: CacheRules = .off, hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { store }
        stores = { _ in store }
        isPrompt = store is MemoryCacheStore
    }

    /// Creates a cache with a store for each directory that a filter names.
    ///
    /// - Parameters:
    ///   - directories: select the store of a request.
    ///   - rules: the rules of requests that set none.
    ///   - hashKey: the key of the hashes of users and sensitive data, 32 random bytes; `nil` creates one and keeps it
    ///     in the store of the unfiltered directory.
    ///   - secrets: names of header fields whose values distinguish users.
    ///   - time: the clock.
    public init(
        in directories: CacheDirectories, rules: CacheRules = .off, hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { directories.standard }
        stores = { directories.store(for: $0) }
        isPrompt = false
    }

    /// Returns a stored response, or continues with the call and stores its response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        switch side(for: next.identified(call), next.cacheContext) {
        case nil:
            guard rules(of: call.request).mode != .cacheOnly else {
                throw NetError(.notCached, "no cache answers such a request, and the cache alone was to be asked")
            }
            return try await next(call)
        case .application(let side)?:
            guard call.kind != .save else { return try await saved(call, side.mode, next) }
            let answer = try await CachedCall(side: side, caching: self, call: call, next: next).answer()
            return try limited(answer, by: call.request)
        case .http(let side)?:
            guard call.kind != .save || side.isChanging else { return try await saved(call, side.mode, next) }
            let answer = try await HTTPCachedCall(side: side, caching: self, call: call, next: next).answer()
            return try limited(answer, by: call.request)
        }
    }

    /// Applies the caller's limit: a stored response satisfied the limits of its first caller only.
    private func limited(_ answer: Answer, by request: Request<Bytes>) throws(NetError) -> Answer {
        guard let most = request.limits?.maxBodyBytes, case .bytes(let bytes) = answer.body, bytes.count > most,
            answer.response.source == .cache
        else { return answer }
        throw NetError(.bodyTooLarge, "the stored body is larger than \(most) bytes")
    }

    /// A file is neither stored nor created from a stored response. If the network may not be used, this fails.
    private func saved(_ call: Call, _ mode: CacheMode, _ next: Next) async throws(NetError) -> Answer {
        if mode == .cacheOnly {
            throw NetError(.notCached, "files are saved from the network, and the cache alone was to be asked")
        }
        return try await next(call)
    }

    /// Waits until all background writes and refreshes have ended.
    public func finish() async {
        await background.finish()
    }

    // MARK: Choosing the rules

    enum Side: Sendable {
        case application(ApplicationSide)
        case http(HTTPSide)
    }

    private func rules(of request: Request<Bytes>) -> CacheRules {
        (request.hasNotes ? request.caching : nil) ?? rules
    }

    /// Returns the evaluator of a request, or `nil` if it is neither stored nor answered from the store.
    func side(for call: Call, _ context: CacheContext) -> Side? {
        let request = call.request
        let isAskedFor = request.hasNotes && request.caching != nil
        switch rules(of: request) {
        case .off: return nil
        case .application(let policy):
            guard request.body == nil || request.body?.wholeBytes != nil,
                policy.takes(request.method, isAskedFor: isAskedFor), !request.hasPreconditions
            else { return nil }
            return .application(
                ApplicationSide(policy: policy, call: call, caching: self, context: context))
        case .http(let policy):
            let side = HTTPSide(policy: policy, request: request, caching: self, context: context, budget: call.budget)
            // The key of a response contains only the URL, which does not describe a GET with a body.
            return request.body == nil || side.isChanging ? .http(side) : nil
        }
    }

    func store(for request: Request<Bytes>) -> any CacheStore { stores(request) }

    /// Stores an entry, unless a change or a later response has arrived since its request was sent.
    func put(
        _ entry: CacheEntry, for place: CacheKey, under key: CacheKey, askedAt moment: UInt64, in store: any CacheStore
    ) async throws(NetError) {
        guard changes.take(place, for: moment) else { return }
        try await store.put(entry, for: place)
        if ![key, place].allSatisfy({ changes.isUnchanged($0, since: moment) }) {
            // A change in the meantime found nothing to remove, or is hidden now.
            try await store.remove(place)
        }
    }

    /// Milliseconds since 1970.
    var now: Int64 { Int64(moment: time.epochSeconds() * 1000) }
}

extension CachePolicy {
    /// Returns true if the policy covers a method. A policy that the request does not set covers only reading methods.
    fileprivate func takes(_ method: Method, isAskedFor: Bool) -> Bool {
        methods?.contains(method) ?? (isAskedFor || method == .get || method == .head)
    }
}

private let preconditionNames = [
    "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
]

extension Request {
    /// Whether it requests a part, or is conditional.
    var hasPreconditions: Bool { headers.hasAny(preconditionNames) }

    /// Whether a conditional request can revalidate its stored response. With other methods the condition would prevent
    /// their effect (RFC 9110, 13.1.2).
    var canBeConditional: Bool { method == .get || method == .head }

    /// Turns it into an unconditional request for the whole representation.
    mutating func becomeWhole() {
        method = .get
        for name in preconditionNames {
            headers[name] = nil
        }
    }
}

/// Keeps answers, and gives them again: by an app's rules or by the server's.
///
///     let caching = Caching(DiskCacheStore(directory: path))
///     configuration.interceptors = [caching]
///     request.caching = .application(CachePolicy(maximumAge: .seconds(300)))
///
/// Put it before what is not wanted for an answer that is at hand, such as ``Retry`` and ``RateLimit``. An answer from
/// the cache goes through the same decoding, the same checks and the same observers as one from the network, and
/// ``Response/cache`` tells what was decided. Saves to files and downloads pass by (with ``CacheMode/cacheOnly`` they are
/// ``NetError/Code/notCached``), and so do bodies that are read while they are sent; by the server's rules a method that
/// changes something makes what is stored of no use all the same.
/// Users are told apart by what requests show (credentials, cookies, and the fields whose names stand for secrets, such
/// as X-Api-Key; see ``Redaction/Names/usual``), and by what interceptors behind it say that they are going to show
/// (``Interceptor/identified(_:)``), as ``CredentialRefresh`` does; what came to credentials that a challenge got is not
/// stored. A store that fails is as good as an empty one.
/// Thread-safe.
public final class Caching: Interceptor {
    /// For requests that name none.
    public let rules: CacheRules
    let time: TimeSource
    let secret: CacheSecret
    /// Names of header fields whose values tell users apart.
    let secrets: Redaction.Names
    let background = BackgroundWork()
    let changes = ChangedKeys()
    private let stores: @Sendable (Request<Bytes>) -> any CacheStore
    private let failing = Lock(false)

    /// Whether the last entry could not be stored.
    var isFailing: Bool { failing.withLock { $0 } }

    /// Takes down how the store took an entry. One that is too large, or that the app keeps out, says nothing of others.
    func tookEntry(_ error: NetError?) {
        switch error?.code {
        case .tooLarge?, .stoppedByCaller?, .cancelled?, .usage?, .unsupported?: break
        case nil: failing.withLock { $0 = false }
        default: failing.withLock { $0 = true }
        }
    }

    /// With one store for all requests.
    ///
    /// - Parameters:
    ///   - store: where answers are kept.
    ///   - rules: for requests that name none.
    ///   - hashKey: the key of the hashes that stand for users and sensitive data, 32 random bytes; nil makes one, and
    ///     keeps it in the store.
    ///   - secrets: names of header fields whose values tell users apart.
    ///   - time: where time comes from.
    public init(
        _ store: any CacheStore, rules: CacheRules = .off, hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { store }
        stores = { _ in store }
    }

    /// With a store for each directory that a filter names.
    ///
    /// - Parameters:
    ///   - directories: name the store of a request.
    ///   - rules: for requests that name none.
    ///   - hashKey: the key of the hashes that stand for users and sensitive data, 32 random bytes; nil makes one, and
    ///     keeps it in the store of no request in particular.
    ///   - secrets: names of header fields whose values tell users apart.
    ///   - time: where time comes from.
    public init(
        in directories: CacheDirectories, rules: CacheRules = .off, hashKey: Bytes? = nil,
        secrets: Redaction.Names = .usual, time: TimeSource = .system
    ) {
        self.rules = rules
        self.secrets = secrets
        self.time = time
        secret = CacheSecret(hashKey) { directories.standard }
        stores = { directories.store(for: $0) }
    }

    /// Answers from what is stored, or lets the call go on and stores what comes back.
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

    /// What is stored was within the limits of whoever asked for it first.
    private func limited(_ answer: Answer, by request: Request<Bytes>) throws(NetError) -> Answer {
        guard let most = request.limits?.maxBodyBytes, case .bytes(let bytes) = answer.body, bytes.count > most,
            answer.response.source == .cache
        else { return answer }
        throw NetError(.bodyTooLarge, "the stored body is larger than \(most) bytes")
    }

    /// A file is neither stored nor made of what is stored; where the network is not to be asked, there is none.
    private func saved(_ call: Call, _ mode: CacheMode, _ next: Next) async throws(NetError) -> Answer {
        if mode == .cacheOnly {
            throw NetError(.notCached, "files are saved from the network, and the cache alone was to be asked")
        }
        return try await next(call)
    }

    /// Waits until nothing is stored or refreshed in the background any more.
    public func finish() async {
        await background.finish()
    }

    // MARK: Whose rules

    enum Side: Sendable {
        case application(ApplicationSide)
        case http(HTTPSide)
    }

    private func rules(of request: Request<Bytes>) -> CacheRules {
        (request.hasNotes ? request.caching : nil) ?? rules
    }

    /// Nil for a request that is neither stored nor answered from what is.
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
            let side = HTTPSide(policy: policy, request: request, caching: self, context: context)
            // Its URL alone names a response, and does not tell what a GET with a body asks for.
            return request.body == nil || side.isChanging ? .http(side) : nil
        }
    }

    func store(for request: Request<Bytes>) -> any CacheStore { stores(request) }

    /// Puts an entry in its place under a key, unless a change or a later answer has come since it was asked for.
    func put(
        _ entry: CacheEntry, for place: CacheKey, under key: CacheKey, askedAt moment: UInt64, in store: any CacheStore
    ) async throws(NetError) {
        guard changes.take(place, for: moment) else { return }
        try await store.put(entry, for: place)
        if ![key, place].allSatisfy({ changes.isUnchanged($0, since: moment) }) {
            // What came meanwhile found nothing to remove, or is hidden now.
            try await store.remove(place)
        }
    }

    /// Milliseconds since 1970.
    var now: Int64 { Int64(moment: time.epochSeconds() * 1000) }
}

extension CachePolicy {
    /// Whether requests of a method are its own; what nobody has asked for is done to those that only read.
    fileprivate func takes(_ method: Method, isAskedFor: Bool) -> Bool {
        methods?.contains(method) ?? (isAskedFor || method == .get || method == .head)
    }
}

private let preconditionNames = [
    "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
]

extension Request {
    /// Whether it asks for a part, or for an answer on a condition.
    var hasPreconditions: Bool { headers.hasAny(preconditionNames) }

    /// Whether what is stored for it can be asked about: on other methods the condition would forbid what they do
    /// (RFC 9110, 13.1.2).
    var canBeConditional: Bool { method == .get || method == .head }

    /// Asks for the whole from now on, and whatever is there.
    mutating func becomeWhole() {
        method = .get
        for name in preconditionNames {
            headers[name] = nil
        }
    }
}

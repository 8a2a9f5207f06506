#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Evaluates a request by the server's caching rules (RFC 9111).
///
/// A response with a Vary field is stored under a separate key, which includes the fields that Vary names. An index
/// under the URL's key lists the Vary fields of the stored responses. Without the index, those responses are not found.
final class HTTPCacheEvaluator: CacheEvaluator {
    let policy: HTTPCachePolicy
    let request: Request<Bytes>
    let caching: Caching
    let context: CacheContext
    let trust: TrustSetting?
    let budget: TimeBudget
    let rules: HTTPCacheRules
    /// The decision without a stored response.
    let decisionWithoutStored: HTTPCacheDecision

    init(
        policy: HTTPCachePolicy, request: Request<Bytes>, caching: Caching, context: CacheContext, budget: TimeBudget
    ) {
        self.budget = budget
        self.policy = policy
        self.request = request
        self.caching = caching
        self.context = context
        trust = context.trust(of: request)
        rules = HTTPCacheRules(request, policy)
        decisionWithoutStored = rules.decision(on: nil, at: 0, policy.lookupMode)
    }

    var mode: CacheMode { policy.mode }
    var scope: String? { policy.scope }
    var writesAsynchronously: Bool { policy.writesAsynchronously }
    var maximumBodyBytes: Int { policy.maximumBodyBytes }
    /// Whether the request's method is not safe, so that it may invalidate stored responses. Such a request uses the
    /// cache even if it has a body or is a save.
    var isChanging: Bool { !request.method.isSafe }

    // MARK: Lookup

    func lookup(at now: Int64) async -> CacheLookup {
        let moment = caching.changes.begin()
        guard let key = try? await key(of: request.url),
            let owner = policy.scope == nil ? try? await caching.owner(of: request, context) : []
        else { return CacheLookup(.fetch(.uncacheable)) }
        var lookup = CacheLookup(decisionWithoutStored.decision, key: key)
        lookup.moment = moment
        lookup.owner = owner
        lookup.trust = trust
        // With another reason, no stored response may be used.
        guard lookup.decision.reason == .absent else { return lookup }
        await caching.background.waitForWrites(of: key, within: budget)
        switch await found(key) {
        case .success(let cachedResponse): decide(cachedResponse, now, &lookup)
        case .failure(let miss): lookup.decision = .fetch(miss.reason)
        }
        return lookup
    }

    struct Miss: Error {
        let reason: CacheReason
    }

    /// Returns the stored response that matches the fields of this request.
    func found(_ key: CacheKey) async -> Result<CachedResponse, Miss> {
        let store = caching.store(for: request)
        do throws(NetError) {
            guard let entry = try await store.entry(for: key) else { return .failure(Miss(reason: .absent)) }
            if let cachedResponse = entry.cachedResponse(under: key) {
                return .success(cachedResponse)
            }
            guard case .index(let index)? = StoredMetadata(entry.metadata) else {
                return .failure(Miss(reason: .invalidMetadata))
            }
            for choice in index.choices {
                let variant = try await self.key(of: request.url, choice, index.generation)
                if let cachedResponse = try await store.entry(for: variant)?.cachedResponse(under: variant) {
                    return .success(cachedResponse)
                }
            }
            return .failure(Miss(reason: .varies))
        } catch {
            return .failure(Miss(reason: .invalidMetadata))
        }
    }

    private func decide(_ cachedResponse: CachedResponse, _ now: Int64, _ lookup: inout CacheLookup) {
        let head = cachedResponse.storedResponse.head
        let answer = rules.decision(on: cachedResponse, at: now, policy.lookupMode)
        lookup.stored = cachedResponse
        lookup.age = answer.age
        lookup.lifetime = head.freshness.lifetime
        guard isFor(lookup.owner, cachedResponse) else {
            lookup.decision = .fetch(head.owner.isEmpty ? .varies : .otherIdentity)
            return
        }
        lookup.isOwn = answer.isOwn
        lookup.decision = answer.decision
        lookup.form = answer.form
        if lookup.decision.isUse, request.method == .get, request.expectation != nil,
            !cachedResponse.isExpected(by: request)
        {
            lookup.decision = .fetch(.invalidData)
            lookup.isOwn = false
        }
    }

    /// Returns true if a stored response may be used for a request whose cookies have the hash `owner`.
    ///
    /// A response to a request without cookies may be used for all requests, unless its Vary field names Cookie. The
    /// cookies of the jar are not among the request's fields, so the key does not cover them.
    func isFor(_ owner: [UInt8], _ cachedResponse: CachedResponse) -> Bool {
        let owners = cachedResponse.storedResponse.head.owner
        return owners == owner || (owners.isEmpty && !cachedResponse.storedResponse.headers.variesByCookie)
    }

    func replacement(_ lookup: CacheLookup, after status: Int?, at now: Int64) -> CacheLookup? {
        guard lookup.isOwn, let cachedResponse = lookup.stored,
            let form = rules.formAfterFailure(status, cachedResponse, at: now, policy.failureMode)
        else { return nil }
        var replacement = lookup.using(.staleIfError)
        replacement.form = form
        return replacement
    }

    // MARK: Storing

    func storable(for response: Response<Bytes>, sent: Int64, received: Int64) -> StoredResponse? {
        // After a redirect, the response belongs to another URL than the request's.
        guard response.metrics.count < 2, !response.isCloseDelimited,
            let storable = rules.storable(
                response.status, response.headers, sent: sent, received: received, policy.storingMode)
        else { return nil }
        var head = storable.head
        head.httpVersion = response.httpVersion
        head.url = response.url
        return StoredResponse(head, headers: storable.headers)
    }

    func freshened(_ stored: StoredResponse, by headers: Headers, sent: Int64, received: Int64) -> StoredResponse {
        let fields = stored.merged(with: headers.dated(received))
        // The age comes from the new response only. Age is not one of the stored fields.
        var fieldsWithAge = fields
        if let age = headers.first(named: "Age") {
            fieldsWithAge.append(age)
        }
        var head = stored.head
        head.received = received
        head.freshness = rules.freshness(head.status, fieldsWithAge, sent: sent, received: received)
        head.hasValidator = fields.hasValidator
        return StoredResponse(head, headers: fields)
    }

    func isStorable(_ freshened: StoredResponse) -> Bool { rules.isStorable(freshened, policy.storingMode) }

    func put(_ storable: StoredResponse, _ body: Bytes, after lookup: CacheLookup) async throws(NetError) {
        guard let key = lookup.key, !policy.isReadOnly, context.isUnchanged(since: lookup, for: request),
            caching.changes.isUnchanged(key, since: lookup.moment)
        else { return }
        if policy.scope == nil {
            // Throws if a file with credentials has changed, because the response may belong to another user.
            _ = try await context.hiddenCredentials(of: request)
        }
        let store = caching.store(for: request)
        let entryKey = try await entryKey(for: storable, under: key, in: store)
        var head = storable.head
        head.owner = lookup.owner
        let stored = StoredMetadata.storedResponse(StoredResponse(head, headers: storable.headers))
        try? await caching.secret.keep()
        let entry = entry(stored, body, head.received)
        try await caching.put(entry, for: entryKey, under: key, requestedAt: lookup.moment, in: store)
    }

    /// Returns the key to store a response under. A response without a Vary field has the key of the URL. A response
    /// with one has a separate key, and its Vary field is added to the index.
    private func entryKey(
        for storable: StoredResponse, under key: CacheKey, in store: any CacheStore
    ) async throws(NetError) -> CacheKey {
        guard let vary = Vary(storable.headers) else {
            throw NetError(.usage, "a response whose Vary field contains \"*\" or too many names cannot be stored")
        }
        if vary.names.isEmpty {
            return key
        }
        var random = SystemRandomNumberGenerator()
        var index = VariantIndex(generation: random.next())
        if let entry = try await store.entry(for: key), case .index(let known)? = StoredMetadata(entry.metadata) {
            index = known
        }
        if index.add(vary) {
            try await store.put(entry(.index(index), [], storable.head.received), for: key)
        }
        return try await self.key(of: request.url, vary, index.generation)
    }

    private func entry(_ metadata: StoredMetadata, _ body: Bytes, _ received: Int64) -> CacheEntry {
        CacheEntry(
            body: body, metadata: metadata.bytes, host: request.url.hostName, tags: policy.tags,
            created: Date(timeIntervalSince1970: Double(received) / 1000))
    }

    /// Returns the response with its current age in the Age field (RFC 9111, 4).
    func response(of cachedResponse: CachedResponse, at now: @autoclosure () -> Int64) -> Response<Bytes> {
        var response = cachedResponse.response
        let age = cachedResponse.storedResponse.head.freshness.age(at: now()) ?? 0
        response.headers = response.headers.followed(by: Headers.Field(name: "Age", value: String(age / 1000)))
        return response
    }

    // MARK: Keys

    /// Returns the key of the response for a URL, or of the index of its responses.
    func key(of url: String) async throws(NetError) -> CacheKey {
        let scope = try await caching.scope(of: request, named: policy.scope, context, cookies: nil)
        return try key(of: url, in: scope)
    }

    /// Returns the key of a response with a Vary field. The names in Vary are part of the key. Otherwise a response
    /// that depends on the absence of a field would have the same key as one that does not depend on it.
    private func key(of url: String, _ vary: Vary, _ generation: UInt64) async throws(NetError) -> CacheKey {
        let scope = try await caching.scope(of: request, named: policy.scope, context, cookies: nil)
        let hashed = try await caching.hashedKeyFields(vary.fields(of: request.sentFields))
        let variant = "\(String(generation, radix: 16)) \(vary.names.joined(separator: ","))"
        return try CacheKey(
            url: url.withoutUserinfo, headers: Headers(hashed + (try request.routeKeyFields(trust))),
            scope: Self.scope("\(scope) \(variant)"))
    }

    func key(of url: String, in scope: String) throws(NetError) -> CacheKey {
        try CacheKey(
            url: url.withoutUserinfo, headers: Headers(try request.routeKeyFields(trust)), scope: Self.scope(scope))
    }

    /// Returns the scope with a prefix, which separates these keys from those of the app's rules.
    static func scope(_ scope: String) -> String { scope.isEmpty ? "http" : "http " + scope }
}

extension HTTPCachePolicy {
    /// The mode of a lookup. ``CachedCall`` decides whether the network is used first.
    fileprivate var lookupMode: HTTPCacheRules.Mode {
        ignoresStored ? .reload : mode == .cacheOnly ? .cacheOnly : .standard
    }

    fileprivate var failureMode: HTTPCacheRules.Mode { mode == .networkElseCache ? .networkFirst : .standard }

    /// The mode of storing. The mode of the core that uses the network first also stores responses without a lifetime
    /// and a validator, which some modes use at any age.
    fileprivate var storingMode: HTTPCacheRules.Mode {
        if isReadOnly {
            return .noStore
        }
        return [.networkElseCache, .nativeLoad, .cacheThenNetwork].contains(mode) ? .networkFirst : .standard
    }
}

extension Headers {
    // A response with too many names in Vary is not stored, so `nil` is no response for all users.
    fileprivate var variesByCookie: Bool { Vary(self)?.names.contains("cookie") ?? true }
}

extension HTTPCacheEvaluator {
    func isSuperseded(by status: Int) -> Bool { rules.isSuperseded(by: status) }

    /// Removes the response that the lookup found, and no other response for the same URL.
    func remove(_ lookup: CacheLookup) async throws(NetError) {
        guard let key = lookup.key, !policy.isReadOnly, lookup.stored != nil || policy.ignoresStored else { return }
        // After the removal, the request may match an older response that was stored with another Vary field.
        for _ in 0...VariantIndex.maximumChoices {
            guard case .success(let cachedResponse) = await found(key), isFor(lookup.owner, cachedResponse) else {
                return
            }
            try await caching.store(for: request).remove(cachedResponse.key)
            if cachedResponse.key == key {
                return
            }
        }
    }

    /// Invalidates the stored responses for a URL: those of this user and those for requests without credentials.
    func invalidate(_ url: String) async {
        for variant in variants + [self] {
            await variant.invalidateOwn(url)
        }
    }

    /// Evaluators for variants of the request. Their responses are stored under other keys, but are invalidated
    /// together with those of this request. The variants have the agent's trust policy, or treat content codings
    /// differently.
    private var variants: [HTTPCacheEvaluator] {
        var requests = [request]
        if request.trust != nil {
            // The variant with the agent's trust policy.
            requests.append(request)
            requests[1].trust = nil
        }
        for index in requests.indices {
            var request = requests[index]
            request.acceptsCodings.toggle()
            requests.append(request)
        }
        return requests.dropFirst().map {
            HTTPCacheEvaluator(policy: policy, request: $0, caching: caching, context: context, budget: budget)
        }
    }

    private func invalidateOwn(_ url: String) async {
        if let key = try? await key(of: url) {
            await invalidate(key)
        }
        for scope in [try? await caching.anonymousScope(in: request), ""].compactMap({ $0 }) {
            if let key = try? key(of: url, in: scope) {
                await invalidate(key)
            }
        }
    }

    /// Removes the response under a key. Responses that are in flight now will not be stored there.
    private func invalidate(_ key: CacheKey) async {
        caching.changes.add(key)
        _ = try? await caching.store(for: request).remove(key)
    }
}

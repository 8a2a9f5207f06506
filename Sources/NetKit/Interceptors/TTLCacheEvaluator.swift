#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Evaluates a request by the app's rules (``CachePolicy``).
final class TTLCacheEvaluator: CacheEvaluator {
    let policy: CachePolicy
    let call: Call
    let caching: Caching
    let context: CacheContext
    let trust: TrustSetting?

    init(policy: CachePolicy, call: Call, caching: Caching, context: CacheContext) {
        self.policy = policy
        self.call = call
        self.caching = caching
        self.context = context
        trust = context.trust(of: call.request)
    }

    var request: Request<Bytes> { call.request }
    var mode: CacheMode { policy.mode }
    var scope: String? { policy.scope }
    var writesAsynchronously: Bool { policy.writesAsynchronously }
    var maximumBodyBytes: Int { policy.maximumBodyBytes }

    private var criteria: CacheCriteria {
        CacheCriteria(
            maximumAge: policy.maximumAge.wholeMilliseconds, version: policy.version,
            appVersion: policy.appVersion ?? context.appVersion, revalidates: policy.revalidates)
    }

    // MARK: Lookup

    func lookup(at now: Int64) async -> CacheLookup {
        let moment = caching.changes.begin()
        let jar: (any CookieSnapshot)?
        do throws(NetError) {
            jar = policy.scope == nil ? try context.cookieSnapshot(for: request) : nil
        } catch {
            return CacheLookup(.fetch(.uncacheable))
        }
        var lookup = await find(at: now, jar)
        lookup.moment = moment
        lookup.trust = trust
        lookup.cookies = jar
        return lookup
    }

    private func find(at now: Int64, _ jar: (any CookieSnapshot)?) async -> CacheLookup {
        let criteria = criteria
        if criteria.maximumAge < 0 {
            return CacheLookup(.fetch(.invalidTime))
        }
        let hasNoCredentials = caching.hasNoCredentials(request, named: policy.scope, context)
        guard let key = hasNoCredentials ? try? await key(in: "") : try? await key(with: jar) else {
            return CacheLookup(.fetch(.uncacheable))
        }
        if policy.ignoresStored {
            return CacheLookup(.fetch(.ignored), key: key)
        }
        await caching.background.waitForWrites(of: key, within: call.budget)
        let found: CacheEntry?
        do throws(NetError) {
            found = try await caching.store(for: request).entry(for: key)
        } catch {
            return CacheLookup(CacheDecision(now: now, policy: criteria, entry: .unreadable), key: key)
        }
        guard let found else {
            return CacheLookup(CacheDecision(now: now, policy: criteria, entry: .nothing), key: key)
        }
        guard let cachedResponse = found.cachedResponse(under: key) else {
            return CacheLookup(CacheDecision(now: now, policy: criteria, entry: .unreadable), key: key)
        }
        guard await isOwn(cachedResponse, jar) else { return CacheLookup(.fetch(.otherIdentity), key: key) }
        return evaluated(cachedResponse, policy.sensitiveData == nil ? [] : await sensitiveHash(), criteria, now)
    }

    /// Returns true if the cookies for the hosts of the stored response's redirects are the same as when it was stored.
    /// The key covers only the cookies for the request's own host.
    private func isOwn(_ cachedResponse: CachedResponse, _ jar: (any CookieSnapshot)?) async -> Bool {
        let head = cachedResponse.storedResponse.head
        if head.hosts.isEmpty || policy.scope != nil {
            return true
        }
        return (try? await caching.owner(of: jar, at: head.hosts)) == head.owner
    }

    private func evaluated(
        _ cachedResponse: CachedResponse, _ sensitive: [UInt8]?, _ criteria: CacheCriteria, _ now: Int64
    ) -> CacheLookup {
        let head = cachedResponse.storedResponse.head
        var facts = StoredResponseFacts(
            received: head.received, version: head.version, appVersion: head.appVersion,
            hasSameSensitiveData: sensitive == head.sensitive, hasValidator: head.hasValidator)
        // The body is checked last, and only if the response would be used.
        if CacheDecision.mismatch(criteria, facts) == nil {
            facts.hasValidData = cachedResponse.isExpected(by: request)
        }
        var lookup = CacheLookup(
            CacheDecision(now: now, policy: criteria, entry: .storedResponse(facts)), key: cachedResponse.key)
        lookup.stored = cachedResponse
        lookup.isOwn = CacheDecision.mismatch(criteria, facts) == nil
        lookup.age = now >= facts.received ? now - facts.received : nil
        lookup.lifetime = criteria.maximumAge
        return allowingStale(lookup)
    }

    /// Allows a stale response if the mode is `staleWhileRevalidate` and the response is stale for less than its
    /// window.
    private func allowingStale(_ lookup: CacheLookup) -> CacheLookup {
        guard case .staleWhileRevalidate(let window) = policy.mode, !lookup.decision.isUse, isWithin(window, lookup)
        else {
            return lookup
        }
        var lookup = lookup
        lookup.decision = .use(.staleWhileRevalidate)
        return lookup
    }

    private func isWithin(_ window: Duration, _ lookup: CacheLookup) -> Bool {
        guard lookup.isOwn, let age = lookup.age, let lifetime = lookup.lifetime else { return false }
        return age - lifetime <= max(0, window.wholeMilliseconds)
    }

    func replacement(_ lookup: CacheLookup, after status: Int?, at now: Int64) -> CacheLookup? {
        let mayReplace =
            switch policy.mode {
            case .networkElseCache: status == nil && lookup.isOwn
            case .staleIfError(let window): HTTPCacheRules.isFailure(status) && isWithin(window, lookup)
            default: false
            }
        return mayReplace ? lookup.using(.staleIfError) : nil
    }

    // MARK: Storing

    func storable(for response: Response<Bytes>, sent: Int64, received: Int64) -> StoredResponse? {
        // The Location of a redirect that is returned may contain a secret, such as the code of a login.
        guard !policy.isReadOnly, policy.maximumAge > .zero, !response.isPart, !(300..<400).contains(response.status),
            let hosts = request.hosts(ofRedirectsIn: response.metrics),
            request.acceptedStatuses.restricted.contains(response.status),
            (try? request.checkHead(response, types: nil)) != nil, !response.isCloseDelimited
        else { return nil }
        if case .acceptedWhere(let isStorable) = policy.storing, !isStorable(response) {
            return nil
        }
        var head = StoredResponse.Head()
        head.status = response.status
        head.httpVersion = response.httpVersion
        head.url = response.url
        head.hosts = hosts
        head.received = received
        head.version = policy.version
        head.appVersion = policy.appVersion ?? context.appVersion
        let fields = response.headers.storable
        head.hasValidator = request.canBeConditional && fields.hasValidator
        return StoredResponse(head, headers: Self.withoutSessions(fields))
    }

    /// Removes Set-Cookie fields. They may contain sessions, which must not be written to disk; the jar has them
    /// already.
    private static func withoutSessions(_ fields: Headers) -> Headers {
        Headers(fields.filter { !["set-cookie", "set-cookie2"].contains($0.name.lowercased()) })
    }

    func freshened(_ stored: StoredResponse, by headers: Headers, sent: Int64, received: Int64) -> StoredResponse {
        var head = stored.head
        head.received = received
        return StoredResponse(head, headers: Self.withoutSessions(stored.merged(with: headers)))
    }

    func put(_ storable: StoredResponse, _ body: Bytes, after lookup: CacheLookup) async throws(NetError) {
        guard let key = lookup.key, !policy.isReadOnly, policy.maximumAge > .zero,
            context.isUnchanged(since: lookup, for: request)
        else { return }
        if policy.scope == nil {
            // Throws if a file with credentials has changed, because the response may belong to another user.
            _ = try await context.hiddenCredentials(of: request)
        }
        guard let sensitive = await sensitiveHash(), try await isUnchanged(lookup, on: storable.head.hosts) else {
            return
        }
        var head = storable.head
        head.sensitive = sensitive
        head.owner = try await caching.owner(of: lookup.cookies, at: head.hosts)
        let metadata = StoredMetadata.storedResponse(StoredResponse(head, headers: storable.headers)).bytes
        let entry = CacheEntry(
            body: body, metadata: metadata, host: request.url.hostName, tags: policy.tags,
            created: Date(timeIntervalSince1970: Double(head.received) / 1000))
        try? await caching.secret.keep()
        let store = caching.store(for: request)
        try await caching.put(entry, for: key, under: key, requestedAt: lookup.moment, in: store)
    }

    /// Returns true if the jar still has the same cookies as at the lookup. If another user has logged in between the
    /// lookup and the request, the response belongs to that user.
    private func isUnchanged(_ lookup: CacheLookup, on hosts: [String]) async throws(NetError) -> Bool {
        guard let before = lookup.cookies else { return true }
        guard let now = try context.cookieSnapshot(for: request) else { return false }
        guard try request.cookies(from: now) == request.cookies(from: before) else { return false }
        return try now.shown(to: Set(hosts)) == before.shown(to: Set(hosts))
    }

    func response(of cachedResponse: CachedResponse, at now: @autoclosure () -> Int64) -> Response<Bytes> {
        let requestedURL = request.url
        guard cachedResponse.response.url != requestedURL, !requestedURL.hasSameOrigin(as: cachedResponse.response.url)
        else {
            return cachedResponse.response
        }
        // After a redirect to another origin, the metrics contain both URLs. A caller that trusts only the requested
        // origin must be able to detect the redirect.
        var response = cachedResponse.response
        var hop = HopMetrics()
        hop.url = requestedURL.withoutUserinfo
        response.metrics = Metrics([hop] + Array(response.metrics))
        return response
    }

    /// Removes the stored response. Returns false if there was none.
    func remove() async throws(NetError) -> Bool {
        let jar = policy.scope == nil ? try context.cookieSnapshot(for: request) : nil
        return try await caching.store(for: request).remove(try await key(with: jar))
    }

    // MARK: Keys

    private func key(with jar: (any CookieSnapshot)?) async throws(NetError) -> CacheKey {
        let cookies = policy.scope == nil ? try request.cookies(from: jar) : []
        return try await key(
            in: try await caching.scope(of: request, named: policy.scope, context, cookies: cookies))
    }

    private func key(in scope: String) async throws(NetError) -> CacheKey {
        let fields = try await caching.hashedKeyFields(request.sentFields.only(policy.keyFields))
        let keyRequest = try call.requestForKey()
        return try CacheKey(
            method: request.method, url: keyRequest.value.url.withoutUserinfo,
            headers: Headers(fields + (try request.routeKeyFields(trust)) + request.redirectFields),
            body: keyRequest.value.body?.wholeBytes, scope: scope)
    }

    /// Returns a hash of the policy's sensitive data. Empty if there is none; `nil` if it cannot be hashed.
    private func sensitiveHash() async -> [UInt8]? {
        guard let data = policy.sensitiveData else { return [] }
        return try? await caching.secret.hash(["sensitive", data])
    }
}

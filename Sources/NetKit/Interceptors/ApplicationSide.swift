#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Evaluates a request by the app's cache policy.
final class ApplicationSide: CacheSide {
    let policy: CachePolicy
    let call: Call
    let caching: Caching
    let context: CacheContext
    let trust: StandingTrust?

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

    func look(at now: Int64) async -> CacheLook {
        let begun = caching.changes.begin()
        let jar: (any JarCookies)?
        do throws(NetError) {
            jar = policy.scope == nil ? try context.jarCookies(for: request) : nil
        } catch {
            return CacheLook(.fetch(.uncacheable))
        }
        var look = await found(at: now, jar)
        look.begun = begun
        look.trust = trust
        look.cookies = jar
        return look
    }

    private func found(at now: Int64, _ jar: (any JarCookies)?) async -> CacheLook {
        let criteria = criteria
        if criteria.maximumAge < 0 {
            return CacheLook(.fetch(.invalidTime))
        }
        let isAnybodys = caching.isAnybodys(request, named: policy.scope, context)
        guard let key = isAnybodys ? try? await key(in: "") : try? await key(with: jar) else {
            return CacheLook(.fetch(.uncacheable))
        }
        if policy.ignoresStored {
            return CacheLook(.fetch(.ignored), key: key)
        }
        await caching.background.waitForWrites(of: key, within: call.budget)
        let found: CacheEntry?
        do throws(NetError) {
            found = try await caching.store(for: request).entry(for: key)
        } catch {
            return CacheLook(CacheDecision(now: now, policy: criteria, entry: .unreadable), key: key)
        }
        guard let found else {
            return CacheLook(CacheDecision(now: now, policy: criteria, entry: .nothing), key: key)
        }
        guard let piece = found.piece(under: key) else {
            return CacheLook(CacheDecision(now: now, policy: criteria, entry: .unreadable), key: key)
        }
        guard await isOwn(piece, jar) else { return CacheLook(.fetch(.otherIdentity), key: key) }
        return judged(piece, policy.sensitiveData == nil ? [] : await sensitiveHash(), criteria, now)
    }

    /// Returns true if the cookies for each host of the redirects are those that the response was stored with. The key
    /// covers only the request's own host.
    private func isOwn(_ piece: StoredPiece, _ jar: (any JarCookies)?) async -> Bool {
        let head = piece.answer.head
        if head.hosts.isEmpty || policy.scope != nil {
            return true
        }
        return (try? await caching.owner(of: jar, at: head.hosts)) == head.owner
    }

    private func judged(
        _ piece: StoredPiece, _ sensitive: [UInt8]?, _ criteria: CacheCriteria, _ now: Int64
    ) -> CacheLook {
        let head = piece.answer.head
        var facts = CacheFacts(
            received: head.received, version: head.version, appVersion: head.appVersion,
            hasSameSensitiveData: sensitive == head.sensitive, hasValidator: head.hasValidator)
        // The last check: a response that would not be used anyway need not be compared with the expectation.
        if CacheDecision.mismatch(criteria, facts) == nil {
            facts.hasValidData = piece.isExpected(by: request)
        }
        var look = CacheLook(CacheDecision(now: now, policy: criteria, entry: .answer(facts)), key: piece.key)
        look.stored = piece
        look.isOwn = CacheDecision.mismatch(criteria, facts) == nil
        look.age = now >= facts.received ? now - facts.received : nil
        look.lifetime = criteria.maximumAge
        return allowingStale(look)
    }

    /// Allows a stale response while a new one is fetched.
    private func allowingStale(_ look: CacheLook) -> CacheLook {
        guard case .staleWhileRevalidate(let window) = policy.mode, !look.decision.isUse, isWithin(window, look) else {
            return look
        }
        var look = look
        look.decision = .use(.staleWhileRevalidate)
        return look
    }

    private func isWithin(_ window: Duration, _ look: CacheLook) -> Bool {
        guard look.isOwn, let age = look.age, let lifetime = look.lifetime else { return false }
        return age - lifetime <= max(0, window.wholeMilliseconds)
    }

    func mayStandIn(_ look: CacheLook, at now: Int64) -> Bool {
        switch policy.mode {
        case .networkElseCache: look.isOwn
        case .staleIfError(let window): isWithin(window, look)
        default: false
        }
    }

    // MARK: Storing

    func answer(for response: Response<Bytes>, asked: Int64, received: Int64) -> StoredAnswer? {
        guard !policy.isReadOnly, policy.maximumAge > .zero, !response.isPart, response.status != 304,
            let hosts = request.hosts(onTheWayTo: response.metrics),
            request.acceptedStatuses?.contains(response.status) ?? (200..<300).contains(response.status),
            (try? request.checkHead(response, types: nil)) != nil, !response.isCloseDelimited
        else { return nil }
        if case .acceptedWhere(let isWanted) = policy.storing, !isWanted(response) {
            return nil
        }
        var head = StoredAnswer.Head()
        head.status = response.status
        head.httpVersion = response.httpVersion
        head.url = response.url
        head.hosts = hosts
        head.received = received
        head.version = policy.version
        head.appVersion = policy.appVersion ?? context.appVersion
        head.hasValidator =
            request.canBeConditional
            && (response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil)
        return StoredAnswer(head, headers: Self.withoutSessions(HTTPStorage.storedFields(response.headers)))
    }

    /// Removes Set-Cookie fields: sessions must not be written to disk, and the jar has them already.
    private static func withoutSessions(_ fields: Headers) -> Headers {
        Headers(fields.filter { !["set-cookie", "set-cookie2"].contains($0.name.lowercased()) })
    }

    func freshened(_ stored: StoredAnswer, by headers: Headers, asked: Int64, received: Int64) -> StoredAnswer {
        var head = stored.head
        head.received = received
        return StoredAnswer(head, headers: Self.withoutSessions(HTTPStorage.freshened(stored.headers, by: headers)))
    }

    func put(_ answer: StoredAnswer, _ body: Bytes, after look: CacheLook) async throws(NetError) {
        guard let key = look.key, !policy.isReadOnly, policy.maximumAge > .zero,
            context.isUnchanged(since: look, for: request)
        else { return }
        if policy.scope == nil {
            // Throws if a file with credentials has changed.
            _ = try await context.unseenCredentials(of: request)
        }
        guard let sensitive = await sensitiveHash(), try await isUnchanged(look, on: answer.head.hosts) else { return }
        var head = answer.head
        head.sensitive = sensitive
        head.owner = try await caching.owner(of: look.cookies, at: head.hosts)
        let metadata = StoredMetadata.answer(StoredAnswer(head, headers: answer.headers)).bytes
        let entry = CacheEntry(
            body: body, metadata: metadata, host: request.url.hostName, tags: policy.tags,
            created: Date(timeIntervalSince1970: Double(head.received) / 1000))
        try? await caching.secret.keep()
        let store = caching.store(for: request)
        try await caching.put(entry, for: key, under: key, askedAt: look.begun, in: store)
    }

    /// Returns true if the jar still has the cookies of the lookup's key and owner. Another user may have logged in
    /// before the request was sent, and then the response is that user's.
    private func isUnchanged(_ look: CacheLook, on hosts: [String]) async throws(NetError) -> Bool {
        guard let before = look.cookies else { return true }
        guard let now = try context.jarCookies(for: request) else { return false }
        guard try request.cookies(from: now) == request.cookies(from: before) else { return false }
        return try now.shown(to: Set(hosts)) == before.shown(to: Set(hosts))
    }

    func response(of piece: StoredPiece, at now: @autoclosure () -> Int64) -> Response<Bytes> {
        let asked = request.url
        guard piece.response.url != asked, !asked.hasSameOrigin(as: piece.response.url) else { return piece.response }
        // A redirect has led to another origin: a caller that trusts the requested one must see both.
        var response = piece.response
        var hop = HopMetrics()
        hop.url = asked.withoutUserinfo
        response.metrics = Metrics([hop] + Array(response.metrics))
        return response
    }

    /// Removes the stored response. Returns false if there was none.
    func remove() async throws(NetError) -> Bool {
        let jar = policy.scope == nil ? try context.jarCookies(for: request) : nil
        return try await caching.store(for: request).remove(try await key(with: jar))
    }

    // MARK: Keys

    private func key(with jar: (any JarCookies)?) async throws(NetError) -> CacheKey {
        let cookies = policy.scope == nil ? try request.cookies(from: jar) : []
        return try await key(
            in: try await caching.scope(of: request, named: policy.scope, context, cookies: cookies))
    }

    private func key(in scope: String) async throws(NetError) -> CacheKey {
        let fields = try await caching.chosen(request.sentFields.only(policy.keyFields))
        let counted = try call.counted()
        return try CacheKey(
            method: request.method, url: counted.value.url.withoutUserinfo,
            headers: Headers(fields + (try request.cachedWayFields(trust)) + request.redirectFields),
            body: counted.value.body?.wholeBytes, scope: scope)
    }

    /// Empty without sensitive data; `nil` if it cannot be hashed.
    private func sensitiveHash() async -> [UInt8]? {
        guard let data = policy.sensitiveData else { return [] }
        return try? await caching.secret.hash(["sensitive", data])
    }
}

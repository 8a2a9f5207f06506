#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Evaluates a request by the server's caching rules.
///
/// A response with alternatives (Vary) is stored under its own key. An index under the URL's key refers to it; without
/// the index it cannot be found.
final class HTTPSide: CacheSide {
    let policy: HTTPCachePolicy
    let request: Request<Bytes>
    let caching: Caching
    let context: CacheContext
    let trust: StandingTrust?
    let budget: TimeBudget

    init(
        policy: HTTPCachePolicy, request: Request<Bytes>, caching: Caching, context: CacheContext, budget: TimeBudget
    ) {
        self.budget = budget
        self.policy = policy
        self.request = request
        self.caching = caching
        self.context = context
        trust = context.trust(of: request)
    }

    var mode: CacheMode { policy.mode }
    var scope: String? { policy.scope }
    var writesAsynchronously: Bool { policy.writesAsynchronously }
    var maximumBodyBytes: Int { policy.maximumBodyBytes }
    var control: CacheControl { CacheControl(request.headers) }
    /// Whether it may invalidate stored responses: then it uses the cache with any body and for any destination.
    var isChanging: Bool { !request.method.isSafe }

    /// Pragma counts only without Cache-Control (RFC 9111, 5.4).
    private var hasPragma: Bool {
        request.headers["Cache-Control"] == nil
            && request.headers.values(named: "Pragma").contains {
                FieldList.members(of: $0.lowercased()).contains("no-cache")
            }
    }

    private var staleFor: Int64? {
        if case .staleWhileRevalidate(let window) = policy.mode { window.wholeMilliseconds } else { nil }
    }

    // MARK: Lookup

    func look(at now: Int64) async -> CacheLook {
        let begun = caching.changes.begin()
        guard let key = try? await key(of: request.url),
            let owner = policy.scope == nil ? try? await caching.owner(of: request, context) : []
        else { return CacheLook(.fetch(.uncacheable)) }
        var look = CacheLook(.fetch(.ignored), key: key)
        look.begun = begun
        look.owner = owner
        look.trust = trust
        let control = control
        if control.hasNoStore {
            look.decision = .fetch(.uncacheable)
        } else if !policy.ignoresStored {
            // A change does not need pending writes, and they are obsolete after it.
            if !isChanging {
                await caching.background.waitForWrites(of: key, within: budget)
            }
            switch await found(key) {
            case .success(let piece): judge(piece, control, now, &look)
            case .failure(let miss): look.decision = .fetch(miss.reason)
            }
        }
        return look
    }

    struct Miss: Error {
        let reason: CacheReason
    }

    /// Returns the response that this request's fields select.
    func found(_ key: CacheKey) async -> Result<StoredPiece, Miss> {
        let store = caching.store(for: request)
        do throws(NetError) {
            guard let entry = try await store.entry(for: key) else { return .failure(Miss(reason: .absent)) }
            if let piece = entry.piece(under: key) {
                return .success(piece)
            }
            guard case .index(let index)? = StoredMetadata(entry.metadata) else {
                return .failure(Miss(reason: .invalidMetadata))
            }
            for choice in index.choices {
                let variant = try await self.key(of: request.url, choice, index.generation)
                if let piece = try await store.entry(for: variant)?.piece(under: variant) {
                    return .success(piece)
                }
            }
            return .failure(Miss(reason: .varies))
        } catch {
            return .failure(Miss(reason: .invalidMetadata))
        }
    }

    private func judge(_ piece: StoredPiece, _ control: CacheControl, _ now: Int64, _ look: inout CacheLook) {
        let head = piece.answer.head
        look.stored = piece
        look.age = head.freshness.age(at: now)
        look.lifetime = head.freshness.lifetime
        guard isFor(look.owner, piece) else {
            look.decision = .fetch(head.owner.isEmpty ? .varies : .otherIdentity)
            return
        }
        if head.isRedirect(with: piece.answer.headers), request.redirects != .return {
            look.decision = .fetch(.invalidData)
            return
        }
        look.isOwn = true
        look.decision = CacheDecision(
            now: now, request: control, pragma: hasPragma, entry: head.freshness, hasValidator: head.hasValidator,
            staleFor: staleFor)
        if policy.mode == .cacheOnly, look.decision.reason == .stale, mayBeStale(head.freshness, now) {
            look.decision = .use(.staleAllowed)
        }
        if look.decision.isUse, request.method == .get, request.expectation != nil, !piece.isExpected(by: request) {
            look.decision = .fetch(.invalidData)
            look.isOwn = false
        }
    }

    /// Returns true if a response belongs to these cookies. A response to a request without cookies is shared, unless
    /// cookies select it: a jar's cookies are not among the selecting fields.
    func isFor(_ owner: [UInt8], _ piece: StoredPiece) -> Bool {
        let others = piece.answer.head.owner
        return others == owner || (others.isEmpty && !piece.answer.headers.isChosenByCookies)
    }

    /// Returns true if a stale response may be used without a network, unless it forbids that (RFC 9111, 4.2.4).
    private func mayBeStale(_ freshness: HTTPFreshness, _ now: Int64) -> Bool {
        freshness.age(at: now) != nil && freshness.flags.isDisjoint(with: [.noCache, .mustRevalidate])
    }

    func mayStandIn(_ look: CacheLook, at now: Int64) -> Bool {
        guard look.isOwn, let piece = look.stored else { return false }
        if policy.mode == .networkElseCache {
            return true
        }
        var window: Int64?
        if case .staleIfError(let duration) = policy.mode {
            window = duration.wholeMilliseconds
        }
        return CacheDecision.mayStandIn(
            now: now, request: control, entry: piece.answer.head.freshness, staleFor: window)
    }

    // MARK: Storing

    func answer(for response: Response<Bytes>, asked: Int64, received: Int64) -> StoredAnswer? {
        let freshness = HTTPFreshness(
            response.status, response.headers, asked: asked, received: received, policy: policy)
        // A response after a redirect belongs to another URL.
        guard !policy.isReadOnly, response.metrics.count < 2, !response.isCloseDelimited,
            HTTPStorage.isStorable(
                response.status, response.headers, of: request.method, url: request.url, request: control,
                freshness: freshness, keepsAll: keepsAll)
        else { return nil }
        var head = StoredAnswer.Head()
        head.status = response.status
        head.httpVersion = response.httpVersion
        head.url = response.url
        head.received = received
        head.freshness = freshness
        head.hasValidator = response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil
        return StoredAnswer(head, headers: HTTPStorage.storedFields(response.headers.dated(received)))
    }

    /// Whether responses without freshness information are stored too, because the mode accepts any response.
    private var keepsAll: Bool {
        switch policy.mode {
        case .networkElseCache, .nativeLoad, .cacheThenNetwork: true
        default: false
        }
    }

    func freshened(_ stored: StoredAnswer, by headers: Headers, asked: Int64, received: Int64) -> StoredAnswer {
        let fields = HTTPStorage.freshened(stored.headers, by: headers.dated(received))
        // Only the new head determines Age; it is not stored with the fields.
        var told = fields
        if let age = headers["Age"] {
            told.append(name: "Age", value: age)
        }
        var head = stored.head
        head.received = received
        head.freshness = HTTPFreshness(head.status, told, asked: asked, received: received, policy: policy)
        head.hasValidator = fields["ETag"] != nil || fields["Last-Modified"] != nil
        return StoredAnswer(head, headers: fields)
    }

    func isStorable(_ freshened: StoredAnswer) -> Bool {
        HTTPStorage.isStorable(
            freshened.head.status, freshened.headers, of: .get, url: request.url, request: control,
            freshness: freshened.head.freshness, keepsAll: keepsAll)
    }

    func put(_ answer: StoredAnswer, _ body: Bytes, after look: CacheLook) async throws(NetError) {
        guard let key = look.key, !policy.isReadOnly, context.isUnchanged(since: look, for: request),
            caching.changes.isUnchanged(key, since: look.begun)
        else { return }
        if policy.scope == nil {
            // Throws if a file with credentials has changed.
            _ = try await context.unseenCredentials(of: request)
        }
        let store = caching.store(for: request)
        let place = try await place(of: answer, under: key, in: store)
        var head = answer.head
        head.owner = look.owner
        let stored = StoredMetadata.answer(StoredAnswer(head, headers: answer.headers))
        try? await caching.secret.keep()
        let entry = entry(stored, body, head.received)
        try await caching.put(entry, for: place, under: key, askedAt: look.begun, in: store)
    }

    /// Returns the URL's own key, or the key that an index there refers to.
    private func place(
        of answer: StoredAnswer, under key: CacheKey, in store: any CacheStore
    ) async throws(NetError) -> CacheKey {
        let vary = Vary(answer.headers)
        if vary.names.isEmpty {
            return key
        }
        var random = SystemRandomNumberGenerator()
        var index = VariantIndex(generation: random.next())
        if let entry = try await store.entry(for: key), case .index(let known)? = StoredMetadata(entry.metadata) {
            index = known
        }
        if index.add(vary) {
            try await store.put(entry(.index(index), [], answer.head.received), for: key)
        }
        return try await self.key(of: request.url, vary, index.generation)
    }

    private func entry(_ metadata: StoredMetadata, _ body: Bytes, _ received: Int64) -> CacheEntry {
        CacheEntry(
            body: body, metadata: metadata.bytes, host: request.url.hostName, tags: policy.tags,
            created: Date(timeIntervalSince1970: Double(received) / 1000))
    }

    /// Returns the response with its current Age (RFC 9111, 4).
    func response(of piece: StoredPiece, at now: @autoclosure () -> Int64) -> Response<Bytes> {
        var response = piece.response
        let age = piece.answer.head.freshness.age(at: now()) ?? 0
        response.headers.append(name: "Age", value: String(age / 1000))
        return response
    }

    // MARK: Keys

    /// Returns the key of a URL's response, or of the index of its responses.
    func key(of url: String) async throws(NetError) -> CacheKey {
        let scope = try await caching.scope(of: request, named: policy.scope, context, cookies: nil)
        return try key(of: url, in: scope)
    }

    /// The names are part of the key: a response selected by an absent field differs from one not selected by it.
    private func key(of url: String, _ vary: Vary, _ generation: UInt64) async throws(NetError) -> CacheKey {
        let scope = try await caching.scope(of: request, named: policy.scope, context, cookies: nil)
        let chosen = try await caching.chosen(vary.fields(of: request.sentFields))
        let variant = "\(String(generation, radix: 16)) \(vary.names.joined(separator: ","))"
        return try CacheKey(
            url: url.withoutUserinfo, headers: Headers(chosen + (try request.cachedWayFields(trust))),
            scope: Self.scope("\(scope) \(variant)"))
    }

    func key(of url: String, in scope: String) throws(NetError) -> CacheKey {
        try CacheKey(
            url: url.withoutUserinfo, headers: Headers(try request.cachedWayFields(trust)), scope: Self.scope(scope))
    }

    /// Separate from the responses of an app's policy.
    static func scope(_ scope: String) -> String { scope.isEmpty ? "http" : "http " + scope }
}

extension StoredAnswer.Head {
    /// Returns true if a caller that follows redirects gets another response instead.
    fileprivate func isRedirect(with headers: Headers) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && headers["Location"]?.isEmpty == false
    }
}

extension Headers {
    /// Returns the fields, with the time of arrival as Date if they have none (RFC 9110, 6.6.1).
    fileprivate func dated(_ received: Int64) -> Headers {
        guard self["Date"] == nil else { return self }
        var dated = self
        dated.append(name: "Date", value: HTTPDate.text(ofEpochSeconds: received / 1000))
        return dated
    }

    fileprivate var isChosenByCookies: Bool { Vary(self).names.contains("cookie") }
}

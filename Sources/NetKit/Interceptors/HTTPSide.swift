#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request by what its server says of caching.
///
/// A response that others may be chosen beside (Vary) stands under a key of its own, which an index under the URL's key
/// leads to; without the index it is out of reach.
final class HTTPSide: CacheSide {
    let policy: HTTPCachePolicy
    let request: Request<Bytes>
    let caching: Caching
    let context: CacheContext
    let trust: StandingTrust?

    init(policy: HTTPCachePolicy, request: Request<Bytes>, caching: Caching, context: CacheContext) {
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
    /// Whether it may make what is stored of no use: then it does not pass by, whatever it sends and wherever to.
    var isChanging: Bool { !request.method.isSafe }

    /// Counts only where Cache-Control says nothing (RFC 9111, 5.4).
    private var hasPragma: Bool {
        request.headers["Cache-Control"] == nil
            && request.headers.values(named: "Pragma").contains {
                FieldList.members(of: $0.lowercased()).contains("no-cache")
            }
    }

    private var staleFor: Int64? {
        if case .staleWhileRevalidate(let window) = policy.mode { window.wholeMilliseconds } else { nil }
    }

    // MARK: What is stored

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
            // A change does not need what is written, and what is written is of no use after it.
            if !isChanging {
                await caching.background.waitForWrites(of: key)
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

    /// The response that this request's fields choose.
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

    /// Whether a response is for those who show these cookies. What came to a request without any is nobody's in
    /// particular, unless cookies choose it: those of a jar are not among the fields that do.
    func isFor(_ owner: [UInt8], _ piece: StoredPiece) -> Bool {
        let others = piece.answer.head.owner
        return others == owner || (others.isEmpty && !piece.answer.headers.isChosenByCookies)
    }

    /// Without a network a stale response may be used, unless it forbids that (RFC 9111, 4.2.4).
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

    // MARK: What is to be stored

    func answer(for response: Response<Bytes>, asked: Int64, received: Int64) -> StoredAnswer? {
        let freshness = HTTPFreshness(
            response.status, response.headers, asked: asked, received: received, policy: policy)
        // What came by way of a redirect is another URL's answer.
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

    /// Where any answer will do, those of which nothing is said are kept as well.
    private var keepsAll: Bool {
        switch policy.mode {
        case .networkElseCache, .nativeLoad, .cacheThenNetwork: true
        default: false
        }
    }

    func freshened(_ stored: StoredAnswer, by headers: Headers, asked: Int64, received: Int64) -> StoredAnswer {
        let fields = HTTPStorage.freshened(stored.headers, by: headers.dated(received))
        // Age is told by the new head alone, and not kept among the fields.
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
            // Throws where a file that tells who asks is another one by now.
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

    /// The URL's own key, or the one that an index there leads to.
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

    /// With its age as it is now (RFC 9111, 4).
    func response(of piece: StoredPiece, at now: @autoclosure () -> Int64) -> Response<Bytes> {
        var response = piece.response
        let age = piece.answer.head.freshness.age(at: now()) ?? 0
        response.headers.append(name: "Age", value: String(age / 1000))
        return response
    }

    // MARK: Keys

    /// Where a URL's response is, or the index of its responses.
    func key(of url: String) async throws(NetError) -> CacheKey {
        let scope = try await caching.scope(of: request, named: policy.scope, context, cookies: nil)
        return try key(of: url, in: scope)
    }

    /// The names are part of it: what lacks a field that chose is another response than what was not chosen by it.
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

    /// Apart from what an app's policy stores.
    static func scope(_ scope: String) -> String { scope.isEmpty ? "http" : "http " + scope }
}

extension StoredAnswer.Head {
    /// Whether whoever has redirects followed gets another answer in its place.
    fileprivate func isRedirect(with headers: Headers) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && headers["Location"]?.isEmpty == false
    }
}

extension Headers {
    /// With the time at which they came for a Date where they tell none (RFC 9110, 6.6.1).
    fileprivate func dated(_ received: Int64) -> Headers {
        guard self["Date"] == nil else { return self }
        var dated = self
        dated.append(name: "Date", value: HTTPDate.text(ofEpochSeconds: received / 1000))
        return dated
    }

    fileprivate var isChosenByCookies: Bool { Vary(self).names.contains("cookie") }
}

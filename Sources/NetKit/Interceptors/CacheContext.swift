/// The result of a cache lookup, and the decision about it.
struct CacheLookup: Sendable {
    var decision: CacheDecision
    /// The key of the response to this request. If `nil`, the key is unknown, and no response is stored.
    var key: CacheKey?
    /// The moment of ``ChangedKeys`` before the lookup.
    var moment: UInt64 = 0
    /// The agent's trust policy at the time of the lookup.
    var trust: TrustSetting?
    /// A hash of the response's owner, if the key does not contain it; empty for a shared response.
    var owner: [UInt8] = []
    /// The cookie jar at the time of the lookup, if cookies distinguish users.
    var cookies: (any CookieSnapshot)?
    /// The stored response, even if it is for another version of the app or its data.
    var stored: CachedResponse?
    /// The part of the stored response that the request gets, if it is used.
    var form = HTTPCacheDecision.Form.whole
    /// Whether everything except the age of the stored response matches. Then it may be used after a failure, or as the
    /// last known response.
    var isOwn = false
    /// The age of the stored response in milliseconds. `nil` if nothing is stored, or if the clock was set back.
    var age: Int64?
    /// The freshness lifetime of the stored response in milliseconds.
    var lifetime: Int64?

    init(_ decision: CacheDecision, key: CacheKey? = nil) {
        self.decision = decision
        self.key = key
    }

    /// Returns the report for the caller.
    func report(_ outcome: CacheReport.Outcome, _ decision: CacheDecision? = nil) -> CacheReport {
        CacheReport(
            decision: decision ?? self.decision, outcome: outcome, age: age.map { .milliseconds($0) },
            lifetime: lifetime.map { .milliseconds($0) })
    }
}

/// Evaluates one request by one set of cache rules. It decides whether a stored response is used, and whether a new
/// response is stored.
protocol CacheEvaluator: Sendable {
    /// The request with the credentials that interceptors behind the cache add.
    var request: Request<Bytes> { get }
    var mode: CacheMode { get }
    /// The owner of the responses, if the policy names one.
    var scope: String? { get }
    var writesAsynchronously: Bool { get }
    var maximumBodyBytes: Int { get }

    /// Looks for a stored response and decides whether to use it.
    func lookup(at now: Int64) async -> CacheLookup
    /// Returns the lookup with the decision to use the stored response because the network or the server has failed.
    /// Returns `nil` if the failure is the result of the call.
    ///
    /// - Parameter status: the status of the server; `nil` if the network failed.
    func replacement(_ lookup: CacheLookup, after status: Int?, at now: Int64) -> CacheLookup?
    /// Returns the entry to store for a response, or `nil` if the response must not be stored.
    func storable(for response: Response<Bytes>, sent: Int64, received: Int64) -> StoredResponse?
    /// Returns the stored response with the updated fields of the server's 304 response.
    func freshened(_ stored: StoredResponse, by headers: Headers, sent: Int64, received: Int64) -> StoredResponse
    /// Returns true if the updated response may still be stored.
    func isStorable(_ freshened: StoredResponse) -> Bool
    /// Returns true if a new response that is not stored makes the stored one obsolete.
    func isSuperseded(by status: Int) -> Bool
    /// Stores a response where ``look(at:)`` finds it.
    func put(_ response: StoredResponse, _ body: Bytes, after lookup: CacheLookup) async throws(NetError)
    /// Removes the stored response that the lookup found.
    func remove(_ lookup: CacheLookup) async throws(NetError)
    /// Returns the stored response for the caller.
    func response(of cachedResponse: CachedResponse, at now: @autoclosure () -> Int64) -> Response<Bytes>
}

extension CacheEvaluator {
    // The defaults are for the app's rules, by which a response that is not stored never makes a stored one obsolete.

    func isStorable(_ freshened: StoredResponse) -> Bool { true }

    func isSuperseded(by status: Int) -> Bool { false }

    func remove(_ lookup: CacheLookup) async throws(NetError) {}

    /// Replaces the stored response by the updated one. If the updated one must not be stored, removes the old one.
    func replace(_ cachedResponse: CachedResponse, by fresh: StoredResponse, after lookup: CacheLookup)
        async throws(NetError)
    {
        if isStorable(fresh) {
            try await put(fresh, cachedResponse.body, after: lookup)
        } else {
            try await remove(lookup)
        }
    }
}

/// The agent's settings and state that a cache needs.
final class CacheContext: Sendable {
    /// ``Agent/Configuration/appVersion``.
    let appVersion: String
    /// The agent's cookies; `nil` without a jar.
    let jar: (any TransferControl)?
    /// The netrc file of the agent.
    let netrc: NetrcSource
    /// The digest of each credential file when it was first read; empty if the file has changed since.
    let seen = Lock<[[UInt8]: String]>([:])
    private let currentTrust: Lock<ChangingTrust>
    /// The policy that the previous request set. Consecutive requests often have the same policy, and digesting a large
    /// policy is slow.
    private let lastRequestTrust = Lock<TrustSetting?>(nil)

    init(
        appVersion: String = "", jar: (any TransferControl)? = nil, trust: TrustPolicy = TrustPolicy(),
        netrc: NetrcSource = .off
    ) {
        self.appVersion = appVersion
        self.jar = jar
        self.netrc = netrc
        currentTrust = Lock(ChangingTrust(trust: TrustSetting(trust)))
    }
}

/// A trust policy that was set at one time. If an equal policy is set again, it is another object, so that an identity
/// comparison shows whether the policy was changed.
final class TrustSetting: Sendable {
    let policy: TrustPolicy
    private let cached = Lock<Result<String?, NetError>?>(nil)

    init(_ policy: TrustPolicy) {
        self.policy = policy
    }

    /// The mark of the policy in cache keys; `nil` for the default policy. It is computed when it is first used,
    /// because most agents have no cache, and digesting a list of authorities is slow.
    var mark: Result<String?, NetError> {
        cached.withLock { cached in
            if let cached {
                return cached
            }
            let mark = Result { () throws(NetError) in try policy.cacheMark() }
            cached = mark
            return mark
        }
    }
}

private struct ChangingTrust: Sendable {
    var trust: TrustSetting
    var changeCount = 0
    /// Whether several changes overlap, so that the current policy is unknown.
    var isUnknown = false
}

extension CacheContext {
    /// The trust policy of requests that set none; `nil` while it is being changed.
    var trust: TrustSetting? {
        currentTrust.withLock { $0.changeCount > 0 || $0.isUnknown ? nil : $0.trust }
    }

    /// Returns the trust policy of a request: its own or the agent's. Returns `nil` while the agent's is being changed.
    func trust(of request: Request<Bytes>) -> TrustSetting? {
        guard let ownPolicy = request.trust else { return trust }
        if let last = lastRequestTrust.withLock({ $0 }), last.policy.isWritten(as: ownPolicy) {
            return last
        }
        let trust = TrustSetting(ownPolicy)
        lastRequestTrust.withLock { $0 = trust }
        return trust
    }

    /// Returns true if the policy has not changed since the lookup. The lookup's key contains the mark of the policy at
    /// that time.
    func isUnchanged(since lookup: CacheLookup, for request: Request<Bytes>) -> Bool {
        request.trust != nil || lookup.trust === trust
    }

    /// Begins a change of the agent's policy, which is unknown until ``endTrustChange(_:)``.
    func beginTrustChange() {
        currentTrust.withLock { state in
            state.changeCount += 1
            state.isUnknown = state.changeCount > 1
        }
    }

    /// Ends a change of the agent's policy.
    ///
    /// - Parameter trust: the new policy. If `nil`, the old policy stays.
    func endTrustChange(_ trust: TrustSetting?) {
        currentTrust.withLock { state in
            state.changeCount -= 1
            guard let trust else { return }
            // If the new policy is equal to the old one, the object stays, so that responses in flight can be stored.
            if state.isUnknown || !state.trust.policy.isWritten(as: trust.policy) {
                state.trust = trust
            }
        }
    }
}

extension Request {
    /// Returns fields for the cache key that describe what else affects the response: the route to the server, the
    /// decoding of content codings, and the TLS trust policy. Empty for most requests.
    ///
    /// - Parameter trust: the trust policy of the request; `nil` if it is being changed.
    func routeKeyFields(_ trust: TrustSetting?) throws(NetError) -> [Headers.Field] {
        guard let trust else {
            throw NetError(.usage, "the agent's trust policy is being changed: send the request again")
        }
        var fields = wayFields
        if !acceptsCodings {
            fields.append(Headers.Field(name: "Content-Coding", value: "kept"))
        }
        if let mark = try trust.mark.get() {
            fields.append(Headers.Field(name: "Trust", value: mark))
        }
        return fields
    }
}

// Credentials that the transport sends although they are not part of the request: a client certificate, or an entry of
// a netrc file. Cache keys have to distinguish them.
extension CacheContext {
    /// Returns true if the transport may send such credentials with a request.
    func sendsHiddenCredentials(_ request: Request<Bytes>) -> Bool { netrc != .off || identity(of: request) != nil }

    /// Returns texts that identify these credentials, for a hash. For a certificate they include its private key,
    /// because a certificate alone is public. For a netrc file they cover the whole file, not only the entry that is
    /// used.
    ///
    /// Throws if the credentials are unknown, because a file cannot be read or has changed since it was first read. In
    /// the second case, open connections may still use the old content.
    func hiddenCredentials(of request: Request<Bytes>) async throws(NetError) -> [String] {
        var credentials: [String] = []
        if let identity = identity(of: request) {
            switch identity.source {
            case .texts(let certificate, let key):
                credentials += ["certificate", try Self.digest(Bytes(certificate)), try Self.digest(Bytes(key))]
            case .files(let certificate, let key):
                credentials += ["certificate", try await digest(ofFile: certificate)]
                credentials.append(key.isEmpty ? try Self.digest([]) : try await digest(ofFile: key))
            }
            credentials.append(identity.password)
        }
        if netrc != .off {
            guard let path = netrc.knownPath else {
                throw NetError(.file, "cannot find .netrc: the home directory is unknown")
            }
            credentials += ["netrc", try await digest(ofFile: path)]
        }
        return credentials
    }

    /// Returns the client identity of the request's connections.
    ///
    /// Also returns `nil` while the agent's policy is being changed, if the request sets no policy. That is harmless,
    /// because no cache key can be created meanwhile.
    private func identity(of request: Request<Bytes>) -> ClientIdentity? {
        trust(of: request)?.policy.identity
    }

    private static func digest(_ bytes: Bytes) throws(NetError) -> String { try Digest.of(bytes, .sha256).hexText }

    private func digest(ofFile path: String) async throws(NetError) -> String {
        let digest = try Self.digest(try await SmallFile.contents(of: path))
        // Paths are compared by bytes. Two Unicode normalizations of a path are equal strings, but different files.
        let name = Array(path.utf8)
        let isUnchanged = seen.withLock { seen in
            let first = seen[name] ?? digest
            // The credentials stay unknown, even if the file later gets its first content back.
            seen[name] = first == digest ? digest : ""
            return first == digest
        }
        if !isUnchanged {
            throw NetError(.file, "'\(path)' has changed, but open connections may still use its old content")
        }
        return digest
    }
}

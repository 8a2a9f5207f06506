/// The result of a cache lookup, and the decision about it.
struct CacheLook: Sendable {
    var decision: CacheDecision
    /// The key for a response to this request; `nil` if unknown, and then none is stored.
    var key: CacheKey?
    /// The moment of ``ChangedKeys`` before the lookup.
    var begun: UInt64 = 0
    /// The agent's trust policy at that time.
    var trust: StandingTrust?
    /// A hash of the response's owner, if the key does not contain it; empty for a shared response.
    var owner: [UInt8] = []
    /// The cookie jar at that time, if cookies distinguish users.
    var cookies: (any JarCookies)?
    /// The stored response, even of another version.
    var stored: StoredPiece?
    /// Whether it may be used after a network failure or as the last known response: everything but its age matches.
    var isOwn = false
    /// Its age in milliseconds; `nil` if nothing is stored, or if the clock has gone back.
    var age: Int64?
    /// Its freshness lifetime in milliseconds.
    var lifetime: Int64?

    init(_ decision: CacheDecision, key: CacheKey? = nil) {
        self.decision = decision
        self.key = key
    }

    /// Returns the report for the caller.
    func report(_ outcome: CacheReport.Outcome, _ decision: CacheDecision? = nil) -> CacheReport {
        CacheReport(
            decision: decision ?? self.decision, outcome: outcome, age: age.map { .milliseconds($0) },
            storedEpochSeconds: stored.map { Double($0.answer.head.received) / 1000 },
            lifetime: lifetime.map { .milliseconds($0) })
    }
}

/// Evaluates one request by one set of cache rules: what is stored for it, and what is stored of its response.
protocol CacheSide: Sendable {
    /// The request with the credentials that interceptors behind the cache add.
    var request: Request<Bytes> { get }
    var mode: CacheMode { get }
    /// The owner of the responses, if the policy names one.
    var scope: String? { get }
    var writesAsynchronously: Bool { get }
    var maximumBodyBytes: Int { get }

    /// Looks for a stored response and decides about it.
    func look(at now: Int64) async -> CacheLook
    /// Returns true if it may replace a response that the network or the server failed to deliver.
    func mayStandIn(_ look: CacheLook, at now: Int64) -> Bool
    /// Returns the entry to store for a response, or `nil` to store none.
    func answer(for response: Response<Bytes>, asked: Int64, received: Int64) -> StoredAnswer?
    /// Returns the stored response, updated after the server has confirmed it.
    func freshened(_ stored: StoredAnswer, by headers: Headers, asked: Int64, received: Int64) -> StoredAnswer
    /// Returns true if the updated response may still be stored.
    func isStorable(_ freshened: StoredAnswer) -> Bool
    /// Returns true if a response that is not stored makes the stored one obsolete.
    func isSuperseded(by response: Response<Bytes>) -> Bool
    /// Stores a response where ``look(at:)`` finds it.
    func put(_ answer: StoredAnswer, _ body: Bytes, after look: CacheLook) async throws(NetError)
    /// Removes what the lookup found.
    func remove(_ look: CacheLook) async throws(NetError)
    /// Returns the stored response for the caller.
    func response(of piece: StoredPiece, at now: @autoclosure () -> Int64) -> Response<Bytes>
}

extension CacheSide {
    // With an app's policy, no response of the server makes a stored one obsolete.

    func isStorable(_ freshened: StoredAnswer) -> Bool { true }

    func isSuperseded(by response: Response<Bytes>) -> Bool { false }

    func remove(_ look: CacheLook) async throws(NetError) {}

    /// Replaces the old response by the updated one, or removes both if it may not be stored.
    func replace(_ piece: StoredPiece, by fresh: StoredAnswer, after look: CacheLook) async throws(NetError) {
        if isStorable(fresh) {
            try await put(fresh, piece.body, after: look)
        } else {
            try await remove(look)
        }
    }
}

/// What was found for a request, and what is to be done about it.
struct CacheLook: Sendable {
    var decision: CacheDecision
    /// Where an answer to this request belongs; nil where that cannot be told, and then none is stored.
    var key: CacheKey?
    /// Of ``ChangedKeys``, before anything was looked for.
    var begun: UInt64 = 0
    /// Whom the agent believed then.
    var trust: StandingTrust?
    /// A hash of whose answer it is, where the key does not say; empty for anybody's.
    var owner: [UInt8] = []
    /// The jar as it was then, where cookies tell users apart.
    var cookies: (any JarCookies)?
    /// Whatever is stored, of another version too.
    var stored: StoredPiece?
    /// Whether it may stand in when the network fails, or be the last known answer: all but its age is right.
    var isOwn = false
    /// How old it is, in milliseconds; nil where nothing is stored, or the clock has gone back.
    var age: Int64?
    /// How long it is good, in milliseconds.
    var lifetime: Int64?

    init(_ decision: CacheDecision, key: CacheKey? = nil) {
        self.decision = decision
        self.key = key
    }

    /// What may be told of it.
    func report(_ outcome: CacheReport.Outcome, _ decision: CacheDecision? = nil) -> CacheReport {
        CacheReport(
            decision: decision ?? self.decision, outcome: outcome, age: age.map { .milliseconds($0) },
            storedEpochSeconds: stored.map { Double($0.answer.head.received) / 1000 },
            lifetime: lifetime.map { .milliseconds($0) })
    }
}

/// One request by one set of rules: what is stored for it, and what is made of what comes back.
protocol CacheSide: Sendable {
    /// What is asked, and by whom: with what those behind the cache add to say so.
    var request: Request<Bytes> { get }
    var mode: CacheMode { get }
    /// Whose answers it is about, where the policy says so.
    var scope: String? { get }
    var writesAsynchronously: Bool { get }
    var maximumBodyBytes: Int { get }

    /// What is stored, and what is to be done about it.
    func look(at now: Int64) async -> CacheLook
    /// Whether it may be given in place of what the network or the server failed to give.
    func mayStandIn(_ look: CacheLook, at now: Int64) -> Bool
    /// The entry for a response that is to be stored; nil for one that is not.
    func answer(for response: Response<Bytes>, asked: Int64, received: Int64) -> StoredAnswer?
    /// The same answer, after the server has said that it still holds.
    func freshened(_ stored: StoredAnswer, by headers: Headers, asked: Int64, received: Int64) -> StoredAnswer
    /// Whether that may be stored still.
    func isStorable(_ freshened: StoredAnswer) -> Bool
    /// Whether a response that is not stored tells that what is stored is no longer what there is.
    func isSuperseded(by response: Response<Bytes>) -> Bool
    /// Puts it where ``look(at:)`` finds it.
    func put(_ answer: StoredAnswer, _ body: Bytes, after look: CacheLook) async throws(NetError)
    /// Removes what was found.
    func remove(_ look: CacheLook) async throws(NetError)
    /// What a caller gets of what is stored.
    func response(of piece: StoredPiece, at now: @autoclosure () -> Int64) -> Response<Bytes>
}

extension CacheSide {
    // By an app's policy no word of the server's makes what is stored of no use.

    func isStorable(_ freshened: StoredAnswer) -> Bool { true }

    func isSuperseded(by response: Response<Bytes>) -> Bool { false }

    func remove(_ look: CacheLook) async throws(NetError) {}

    /// Puts a freshened answer in the older one's place, or leaves neither where it may not be stored any more.
    func replace(_ piece: StoredPiece, by fresh: StoredAnswer, after look: CacheLook) async throws(NetError) {
        if isStorable(fresh) {
            try await put(fresh, piece.body, after: look)
        } else {
            try await remove(look)
        }
    }
}

/// What the cache had to do with an answer.
public struct CacheReport: Sendable, Hashable {
    /// Where the answer came from in the end.
    public enum Outcome: Sendable, Hashable {
        /// From the cache, within its time.
        case hit
        /// From the cache, after its time.
        case staleHit
        /// From the cache, after the server had said that it still holds.
        case revalidated
        /// From the network.
        case network
        /// From neither: nothing was stored, and nothing was to be sent.
        case none
    }

    /// What was decided about what was stored, before anything was sent.
    public var decision: CacheDecision
    /// Where the answer came from.
    public var outcome: Outcome
    /// How old the stored answer is; nil where none was found.
    public var age: Duration?
    /// When the stored answer was received: seconds since 1970; nil where none was found.
    public var storedEpochSeconds: Double?
    /// How long the stored answer is good from its beginning; nil where none was found, or nothing says.
    public var lifetime: Duration?
    /// Whether the network's answer is one to be stored, and the store takes it. False while the store fails; an answer
    /// that is written behind its call counts by the write before it.
    public var isStorable: Bool

    /// Why it was decided.
    public var reason: CacheReason { decision.reason }

    /// Whether the answer came from the cache.
    public var isHit: Bool { [.hit, .staleHit, .revalidated].contains(outcome) }

    /// A report.
    public init(
        decision: CacheDecision, outcome: Outcome, age: Duration? = nil, storedEpochSeconds: Double? = nil,
        lifetime: Duration? = nil, isStorable: Bool = false
    ) {
        self.decision = decision
        self.outcome = outcome
        self.age = age
        self.storedEpochSeconds = storedEpochSeconds
        self.lifetime = lifetime
        self.isStorable = isStorable
    }
}

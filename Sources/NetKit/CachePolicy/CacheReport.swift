/// The cache's part in a response.
public struct CacheReport: Sendable, Hashable {
    /// The origin of the response.
    public enum Outcome: Sendable, Hashable {
        /// A fresh response from the cache.
        case hit
        /// A stale response from the cache.
        case staleHit
        /// A response from the cache that the server has confirmed.
        case revalidated
        /// A response from the network.
        case network
        /// No response: nothing was stored, and nothing was to be sent.
        case none
    }

    /// The decision about the stored response, before anything was sent.
    public var decision: CacheDecision
    /// The origin of the response.
    public var outcome: Outcome
    /// The age of the stored response; `nil` if there was none.
    public var age: Duration?
    /// When the stored response was received, in seconds since 1970; `nil` if there was none.
    public var storedEpochSeconds: Double?
    /// The freshness lifetime of the stored response; `nil` if there was none, or if it has none.
    public var lifetime: Duration?
    /// Whether the network's response is storable and the store works. False while the store fails; for a response that
    /// is written after its call, the result of the previous write counts.
    public var isStorable: Bool

    /// The reason of the decision.
    public var reason: CacheReason { decision.reason }

    /// Whether the response came from the cache.
    public var isHit: Bool { [.hit, .staleHit, .revalidated].contains(outcome) }

    /// Creates a report.
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

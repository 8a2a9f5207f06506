/// How much a store holds, and what happened since it was made.
public struct CacheUsage: Sendable, Equatable {
    /// Entries.
    public var entries: Int
    /// Bytes of them, as the store counts them.
    public var bytes: Int
    /// The limit on those bytes.
    public var maximumBytes: Int
    /// Look-ups that found an entry.
    public var hits: Int
    /// Look-ups that did not.
    public var misses: Int
    /// Entries that went to make room.
    public var evictions: Int

    /// Figures.
    public init(
        entries: Int = 0, bytes: Int = 0, maximumBytes: Int = 0, hits: Int = 0, misses: Int = 0, evictions: Int = 0
    ) {
        self.entries = entries
        self.bytes = bytes
        self.maximumBytes = maximumBytes
        self.hits = hits
        self.misses = misses
        self.evictions = evictions
    }
}

/// The size of a store, and its statistics since it was created.
public struct CacheUsage: Sendable, Equatable {
    /// The number of entries.
    public var entries: Int
    /// Their size in bytes, as the store counts it.
    public var bytes: Int
    /// The limit of that size.
    public var maximumBytes: Int
    /// Lookups that found an entry.
    public var hits: Int
    /// Lookups that found none.
    public var misses: Int
    /// Entries that were evicted.
    public var evictions: Int

    /// Creates statistics.
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

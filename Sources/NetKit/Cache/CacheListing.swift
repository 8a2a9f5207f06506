/// One line of a store's list: all of an entry but its body.
public struct CacheListing: Sendable, Equatable {
    /// What it is kept under.
    public let key: CacheKey
    /// The entry; its body is empty.
    public let entry: CacheEntry
    /// The length of the body.
    public let bodyBytes: Int

    /// A line, for stores of one's own. The entry's body is left out.
    public init(key: CacheKey, entry: CacheEntry, bodyBytes: Int) {
        var entry = entry
        entry.body = []
        self.key = key
        self.entry = entry
        self.bodyBytes = bodyBytes
    }
}

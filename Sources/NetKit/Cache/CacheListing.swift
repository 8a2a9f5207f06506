/// One entry in a store's list, without its body.
public struct CacheListing: Sendable, Equatable {
    /// The key.
    public let key: CacheKey
    /// The entry with an empty body.
    public let entry: CacheEntry
    /// The length of the body.
    public let bodyBytes: Int

    /// Creates a list entry, for custom stores. The entry's body is dropped.
    public init(key: CacheKey, entry: CacheEntry, bodyBytes: Int) {
        var entry = entry
        entry.body = []
        self.key = key
        self.entry = entry
        self.bodyBytes = bodyBytes
    }
}

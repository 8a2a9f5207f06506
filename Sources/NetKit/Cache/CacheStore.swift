/// A store of cache entries: on disk, in memory, in both, or a type of the app.
///
///     let store: any CacheStore = TwoTierCacheStore(
///         first: MemoryCacheStore(hardLimit: 32 << 20), second: DiskCacheStore(directory: path))
///     try await store.put(CacheEntry(body: bytes), for: key)
///
/// A lookup returns a complete, unchanged entry, or `nil`. The store sets its own limits: any entry may be evicted at
/// any time. An entry is gone after its lifetime. A store never waits for a disk on the caller's thread.
public protocol CacheStore: Sendable {
    /// Returns the entry of a key, or `nil` if there is none.
    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry?

    /// Stores an entry and replaces an older one. After a failure the older one stays.
    ///
    /// - Throws: ``NetError/Code/tooLarge`` for an entry that exceeds its share of the store.
    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError)

    /// Removes an entry. Returns false if there was none.
    @discardableResult
    func remove(_ key: CacheKey) async throws(NetError) -> Bool

    /// Removes the entries with this tag and returns their number.
    @discardableResult
    func removeAll(tagged tag: String) async throws(NetError) -> Int

    /// Removes the entries of this host, in any spelling, and returns their number.
    @discardableResult
    func removeAll(from host: String) async throws(NetError) -> Int

    /// Removes all entries and returns their number.
    @discardableResult
    func removeAll() async throws(NetError) -> Int

    /// Returns all entries without bodies, in no order.
    func list() async throws(NetError) -> [CacheListing]

    /// Returns the number and size of the entries, and the counts of hits and misses.
    func usage() async throws(NetError) -> CacheUsage
}

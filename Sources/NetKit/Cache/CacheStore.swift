/// Where entries are kept: on disk, in memory, in both, or wherever a program's own type puts them.
///
///     let store: any CacheStore = TwoTierCacheStore(
///         first: MemoryCacheStore(hardLimit: 32 << 20), second: DiskCacheStore(directory: path))
///     try await store.put(CacheEntry(body: bytes), for: key)
///
/// A look-up gives an entry whole, as it was put, or nil. Limits are the store's own: what was put may be gone at any
/// time. An entry whose lifetime is over is gone. Nothing of a store waits for a disk on its caller's thread.
public protocol CacheStore: Sendable {
    /// The entry of a key; nil when there is none.
    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry?

    /// Puts an entry in the place of an older one; on failure the older one stays.
    ///
    /// Throws ``NetError/Code/tooLarge`` for one that is over its share of the store.
    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError)

    /// Removes an entry; false when there was none.
    @discardableResult
    func remove(_ key: CacheKey) async throws(NetError) -> Bool

    /// Removes the entries with this tag; tells how many there were.
    @discardableResult
    func removeAll(tagged tag: String) async throws(NetError) -> Int

    /// Removes the entries of this host, in whatever spelling; tells how many there were.
    @discardableResult
    func removeAll(from host: String) async throws(NetError) -> Int

    /// Removes everything; tells how many entries there were.
    @discardableResult
    func removeAll() async throws(NetError) -> Int

    /// What there is, without bodies, in no order.
    func list() async throws(NetError) -> [CacheListing]

    /// How much there is, and how often something was found.
    func usage() async throws(NetError) -> CacheUsage
}

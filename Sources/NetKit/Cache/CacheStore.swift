/// A store of cache entries: on disk, in memory, in both, or a type of the app.
///
///     let store: any CacheStore = TwoTierCacheStore(
///         first: MemoryCacheStore(hardLimit: 32 << 20), second: DiskCacheStore(directory: path))
///     try await store.put(CacheEntry(body: bytes), for: key)
///
/// A lookup returns an entry exactly as it was stored, or `nil`. A store has its own limits and may evict any entry at
/// any time. It returns no entry whose lifetime has ended. It must not wait for a disk on the caller's thread.
public protocol CacheStore: Sendable {
    /// Returns the entry of a key, or `nil` if there is none.
    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry?

    /// Stores an entry and replaces an older one. If that fails, the older one stays.
    ///
    /// - Throws: ``NetError/Code/tooLarge`` if the entry is larger than the store's limit for one entry.
    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError)

    /// Removes the selected entries and returns their number.
    ///
    ///     try await store.removeAll(.tagged("cities"))
    @discardableResult
    func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int

    /// Returns all entries without their bodies, in no particular order.
    func list() async throws(NetError) -> [CacheListing]

    /// Returns the number and size of the entries, and the counts of hits and misses.
    func usage() async throws(NetError) -> CacheUsage
}

extension CacheStore {
    /// Removes an entry. Returns false if there was none.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool { try await removeAll(.key(key)) > 0 }

    /// Removes all entries and returns their number.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int { try await removeAll(.all) }
}

/// Selects the entries of a store that ``CacheStore/removeAll(_:)`` removes.
public enum CacheSelection: Sendable, Hashable {
    /// All entries.
    case all
    /// The entry of this key.
    case key(CacheKey)
    /// The entries with this tag. No entry has the empty tag.
    case tagged(String)
    /// The entries of this host. Different spellings of the host are equivalent.
    case host(String)
}

/// Identifies a request in a cache. Equal requests have equal keys, and different requests have different keys.
///
///     let key = try agent.cacheKey(for: request, headers: ["Accept-Language"], scope: user.id)
///
/// Keys are equal if their descriptions are equal. ``name`` does not identify a key, because different texts with the
/// same MD5 digest can be constructed.
///
/// These differences between requests do not change the key:
/// - the order of the names of an object, of the values of a set, and of fields with different names
/// - the case of field names
/// - the spelling of the host, a default port and a fragment
///
/// All other differences change it. For example, the parameters 1, "1" and true differ. Numbers are compared by the
/// digits that are sent.
public struct CacheKey: Sendable, Hashable {
    /// The canonical form of the request, which determines equality.
    public let description: [UInt8]

    package init(description: [UInt8]) {
        self.description = description
    }
}

/// An entry of a store without its body, as ``CacheStore/list()`` returns it.
public struct CacheListing: Sendable, Equatable {
    /// The key.
    public let key: CacheKey
    /// The entry with an empty body.
    public let entry: CacheEntry
    /// The number of bytes of the body.
    public let bodyBytes: Int

    /// Creates a listing, for stores of the app. The body of the entry is removed.
    public init(key: CacheKey, entry: CacheEntry, bodyBytes: Int) {
        var entry = entry
        entry.body = []
        self.key = key
        self.entry = entry
        self.bodyBytes = bodyBytes
    }
}

/// The size of a store, and its statistics since it was created.
public struct CacheUsage: Sendable, Equatable {
    /// The number of entries.
    public var entries: Int
    /// The size of all entries in bytes, as the store counts it.
    public var bytes: Int
    /// The largest size of all entries in bytes.
    public var maximumBytes: Int
    /// The number of lookups that found an entry.
    public var hits: Int
    /// The number of lookups that found no entry.
    public var misses: Int
    /// The number of entries that were evicted.
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

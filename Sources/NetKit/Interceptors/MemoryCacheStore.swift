#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache store in memory. Its entries are lost at the end of the process.
///
/// If the entries exceed the hard limit, the least recently used ones are evicted until the others fit into the soft
/// limit. So one eviction makes room for many new entries.
public final class MemoryCacheStore: CacheStore {
    /// The cost of an entry in addition to its bytes, in bytes.
    private static let overhead = 256

    private let softLimit: Int
    private let hardLimit: Int
    private let share: Int
    private let now: @Sendable () -> Date
    private let state = Lock(State())

    private struct State: Sendable {
        var entries = RecencyList<CacheKey, CacheEntry>()
        var hits = 0
        var misses = 0
        var evictions = 0

        mutating func makeRoom(downTo bytes: Int) {
            while entries.cost > bytes, entries.removeOldest() {
                evictions += 1
            }
        }
    }

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - hardLimit: the largest size of all entries in bytes, from 0.
    ///   - softLimit: the largest size of all entries after an eviction in bytes, unless the new entry alone is larger.
    ///     If `nil`, three quarters of the hard limit.
    ///   - maximumShare: the largest size of one entry in percent of the hard limit, from 1 to 100.
    ///   - now: the clock.
    public init(
        hardLimit: Int = 32 << 20, softLimit: Int? = nil, maximumShare: Int = 5,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.hardLimit = max(0, hardLimit)
        self.softLimit = min(self.hardLimit, max(0, softLimit ?? self.hardLimit / 4 * 3))
        share = self.hardLimit / 100 * min(100, max(1, maximumShare))
        self.now = now
    }

    private static func cost(of entry: CacheEntry, for key: CacheKey) -> Int {
        let texts = entry.tags.reduce(entry.host.utf8.count) { $0 + $1.utf8.count }
        return entry.body.count + entry.metadata.count + texts + key.description.count + overhead
    }

    /// Returns the entry of a key, or `nil` if there is none.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        state.withLock { state in
            // Reads the clock only for the few entries that have a lifetime.
            guard let entry = state.entries.use(key), entry.lifetime == nil || !entry.isOver(at: now()) else {
                state.entries.remove(key)
                state.misses += 1
                return nil
            }
            state.hits += 1
            return entry
        }
    }

    /// Stores an entry; see ``CacheStore/put(_:for:)``.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        let cost = Self.cost(of: entry, for: key)
        if cost > share {
            throw NetError(.tooLarge, "an entry of \(cost) bytes exceeds the limit of \(share) bytes for one entry")
        }
        var entry = entry
        entry.created = entry.created ?? now()
        let dated = entry
        state.withLock { state in
            // Evicts before the insertion, so that a new entry that is larger than the soft limit does not evict
            // itself.
            state.entries.remove(key)
            if state.entries.cost > hardLimit - cost {
                state.makeRoom(downTo: max(0, softLimit - cost))
            }
            state.entries.set(dated, cost: cost, for: key)
        }
    }

    /// Evicts the least recently used entries until the others have at most `bytes`. An app can call this when memory
    /// is low.
    package func makeRoom(downTo bytes: Int) {
        state.withLock { $0.makeRoom(downTo: bytes) }
    }

    /// Removes the selected entries and returns their number.
    @discardableResult
    public func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        switch selection {
        case .all:
            let emptied = state.withLock { state in
                defer { state.entries.removeAll() }
                return state.entries
            }
            return emptied.count
        case .key(let key): return state.withLock { $0.entries.remove(key) ? 1 : 0 }
        case .host(""): return 0
        case .tagged(let tag): return removeAll { $0.tags.contains(tag) }
        case .host(let host):
            let canonical = host.canonicalHost
            return removeAll { entry in
                [host, canonical].contains { $0.map { entry.host.isEqualIgnoringASCIICase(to: $0) } == true }
            }
        }
    }

    private func removeAll(where shouldRemove: (CacheEntry) -> Bool) -> Int {
        state.withLock { state in
            let found = state.entries.all.filter { shouldRemove($0.value) }
            for (key, _) in found {
                state.entries.remove(key)
            }
            return found.count
        }
    }

    /// Returns all entries, least recently used first.
    public func list() async throws(NetError) -> [CacheListing] {
        let moment = now()
        return state.withLock { $0.entries }.all.filter { !$0.value.isOver(at: moment) }.map {
            CacheListing(key: $0.key, entry: $0.value, bodyBytes: $0.value.body.count)
        }
    }

    /// Returns the number and size of the entries.
    public func usage() async throws(NetError) -> CacheUsage {
        let state = state.withLock { $0 }
        return CacheUsage(
            entries: state.entries.count, bytes: state.entries.cost, maximumBytes: hardLimit, hits: state.hits,
            misses: state.misses, evictions: state.evictions)
    }
}

extension UInt8 {
    /// The byte with an ASCII letter in lower case.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}

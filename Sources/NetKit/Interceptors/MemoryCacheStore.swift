#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store in memory, which is lost with the process and evicts the least recently used entries first.
///
/// When the total cost exceeds the hard limit, entries are evicted down to the soft limit: one eviction makes room for
/// many entries.
public final class MemoryCacheStore: CacheStore {
    /// The cost of an entry in addition to its bytes.
    private static let overhead = 256

    private let softLimit: Int
    private let hardLimit: Int
    private let share: Int
    private let now: @Sendable () -> Date
    private let state = Lock(State())

    private struct State: Sendable {
        var kept = RecencyList<CacheKey, CacheEntry>()
        var hits = 0
        var misses = 0
        var evictions = 0

        mutating func makeRoom(downTo bytes: Int) {
            while kept.cost > bytes, kept.removeOldest() {
                evictions += 1
            }
        }
    }

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - hardLimit: bytes, from 0.
    ///   - softLimit: the bytes that remain after an eviction, unless the new entry alone costs more; `nil` is three
    ///     quarters of the hard limit.
    ///   - maximumShare: the largest share of one entry in the hard limit, in percent, 1 to 100.
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
            // Few entries have a lifetime: the others need no clock.
            guard let entry = state.kept.use(key), entry.lifetime == nil || !entry.isOver(at: now()) else {
                state.kept.remove(key)
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
            throw NetError(.tooLarge, "an entry of \(cost) bytes is over its share of \(share)")
        }
        var entry = entry
        entry.created = entry.created ?? now()
        let dated = entry
        state.withLock { state in
            // Evict before inserting: the new entry may cost more than the soft limit and must not evict itself.
            state.kept.remove(key)
            if state.kept.cost > hardLimit - cost {
                state.makeRoom(downTo: max(0, softLimit - cost))
            }
            state.kept.set(dated, cost: cost, for: key)
        }
    }

    /// Evicts the least recently used entries until the rest costs at most `bytes`, for programs that react to low
    /// memory.
    public func makeRoom(downTo bytes: Int) {
        state.withLock { $0.makeRoom(downTo: bytes) }
    }

    /// Removes an entry. Returns false if there was none.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool { state.withLock { $0.kept.remove(key) } }

    /// Removes the entries with this tag and returns their number.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        removeAll { $0.tags.contains(tag) }
    }

    /// Removes the entries of this host and returns their number.
    @discardableResult
    public func removeAll(from host: String) async throws(NetError) -> Int {
        if host.isEmpty {
            return 0
        }
        let canonical = host.canonicalHost
        return removeAll { entry in
            [host, canonical].contains { $0.map { entry.host.isEqualIgnoringASCIICase(to: $0) } == true }
        }
    }

    private func removeAll(where isWanted: (CacheEntry) -> Bool) -> Int {
        state.withLock { state in
            let found = state.kept.all.filter { isWanted($0.value) }
            for (key, _) in found {
                state.kept.remove(key)
            }
            return found.count
        }
    }

    /// Removes all entries and returns their number.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        let emptied = state.withLock { state in
            defer { state.kept.removeAll() }
            return state.kept
        }
        return emptied.count
    }

    /// Returns all entries, least recently used first.
    public func list() async throws(NetError) -> [CacheListing] {
        let moment = now()
        return state.withLock { $0.kept }.all.filter { !$0.value.isOver(at: moment) }.map {
            CacheListing(key: $0.key, entry: $0.value, bodyBytes: $0.value.body.count)
        }
    }

    /// Returns the number and size of the entries.
    public func usage() async throws(NetError) -> CacheUsage {
        let state = state.withLock { $0 }
        return CacheUsage(
            entries: state.kept.count, bytes: state.kept.cost, maximumBytes: hardLimit, hits: state.hits,
            misses: state.misses, evictions: state.evictions)
    }
}

extension UInt8 {
    /// The byte with an ASCII letter in lower case.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Entries in memory: gone with the process, and what was used longest ago goes first.
///
/// When entries cost more than the hard limit together, the oldest go until they cost no more than the soft one: room
/// is made for many at once, and not for each by itself.
public final class MemoryCacheStore: CacheStore {
    /// What an entry costs beside its bytes.
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

    /// An empty store.
    ///
    /// - Parameters:
    ///   - hardLimit: bytes; from 0.
    ///   - softLimit: bytes that are left when the hard limit was passed, unless the entry just put costs more by itself;
    ///     nil takes three quarters of it.
    ///   - maximumShare: percent of the hard limit that one entry may take, 1 to 100.
    ///   - now: where time comes from.
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

    /// The entry of a key; nil when there is none.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        state.withLock { state in
            // Few have a lifetime of their own: the others need no time.
            guard let entry = state.kept.use(key), entry.lifetime == nil || !entry.isOver(at: now()) else {
                state.kept.remove(key)
                state.misses += 1
                return nil
            }
            state.hits += 1
            return entry
        }
    }

    /// Puts an entry; see ``CacheStore/put(_:for:)``.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        let cost = Self.cost(of: entry, for: key)
        if cost > share {
            throw NetError(.tooLarge, "an entry of \(cost) bytes is over its share of \(share)")
        }
        var entry = entry
        entry.created = entry.created ?? now()
        let dated = entry
        state.withLock { state in
            // Before it is among them: it never goes for itself, although it may cost more than the soft limit.
            state.kept.remove(key)
            if state.kept.cost > hardLimit - cost {
                state.makeRoom(downTo: max(0, softLimit - cost))
            }
            state.kept.set(dated, cost: cost, for: key)
        }
    }

    /// Removes what was used longest ago until the rest costs no more than this: for programs that hear that memory is
    /// short.
    public func makeRoom(downTo bytes: Int) {
        state.withLock { $0.makeRoom(downTo: bytes) }
    }

    /// Removes an entry; false when there was none.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool { state.withLock { $0.kept.remove(key) } }

    /// Removes the entries with this tag; tells how many there were.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        removeAll { $0.tags.contains(tag) }
    }

    /// Removes the entries of this host; tells how many there were.
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

    /// Removes everything; tells how many entries there were.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        let emptied = state.withLock { state in
            defer { state.kept.removeAll() }
            return state.kept
        }
        return emptied.count
    }

    /// What there is, from the one that was used longest ago.
    public func list() async throws(NetError) -> [CacheListing] {
        let moment = now()
        return state.withLock { $0.kept }.all.filter { !$0.value.isOver(at: moment) }.map {
            CacheListing(key: $0.key, entry: $0.value, bodyBytes: $0.value.body.count)
        }
    }

    /// How much there is.
    public func usage() async throws(NetError) -> CacheUsage {
        let state = state.withLock { $0 }
        return CacheUsage(
            entries: state.kept.count, bytes: state.kept.cost, maximumBytes: hardLimit, hits: state.hits,
            misses: state.misses, evictions: state.evictions)
    }
}

extension UInt8 {
    /// ASCII letters in lower case.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}

internal import Synchronization

/// A small, quick store in front of a large, lasting one.
///
/// What the first has is not looked for in the second, so that a miss there never hides it; what only the second has is
/// kept by the first from then on. Puts and removals go to both.
public struct TwoTierCacheStore: CacheStore {
    /// Asked first; usually memory.
    public let first: any CacheStore
    /// Asked when the first has nothing; usually a disk.
    public let second: any CacheStore
    private let changes = Changes()

    /// Puts and removals: while one is under way, what the second still has may be gone a moment later.
    private final class Changes: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)
    }

    /// A store of these two.
    public init(first: any CacheStore, second: any CacheStore) {
        self.first = first
        self.second = second
    }

    /// The entry of a key, from whichever has it.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        if let entry = try await first.entry(for: key) {
            return entry
        }
        // In this order, so that no change is under way where both are the same.
        let ended = changes.ended.load(ordering: .sequentiallyConsistent)
        let begun = changes.begun.load(ordering: .sequentiallyConsistent)
        guard let entry = try await second.entry(for: key) else { return nil }
        guard begun == ended else { return entry }
        // What the first has no room for, the second goes on giving.
        try? await first.put(entry, for: key)
        // A change that has begun by now may have looked at the first before; a later one finds the entry there.
        if changes.begun.load(ordering: .sequentiallyConsistent) != begun {
            _ = try? await first.remove(key)
        }
        return entry
    }

    private func change<Value: Sendable>(
        _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        changes.begun.add(1, ordering: .sequentiallyConsistent)
        defer { changes.ended.add(1, ordering: .sequentiallyConsistent) }
        return try await work()
    }

    /// Puts an entry in both. What is too large for the first is removed there, and in the second alone.
    ///
    /// Throws what the second throws; the first has the entry then.
    public func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        try await change { () async throws(NetError) in
            do throws(NetError) {
                try await first.put(entry, for: key)
            } catch {
                try await first.remove(key)
            }
            try await second.put(entry, for: key)
        }
    }

    /// Removes an entry from both; false when neither had it.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool {
        try await change { () async throws(NetError) in
            let wasFirst = try await first.remove(key)
            return try await second.remove(key) || wasFirst
        }
    }

    /// Removes from both; tells how many there were where there were more.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(tagged: tag), try await second.removeAll(tagged: tag))
        }
    }

    /// Removes from both; tells how many there were where there were more.
    @discardableResult
    public func removeAll(from host: String) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(from: host), try await second.removeAll(from: host))
        }
    }

    /// Removes from both; tells how many there were where there were more.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(), try await second.removeAll())
        }
    }

    /// What the second has, and what the first alone has.
    public func list() async throws(NetError) -> [CacheListing] {
        let lasting = try await second.list()
        let known = Set(lasting.map(\.key))
        return lasting + (try await first.list()).filter { !known.contains($0.key) }
    }

    /// The second's figures; hits are those of both, and misses those that neither had.
    public func usage() async throws(NetError) -> CacheUsage {
        var usage = try await second.usage()
        usage.hits += try await first.usage().hits
        return usage
    }
}

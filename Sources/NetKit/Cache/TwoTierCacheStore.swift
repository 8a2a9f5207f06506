internal import Synchronization

/// A small, fast store in front of a large, persistent one.
///
/// An entry of the first is not looked up in the second, so a miss there never hides it. An entry that only the second
/// has is copied to the first. Writes and removals go to both.
public struct TwoTierCacheStore: CacheStore {
    /// Tried first; usually memory.
    public let first: any CacheStore
    /// Tried after a miss in the first; usually a disk.
    public let second: any CacheStore
    private let changes = Changes()

    /// Running writes and removals: during one, an entry of the second may be about to disappear.
    private final class Changes: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)
    }

    /// Creates a store from these two.
    public init(first: any CacheStore, second: any CacheStore) {
        self.first = first
        self.second = second
    }

    /// Returns the entry of a key from the first store that has it.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        if let entry = try await first.entry(for: key) {
            return entry
        }
        // Read in this order, so that equal numbers prove that no change is running.
        let ended = changes.ended.load(ordering: .sequentiallyConsistent)
        let begun = changes.begun.load(ordering: .sequentiallyConsistent)
        guard let entry = try await second.entry(for: key) else { return nil }
        guard begun == ended else { return entry }
        // An entry that is too large for the first is still returned by the second.
        try? await first.put(entry, for: key)
        // A change that has begun by now may have missed the entry in the first; a later one finds it there.
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

    /// Stores an entry in both. An entry that is too large for the first is removed there and stored only in the
    /// second.
    ///
    /// Throws the errors of the second; the first has the entry then.
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

    /// Removes an entry from both. Returns false if neither had it.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(NetError) -> Bool {
        try await change { () async throws(NetError) in
            let wasFirst = try await first.remove(key)
            return try await second.remove(key) || wasFirst
        }
    }

    /// Removes the entries from both and returns the larger number.
    @discardableResult
    public func removeAll(tagged tag: String) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(tagged: tag), try await second.removeAll(tagged: tag))
        }
    }

    /// Removes the entries from both and returns the larger number.
    @discardableResult
    public func removeAll(from host: String) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(from: host), try await second.removeAll(from: host))
        }
    }

    /// Removes all entries from both and returns the larger number.
    @discardableResult
    public func removeAll() async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(), try await second.removeAll())
        }
    }

    /// Returns the entries of the second, and those that only the first has.
    public func list() async throws(NetError) -> [CacheListing] {
        let lasting = try await second.list()
        let known = Set(lasting.map(\.key))
        return lasting + (try await first.list()).filter { !known.contains($0.key) }
    }

    /// Returns the second's numbers, with the hits of both, and as misses those of both together.
    public func usage() async throws(NetError) -> CacheUsage {
        var usage = try await second.usage()
        usage.hits += try await first.usage().hits
        return usage
    }
}

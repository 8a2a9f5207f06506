internal import Synchronization

/// Combines a small, fast store with a large, persistent one.
///
/// A lookup uses the first store, and after a miss the second. An entry that only the second store has is then copied
/// to the first. Writes and removals apply to both stores.
public struct TwoTierCacheStore: CacheStore {
    /// The store that is looked up first, usually in memory.
    public let first: any CacheStore
    /// The store that is looked up after a miss in the first, usually on disk.
    public let second: any CacheStore
    private let changes = Changes()

    /// Counts writes and removals. While one is running, an entry of the second store may be obsolete and must not be
    /// copied to the first.
    fileprivate final class Changes: Sendable {
        let started = Atomic(0)
        let ended = Atomic(0)
    }

    /// Creates a store that combines two others.
    public init(first: any CacheStore, second: any CacheStore) {
        self.first = first
        self.second = second
    }

    /// Removes entries from the first store when another process has changed the second. Does not keep the second
    /// store alive.
    package struct Invalidator: Sendable {
        fileprivate let first: any CacheStore
        fileprivate let changes: Changes

        /// Calls `remove` with the first store. A copy that is under way from the second store is removed too.
        package func callAsFunction(_ remove: (any CacheStore) async throws(NetError) -> Void) async {
            changes.started.add(1, ordering: .sequentiallyConsistent)
            defer { changes.ended.add(1, ordering: .sequentiallyConsistent) }
            try? await remove(first)
        }
    }

    /// The invalidator of the first store.
    package var invalidator: Invalidator { Invalidator(first: first, changes: changes) }

    /// Returns the entry of a key from the first store that has it.
    public func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
        if let entry = try await first.entry(for: key) {
            return entry
        }
        // `ended` is read before `started`. In this order, equal numbers prove that no change was running.
        let ended = changes.ended.load(ordering: .sequentiallyConsistent)
        let started = changes.started.load(ordering: .sequentiallyConsistent)
        guard let entry = try await second.entry(for: key) else { return nil }
        guard started == ended else { return entry }
        // The copy fails if the entry is too large for the first store. Then the second one still has it.
        try? await first.put(entry, for: key)
        // A change that has started during the copy may not have seen the entry in the first store, so the copy is
        // removed. A change that starts later sees it.
        if changes.started.load(ordering: .sequentiallyConsistent) != started {
            _ = try? await first.remove(key)
        }
        return entry
    }

    private func change<Value: Sendable>(
        _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        changes.started.add(1, ordering: .sequentiallyConsistent)
        defer { changes.ended.add(1, ordering: .sequentiallyConsistent) }
        return try await work()
    }

    /// Stores an entry in both stores. If the entry is too large for the first store, an older entry is removed there,
    /// and the new one is stored only in the second.
    ///
    /// Throws the errors of the second store. In that case the first store may have the entry.
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

    /// Removes the selected entries from both stores and returns the larger number.
    @discardableResult
    public func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        try await change { () async throws(NetError) in
            max(try await first.removeAll(selection), try await second.removeAll(selection))
        }
    }

    /// Returns the entries of the second store, and those that only the first store has.
    public func list() async throws(NetError) -> [CacheListing] {
        let persistent = try await second.list()
        let known = Set(persistent.map(\.key))
        return persistent + (try await first.list()).filter { !known.contains($0.key) }
    }

    /// Returns the usage of the second store, with the hits of both stores. A miss of the second store is a miss of
    /// both.
    public func usage() async throws(NetError) -> CacheUsage {
        var usage = try await second.usage()
        usage.hits += try await first.usage().hits
        return usage
    }
}

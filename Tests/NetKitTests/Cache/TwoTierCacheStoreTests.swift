import NetKit
import NetKitTesting
import Testing

/// The contract of a two-tier store during concurrent changes.
@Suite(.timeLimit(.minutes(5)))
struct TwoTierCacheStoreTests {
    /// A store whose reads wait, after they have found an entry, until a gate opens.
    private struct HeldStore: CacheStore {
        let inner = MemoryCacheStore()
        let gate = StubGate()
        let arrivals = Counter()

        func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? {
            let found = try await inner.entry(for: key)
            arrivals.increment()
            while !gate.isOpen {
                await Task.yield()
            }
            return found
        }
        func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) { try await inner.put(entry, for: key) }
        func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
            try await inner.removeAll(selection)
        }
        func list() async throws(NetError) -> [CacheListing] { try await inner.list() }
        func usage() async throws(NetError) -> CacheUsage { try await inner.usage() }
    }

    private let second = HeldStore()
    private let store: TwoTierCacheStore

    init() {
        store = TwoTierCacheStore(first: MemoryCacheStore(), second: second)
    }

    /// Puts an entry into the second tier, starts to read it, and applies `change` before the read ends. Returns the
    /// bodies that the first tier and the whole store have afterwards.
    private func entry(
        afterChange change: (CacheKey) async throws -> Void
    ) async throws -> (first: Bytes?, both: Bytes?) {
        let key = try CacheKey(url: "http://a/")
        try await second.inner.put(CacheEntry(body: Bytes([1]), host: "a", tags: ["t"]), for: key)
        let reading = Task { try await store.entry(for: key) }
        while second.arrivals.value == 0 {
            await Task.yield()
        }
        try await change(key)
        second.gate.open()
        #expect(try await reading.value?.body == Bytes([1]))
        return (try await store.first.entry(for: key)?.body, try await store.entry(for: key)?.body)
    }

    @Test func pendingPromotionDoesNotRestoreARemovedEntry() async throws {
        let left = try await entry { _ in _ = try await store.removeAll(.all) }
        #expect(left.first == nil && left.both == nil)
    }

    @Test(arguments: ["key", "tag", "host"])
    func pendingPromotionDoesNotRestoreAnEntryRemovedByKeyTagOrHost(part: String) async throws {
        let left = try await entry { key in
            switch part {
            case "key": _ = try await store.remove(key)
            case "tag": _ = try await store.removeAll(.tagged("t"))
            default: _ = try await store.removeAll(.host("a"))
            }
        }
        #expect(left.first == nil && left.both == nil)
    }

    @Test func pendingPromotionDoesNotReplaceANewerEntry() async throws {
        let left = try await entry { key in try await store.put(CacheEntry(body: Bytes([2])), for: key) }
        #expect(left.both == Bytes([2]) && left.first != Bytes([1]))
    }

    @Test func readEntryIsPromotedToTheFirstTier() async throws {
        let left = try await entry { _ in }
        #expect(left.first == Bytes([1]) && left.both == Bytes([1]))
    }
}

import FoundationEssentials
import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct MemoryCacheStoreTests {
    private static func entry(_ count: Int) -> CacheEntry {
        CacheEntry(body: Bytes([UInt8](repeating: 0, count: count)))
    }

    @Test func leastRecentlyUsedEntriesAreEvictedDownToTheSoftLimit() async throws {
        // Each entry costs 1,000 bytes and its overhead. The hard limit is ten entries, the soft one four.
        let each = 1000 + 256 + 1
        let store = MemoryCacheStore(hardLimit: each * 10, softLimit: each * 4, maximumShare: 20)
        for number in 0..<10 {
            try await store.put(Self.entry(1000), for: .test("\(number)"))
        }
        #expect(try await store.usage().entries == 10)
        #expect(try await store.entry(for: .test("0")) != nil)
        try await store.put(Self.entry(1000), for: .test("a"))
        let left = try await store.list().map(\.key)
        #expect(left == [.test("8"), .test("9"), .test("0"), .test("a")])
        #expect(try await store.usage().evictions == 7)
        #expect(try await store.usage().bytes == each * 4)
    }

    @Test func newestEntryStaysAboveTheSoftLimit() async throws {
        let store = MemoryCacheStore(hardLimit: 10_000, softLimit: 5_000, maximumShare: 100)
        try await store.put(Self.entry(9000), for: .test("large"))
        try await store.put(Self.entry(100), for: .test("a"))
        #expect(try await store.list().map(\.key) == [.test("large"), .test("a")])
        for _ in 0..<2 {
            try await store.put(Self.entry(9000), for: .test("b"))
            #expect(try await store.list().map(\.key) == [.test("b")])
            #expect(try await store.usage().evictions == 2)
        }
    }

    @Test func entryOverItsShareIsRejectedAndTheOldOneStays() async throws {
        let store = MemoryCacheStore(hardLimit: 100_000)
        try await store.put(Self.entry(1), for: .test("k"))
        await #expect(throws: NetError.self) { try await store.put(Self.entry(4744), for: .test("k")) }
        #expect(try await store.entry(for: .test("k"))?.body.count == 1)
        try await store.put(Self.entry(4743), for: .test("k"))
    }

    @Test func callerCanTrimTheStore() async throws {
        let store = MemoryCacheStore()
        for number in 0..<100 {
            try await store.put(Self.entry(100), for: .test("\(number)"))
        }
        store.makeRoom(downTo: 0)
        #expect(try await store.usage().entries == 0)
        #expect(try await store.usage().bytes == 0)
    }

    @Test func backwardClockExpiresEntries() async throws {
        let clock = Lock(Date())
        let store = MemoryCacheStore(now: { clock.withLock { $0 } })
        try await store.put(CacheEntry(body: [], lifetime: .seconds(1000)), for: .test("k"))
        clock.withLock { $0.addTimeInterval(-1) }
        #expect(try await store.entry(for: .test("k")) == nil)
        clock.withLock { $0.addTimeInterval(1) }
        #expect(try await store.entry(for: .test("k")) == nil)
    }

    @Test func usageOrderMatchesTheModelForRandomCalls() {
        var list = RecencyList<CacheKey, Int>()
        var model: [(key: Int, cost: Int)] = []
        var chance = SystemRandomNumberGenerator()
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<50, using: &chance)
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<4:
                let old = index.map { model.remove(at: $0) }
                #expect((list.use(.test("\(key)")) != nil) == (old != nil))
                old.map { model.append($0) }
            case 4..<8:
                index.map { _ = model.remove(at: $0) }
                model.append((key, step))
                list.set(step, cost: step, for: .test("\(key)"))
            case 8:
                index.map { _ = model.remove(at: $0) }
                #expect(list.remove(.test("\(key)")) == (index != nil))
            default:
                #expect(list.removeOldest() == !model.isEmpty)
                model = Array(model.dropFirst())
            }
            if step % 100 == 0 {
                #expect(list.all.map(\.key) == model.map { .test("\($0.key)") })
                #expect(list.cost == model.reduce(0) { $0 + $1.cost })
                #expect(list.count == model.count)
            }
        }
    }
}

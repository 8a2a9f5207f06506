#if Redis
import Testing

@testable import NetKit
@testable import NetKitRedis

/// Two tiers in several processes.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct InvalidationTests {
    private struct Process {
        let memory = MemoryCacheStore()
        let redis: RedisCacheStore
        let store: TwoTierCacheStore

        init(_ client: RedisClient) throws {
            redis = RedisCacheStore(client)
            store = try redis.twoTier(with: memory)
        }

        /// Waits until the memory has an entry, or has none.
        func remembers(_ word: String, _ expected: Bool) async throws {
            while (try await memory.entry(for: .test(word)) != nil) != expected {
                try Task.checkCancellation()
                _ = expected ? try await store.entry(for: .test(word)) : nil
                await Task.yield()
            }
        }
    }

    /// Waits until the messages of one process arrive at the other.
    private func connect(_ one: Process, _ other: Process) async throws {
        for number in 0... {
            try Task.checkCancellation()
            try await other.memory.put(CacheEntry(body: [0]), for: .test("probe"))
            try await one.store.put(CacheEntry(body: [UInt8(truncatingIfNeeded: number)]), for: .test("probe"))
            for _ in 0..<1000 {
                if try await other.memory.entry(for: .test("probe")) == nil {
                    return
                }
                await Task.yield()
            }
        }
    }

    private func processes(_ clients: [RedisClient]) async throws -> (Process, Process) {
        let (one, other) = (try Process(clients[0]), try Process(clients[1]))
        try await connect(one, other)
        try await connect(other, one)
        return (one, other)
    }

    @Test(arguments: Topology.allCases, [nil, [UInt8](repeating: 9, count: 32)])
    func changeInOneProcessRemovesTheEntryFromTheMemoryOfAnother(topology: Topology, sealKey: [UInt8]?) async throws {
        let (one, other) = try await processes(try await topology.clients(2, .unique, sealKey: sealKey))
        try await one.store.put(CacheEntry(body: [1], host: "h", tags: ["a"]), for: .test("k"))
        try await other.remembers("k", true)
        try await one.store.put(CacheEntry(body: [2], host: "h", tags: ["a"]), for: .test("k"))
        while try await other.store.entry(for: .test("k"))?.body != [2] {
            try Task.checkCancellation()
            await Task.yield()  // a hit in memory does not suspend, and the message needs a thread
        }
        try await one.store.remove(.test("k"))
        try await other.remembers("k", false)
        for remove in [
            { @Sendable in _ = try await one.store.removeAll(.tagged("a")) },
            { @Sendable in _ = try await one.store.removeAll(.host("H")) },
            { @Sendable in _ = try await one.store.removeAll(.all) },
        ] {
            try await one.store.put(CacheEntry(body: [1], host: "h", tags: ["a"]), for: .test("k"))
            try await other.remembers("k", true)
            try await remove()
            try await other.remembers("k", false)
        }
        // The process that has changed an entry keeps it in its own memory.
        try await one.store.put(CacheEntry(body: [3]), for: .test("own"))
        try await connect(one, other)
        #expect(try await one.memory.entry(for: .test("own")) != nil)
    }

    @Test func lostConnectionEmptiesTheMemory() async throws {
        let server = try await RedisServer.start()
        let (one, _) = try await processes([
            try await server.connected(try server.client("p")), try await server.connected(try server.client("p")),
        ])
        try await one.store.put(CacheEntry(body: [1]), for: .test("k"))
        #expect(try await one.memory.entry(for: .test("k")) != nil)
        server.crash()
        try await one.remembers("k", false)
    }
}
#endif

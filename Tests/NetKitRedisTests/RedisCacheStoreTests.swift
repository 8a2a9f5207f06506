#if Redis
import FoundationEssentials
import Testing

@testable import NetKit
@testable import NetKitRedis

/// What a store in Redis does beyond the contract of all stores.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisServer.isInstalled))
struct RedisCacheStoreTests {
    private let key = [UInt8](repeating: 7, count: 32)
    private let client: RedisClient
    private let server: RedisServer

    init() async throws {
        server = try await RedisServer.shared.value
        client = try await server.connected(try server.client(.unique))
    }

    private func names(_ client: RedisClient) async throws -> [String] {
        let items = try await client.send([Bytes("KEYS"), Bytes(client.prefix.dropLast(1) + "*")]).items ?? []
        return items.compactMap(\.bytes).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// Flips one bit of a field of all entries' hashes, in the server.
    private static let flip = RedisScript(
        """
        local v = redis.call('HGET', KEYS[1], ARGV[1])
        local at = ARGV[2] % #v + 1
        local b = bit.bxor(string.byte(v, at), bit.lshift(1, ARGV[3] % 8))
        redis.call('HSET', KEYS[1], ARGV[1], string.sub(v, 1, at - 1) .. string.char(b) .. string.sub(v, at + 1))
        return 1
        """)

    @Test(arguments: [false, true])
    func noFlippedBitOfTenThousandGivesAWrongBody(isSealed: Bool) async throws {
        let client = try await server.connected(try server.client(.unique, sealKey: isSealed ? key : nil))
        let store = RedisCacheStore(client)
        let entry = CacheEntry(
            body: Bytes((0..<200).map { UInt8($0) }), metadata: [1, 2, 3], host: "example.com", tags: ["a", "b"],
            lifetime: .seconds(3600))
        let name = try client.seal.name(Bytes(CacheKey.test("k").description))
        var random = SystemRandomNumberGenerator()
        var wrong = 0
        for step in 0..<5_000 {
            try await store.put(entry, for: .test("k"))
            let field = ["h", "t", "b"][step % 3]
            let place = ["\(UInt32.random(in: 0..<100_000, using: &random))", "\(step / 3)"]
            _ = try await client.run(Self.flip, keys: ["e" + name], [Bytes(field), Bytes(place[0]), Bytes(place[1])])
            if try await store.entry(for: .test("k")) != nil {
                wrong += 1
            }
        }
        #expect(wrong == 0)
        #expect(store.statistics.damaged == 5_000)
        #expect(store.statistics.failedLookups == 0)
    }

    @Test(arguments: [false, true])
    func valueOfAnotherKeyIsAMiss(isSealed: Bool) async throws {
        let client = try await server.connected(try server.client(.unique, sealKey: isSealed ? key : nil))
        let store = RedisCacheStore(client)
        for word in ["one", "two"] {
            try await store.put(CacheEntry(body: Bytes(word)), for: .test(word))
        }
        let names = try ["one", "two"].map { try client.seal.name(Bytes(CacheKey.test($0).description)) }
        let keys = names.map { Bytes(client.prefix + "e" + $0) }
        let fields = try await client.send([Bytes("HMGET"), keys[0], Bytes("h"), Bytes("t"), Bytes("b")]).items ?? []
        let values = fields.compactMap(\.bytes)
        try #require(values.count == 3)
        _ = try await client.send([
            Bytes("HSET"), keys[1], Bytes("h"), values[0], Bytes("t"), values[1], Bytes("b"), values[2],
        ])
        #expect(try await store.entry(for: .test("two")) == nil)
        #expect(try await store.entry(for: .test("one"))?.body == Bytes("one"))
        // The body of one version does not fit the head of another.
        _ = try await client.send([Bytes("HSET"), keys[0], Bytes("b"), values[2] + [0]])
        #expect(try await store.entry(for: .test("one")) == nil)
        #expect(store.statistics.damaged == 2)
    }

    @Test func valueOfAnotherTypeIsAMissAndIsReplaced() async throws {
        let store = RedisCacheStore(client)
        let name = try client.seal.name(Bytes(CacheKey.test("k").description))
        let keys = ["e" + name, "i", try "t" + client.seal.name(Bytes("tag:a"))].map { Bytes(client.prefix + $0) }
        for key in keys {
            _ = try await client.send([Bytes("SET"), key, Bytes("nonsense")])
        }
        #expect(try await store.entry(for: .test("k")) == nil)
        #expect(try await store.removeAll(.tagged("a")) == 0)
        #expect(try await store.list().isEmpty)
        for key in keys {
            _ = try await client.send([Bytes("SET"), key, Bytes("nonsense")])
        }
        try await store.put(CacheEntry(body: [1], tags: ["a"]), for: .test("k"))
        #expect(try await store.entry(for: .test("k"))?.body == [1])
        #expect(try await store.removeAll(.tagged("a")) == 1)
    }

    @Test func entryWhoseTagWasEvictedIsAMiss() async throws {
        let store = RedisCacheStore(client)
        try await store.put(CacheEntry(body: [1], tags: ["a"]), for: .test("k"))
        _ = try await client.send([Bytes("DEL"), Bytes(client.prefix + "t" + (try client.seal.name(Bytes("tag:a"))))])
        #expect(try await store.entry(for: .test("k")) == nil)
        #expect(try await store.list().isEmpty)
    }

    @Test func replacedEntryIsNotRemovedByItsOldTag() async throws {
        let store = RedisCacheStore(client)
        try await store.put(CacheEntry(body: [1], tags: ["old"]), for: .test("k"))
        try await store.put(CacheEntry(body: [2], tags: ["new"]), for: .test("k"))
        #expect(try await store.removeAll(.tagged("old")) == 0)
        #expect(try await store.entry(for: .test("k"))?.body == [2])
        #expect(try await store.removeAll(.tagged("new")) == 1)
    }

    @Test func manyEntriesAreRemovedAndListedInSteps() async throws {
        let store = RedisCacheStore(client)
        let count = RedisCacheStore.step * 2 + 3
        for number in 0..<count {
            try await store.put(CacheEntry(body: [1], host: "h", tags: ["all"]), for: .test("\(number)"))
        }
        #expect(try await store.list().count == count)
        #expect(try await store.usage().entries == count)
        #expect(try await store.removeAll(.tagged("all")) == count)
        #expect(try await names(client) == [])
    }

    @Test func everythingOnTheServerExpires() async throws {
        let store = RedisCacheStore(client, maximumAge: .seconds(1000))
        try await store.put(CacheEntry(body: [1], host: "h", tags: ["a"]), for: .test("k"))
        try await store.put(CacheEntry(body: [1], host: "h", tags: ["a"], lifetime: .seconds(9)), for: .test("l"))
        for name in try await names(client) {
            let life = try await client.send([Bytes("PTTL"), Bytes(name)]).integer ?? -1
            #expect((1...1_000_000).contains(life))
        }
        let name = try client.seal.name(Bytes(CacheKey.test("l").description))
        let life = try await client.send([Bytes("PTTL"), Bytes(client.prefix + "e" + name)]).integer ?? -1
        #expect((1...9_000).contains(life))
    }

    @Test func entryThatIsTooLargeIsRefused() async throws {
        let store = RedisCacheStore(client, maximumEntryBytes: 100)
        try await store.put(CacheEntry(body: Bytes([UInt8](repeating: 1, count: 100))), for: .test("k"))
        let error = await #expect(throws: NetError.self) {
            try await store.put(CacheEntry(body: Bytes([UInt8](repeating: 1, count: 101))), for: .test("k"))
        }
        #expect(error?.code == .tooLarge)
        #expect(try await store.entry(for: .test("k"))?.body.count == 100)
    }

    @Test func sealedStoreShowsTheServerNothing() async throws {
        let client = try await server.connected(try server.client(.unique, sealKey: key))
        let store = RedisCacheStore(client)
        let secret = "a secret of example.com"
        try await store.put(
            CacheEntry(body: Bytes(secret), metadata: Bytes(secret), host: secret, tags: [secret]), for: .test(secret))
        for name in try await names(client) {
            #expect(!name.contains("secret"))
            guard let fields = try? await client.send([Bytes("HVALS"), Bytes(name)]).items else { continue }
            for field in fields.compactMap(\.bytes) {
                #expect(!String(decoding: field, as: UTF8.self).contains("secret"))
            }
        }
        #expect(try await store.entry(for: .test(secret))?.body == Bytes(secret))
        // With another key, the entry cannot even be found.
        let other = try await server.connected(
            try server.client(
                String(client.prefix.dropFirst().dropLast(2)), sealKey: [UInt8](repeating: 8, count: 32)))
        #expect(try await RedisCacheStore(other).entry(for: .test(secret)) == nil)
        #expect("\(client)" == "RedisClient(\(client.prefix))" && !"\(String(reflecting: client))".contains("7, 7"))
    }

    @Test func processesWithDifferentPrefixesShareNothing() async throws {
        let other = RedisCacheStore(try await server.connected(try server.client(.unique)))
        let store = RedisCacheStore(client)
        try await store.put(CacheEntry(body: [1]), for: .test("k"))
        #expect(try await other.entry(for: .test("k")) == nil)
        #expect(try await other.removeAll(.all) == 0)
        #expect(try await store.entry(for: .test("k")) != nil)
    }

    @Test(arguments: ["", "a b", "{a}", String(repeating: "a", count: 65)])
    func prefixThatIsNotValidIsRefused(prefix: String) {
        let error = #expect(throws: NetError.self) { try RedisClient("redis://localhost", prefix: prefix) }
        #expect(error?.code == .usage)
    }
}
#endif

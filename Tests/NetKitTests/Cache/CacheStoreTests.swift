import FoundationEssentials
import Testing

@testable import NetKit

/// The contract of every store.
@Suite(.timeLimit(.minutes(5)))
struct CacheStoreTests {
    enum Kind: CaseIterable {
        case memory, disk, sealed, twoTier
    }

    private let folder: TemporaryTree

    init() throws {
        folder = try TemporaryTree()
    }

    private func store(_ kind: Kind) -> any CacheStore {
        let disk = DiskCacheStore(directory: folder.file("store"))
        return switch kind {
        case .memory: MemoryCacheStore()
        case .disk: disk
        case .sealed: DiskCacheStore(directory: folder.file("sealed"), sealKey: [UInt8](repeating: 7, count: 32))
        case .twoTier: TwoTierCacheStore(first: MemoryCacheStore(hardLimit: 100_000), second: disk)
        }
    }

    @Test(arguments: Kind.allCases)
    func anEntryComesBackAsItWasPut(kind: Kind) async throws {
        let store = store(kind)
        var entry = CacheEntry(
            body: Bytes([UInt8](repeating: 3, count: 3000)), metadata: [0, 255, 10], host: "example.com",
            tags: ["a", "user:7", "ö"], lifetime: .seconds(90), created: Date(timeIntervalSince1970: 0))
        entry.created = Date()
        try await store.put(entry, for: .test("k"))
        let found = try #require(try await store.entry(for: .test("k")))
        #expect(found.body == entry.body)
        #expect(found.metadata == entry.metadata)
        #expect(found.host == entry.host)
        #expect(found.tags == entry.tags)
        #expect(found.lifetime == entry.lifetime)
        let created = try #require(found.created)
        #expect(abs(created.timeIntervalSince(entry.created ?? .distantPast)) < 0.002)
    }

    @Test(arguments: Kind.allCases)
    func anEntryOfThisInstantIsNotFromTheFuture(kind: Kind) async throws {
        let store = store(kind)
        for number in 0..<50 {
            let entry = CacheEntry(body: Bytes([1]), lifetime: .seconds(90), created: Date())
            try await store.put(entry, for: .test("\(number)"))
            #expect(try await store.entry(for: .test("\(number)")) != nil)
        }
    }

    @Test(arguments: Kind.allCases)
    func nothingIsNoError(kind: Kind) async throws {
        let store = store(kind)
        #expect(try await store.entry(for: .test("nobody")) == nil)
        #expect(try await store.remove(.test("nobody")) == false)
        #expect(try await store.removeAll(tagged: "") == 0)
        #expect(try await store.removeAll(from: "") == 0)
        #expect(try await store.removeAll() == 0)
        #expect(try await store.list().isEmpty)
        #expect(try await store.usage().misses == 1)
    }

    @Test(arguments: Kind.allCases)
    func anEntryIsReplaced(kind: Kind) async throws {
        let store = store(kind)
        for text in ["first", "second", ""] {
            try await store.put(CacheEntry(body: Bytes(Array(text.utf8))), for: .test("k"))
            #expect(try await store.entry(for: .test("k"))?.body == Bytes(Array(text.utf8)))
        }
        #expect(try await store.usage().entries == 1)
        #expect(try await store.entry(for: .test("k"))?.created != nil)
    }

    @Test(arguments: Kind.allCases)
    func entriesGoOneByOneByTagByHostAndAllAtOnce(kind: Kind) async throws {
        let store = store(kind)
        for (key, host, tags) in [
            ("1", "example.com", ["red", "blue"]), ("2", "EXAMPLE.com", ["blue"]), ("3", "example.org", ["reddish"]),
            ("4", "", []), ("5", "", ["red"]),
        ] as [(String, String, Set<String>)] {
            try await store.put(CacheEntry(body: [1], host: host, tags: tags), for: .test(key))
        }
        #expect(try await store.list().count == 5)
        #expect(try await store.remove(.test("5")))
        #expect(try await store.removeAll(tagged: "red") == 1)
        #expect(try await store.removeAll(from: "Example.COM") == 1)
        #expect(Set(try await store.list().map(\.key)) == [.test("3"), .test("4")])
        #expect(try await store.entry(for: .test("1")) == nil)
        #expect(try await store.removeAll() == 2)
        #expect(try await store.list().isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func aListShowsAllButTheBody(kind: Kind) async throws {
        let store = store(kind)
        try await store.put(CacheEntry(body: [1, 2, 3], metadata: [9], host: "h", tags: ["t"]), for: .test("k"))
        let line = try #require(try await store.list().first)
        #expect(line.key == .test("k"))
        #expect(line.key.name == CacheKey.test("k").name)
        #expect(line.bodyBytes == 3)
        #expect(line.entry.body.isEmpty)
        #expect(line.entry.metadata == [9] && line.entry.host == "h" && line.entry.tags == ["t"])
    }

    @Test(arguments: Kind.allCases)
    func whatHasOutlivedItsLifetimeIsGone(kind: Kind) async throws {
        let store = store(kind)
        let past = Date(timeIntervalSinceNow: -100)
        let future = Date(timeIntervalSinceNow: 100)
        try await store.put(CacheEntry(body: [1], lifetime: .seconds(99), created: past), for: .test("over"))
        try await store.put(CacheEntry(body: [1], lifetime: .seconds(200), created: past), for: .test("not yet"))
        try await store.put(CacheEntry(body: [1], lifetime: .seconds(200), created: future), for: .test("from later"))
        try await store.put(CacheEntry(body: [1], created: future), for: .test("for ever"))
        #expect(try await store.entry(for: .test("over")) == nil)
        #expect(try await store.entry(for: .test("not yet")) != nil)
        #expect(try await store.entry(for: .test("from later")) == nil)
        #expect(try await store.entry(for: .test("for ever")) != nil)
        #expect(try await store.list().count == 2)
    }

    @Test(arguments: Kind.allCases)
    func manyTasksMayUseItAtOnce(kind: Kind) async throws {
        let store = store(kind)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<40 {
                        let key = CacheKey.test("\((task + step) % 10)")
                        let body = Bytes([UInt8](repeating: UInt8((task + step) % 10), count: 2000))
                        try await store.put(CacheEntry(body: body), for: key)
                        let found = try await store.entry(for: key)
                        #expect(found?.body == body)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.usage().entries == 10)
    }
}

extension CacheKey {
    /// Returns a key made of a word.
    static func test(_ word: String) -> CacheKey { CacheKey(description: Array(word.utf8)) }
}

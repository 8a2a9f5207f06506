import FoundationEssentials
import Testing

@testable import NetKit

/// The contract of every store. A test target with further stores has a link to this file and its own `Stores`.
@Suite(.timeLimit(.minutes(5)))
struct CacheStoreTests {
    private let stores: Stores

    init() async throws {
        stores = try await Stores()
    }

    @Test(arguments: Stores.Kind.allCases)
    func storedEntryIsReadBackUnchanged(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
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

    @Test(arguments: Stores.Kind.allCases)
    func entryStoredNowIsNotFromTheFuture(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
        for number in 0..<50 {
            let entry = CacheEntry(body: Bytes([1]), lifetime: .seconds(90), created: Date())
            try await store.put(entry, for: .test("\(number)"))
            #expect(try await store.entry(for: .test("\(number)")) != nil)
        }
    }

    @Test(arguments: Stores.Kind.allCases)
    func missingEntryIsNotAnError(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
        #expect(try await store.entry(for: .test("nobody")) == nil)
        #expect(try await store.remove(.test("nobody")) == false)
        #expect(try await store.removeAll(.tagged("")) == 0)
        #expect(try await store.removeAll(.host("")) == 0)
        #expect(try await store.removeAll(.all) == 0)
        #expect(try await store.list().isEmpty)
        #expect(try await store.usage().misses == 1)
    }

    @Test(arguments: Stores.Kind.allCases)
    func anEntryIsReplaced(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
        for text in ["first", "second", ""] {
            try await store.put(CacheEntry(body: Bytes(Array(text.utf8))), for: .test("k"))
            #expect(try await store.entry(for: .test("k"))?.body == Bytes(Array(text.utf8)))
        }
        #expect(try await store.usage().entries == 1)
        #expect(try await store.entry(for: .test("k"))?.created != nil)
    }

    @Test(arguments: Stores.Kind.allCases)
    func entriesAreRemovedByKeyTagHostAndAllTogether(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
        for (key, host, tags) in [
            ("1", "example.com", ["red", "blue"]), ("2", "EXAMPLE.com", ["blue"]), ("3", "example.org", ["reddish"]),
            ("4", "", []), ("5", "", ["red"]),
        ] as [(String, String, Set<String>)] {
            try await store.put(CacheEntry(body: [1], host: host, tags: tags), for: .test(key))
        }
        #expect(try await store.list().count == 5)
        #expect(try await store.remove(.test("5")))
        #expect(try await store.removeAll(.tagged("red")) == 1)
        #expect(try await store.removeAll(.host("Example.COM")) == 1)
        #expect(Set(try await store.list().map(\.key)) == [.test("3"), .test("4")])
        #expect(try await store.entry(for: .test("1")) == nil)
        #expect(try await store.removeAll(.all) == 2)
        #expect(try await store.list().isEmpty)
    }

    @Test(arguments: Stores.Kind.allCases)
    func listContainsEverythingExceptBodies(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
        try await store.put(CacheEntry(body: [1, 2, 3], metadata: [9], host: "h", tags: ["t"]), for: .test("k"))
        let line = try #require(try await store.list().first)
        #expect(line.key == .test("k"))
        #expect(line.key.name == CacheKey.test("k").name)
        #expect(line.bodyBytes == 3)
        #expect(line.entry.body.isEmpty)
        #expect(line.entry.metadata == [9] && line.entry.host == "h" && line.entry.tags == ["t"])
    }

    @Test(arguments: Stores.Kind.allCases)
    func expiredEntryIsRemoved(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
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

    @Test(arguments: Stores.Kind.allCases)
    func storeIsSafeForConcurrentUse(kind: Stores.Kind) async throws {
        let store = try stores.store(kind)
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

import FoundationEssentials
import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct DiskCacheStoreTests {
    private let folder: TemporaryTree

    init() throws {
        folder = try TemporaryTree()
    }

    @Test func entrySurvivesReopeningTheStore() async throws {
        let path = folder.file("a") + "/b"
        try await DiskCacheStore(directory: path).put(CacheEntry(body: [1, 2]), for: .test("k"))
        let next = DiskCacheStore(directory: path, durability: .directory)
        #expect(try await next.entry(for: .test("k"))?.body == [1, 2])
        let report = try await next.verify()
        #expect(report == .init(good: 1, damaged: 0, expired: 0, locked: 0, leftovers: 0, foreign: 0))
    }

    @Test func bodyOutlivesItsEntryAndItsStore() async throws {
        var store: DiskCacheStore? = DiskCacheStore(directory: folder.file("store"))
        let bytes = [UInt8](repeating: 5, count: 500_000)
        try await store?.put(CacheEntry(body: Bytes(bytes)), for: .test("k"))
        let body = try #require(try await store?.entry(for: .test("k"))).body
        try await store?.removeAll(.all)
        store = nil
        #expect(Array(body) == bytes)
    }

    @Test func fileAtTheDirectoryPathIsReportedAndNotDeleted() async throws {
        let path = folder.file("file")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("precious".utf8)))
        let error = await #expect(throws: NetError.self) {
            try await DiskCacheStore(directory: path).entry(for: .test("k"))
        }
        #expect(error?.code == .file)
        #expect(error?.message.contains(path) == true)
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    }

    @Test func invalidConfigurationIsRejectedOnFirstUse() async {
        let path = folder.file("store")
        for store in [
            DiskCacheStore(directory: ""), DiskCacheStore(directory: "a\0b"),
            DiskCacheStore(directory: path, maximumBytes: 0), DiskCacheStore(directory: path, maximumEntries: 0),
            DiskCacheStore(directory: path, maximumShare: 101), DiskCacheStore(directory: path, sealKey: [1]),
        ] {
            let error = await #expect(throws: NetError.self) { try await store.usage() }
            #expect(error?.code == .usage)
        }
        let store = DiskCacheStore(directory: path)
        let entry = CacheEntry(body: [], tags: ["a\0b"])
        let error = await #expect(throws: NetError.self) { try await store.put(entry, for: .test("k")) }
        #expect(error?.code == .usage)
    }

    @Test func oversizedEntryIsRejectedAndTheOldOneStays() async throws {
        let store = DiskCacheStore(directory: folder.file("store"), maximumBytes: 20_000)
        try await store.put(CacheEntry(body: [1]), for: .test("k"))
        let large = CacheEntry(body: Bytes([UInt8](repeating: 0, count: 1000)))
        let error = await #expect(throws: NetError.self) { try await store.put(large, for: .test("k")) }
        #expect(error?.code == .tooLarge)
        #expect(try await store.entry(for: .test("k"))?.body == [1])
    }

    @Test func defaultDirectoryBelongsToTheApplication() throws {
        #expect(try DiskCacheStore.defaultDirectory(app: "example").hasSuffix("/example/netkit"))
        for name in ["", "..", "a/b", "a\0b"] {
            #expect(throws: NetError.self) { try DiskCacheStore.defaultDirectory(app: name) }
        }
    }

    @Test func hitInTheSecondTierIsPromotedWithItsTimestamp() async throws {
        let memory = MemoryCacheStore()
        let disk = DiskCacheStore(directory: folder.file("store"))
        let both = TwoTierCacheStore(first: memory, second: disk)
        let created = Date(timeIntervalSince1970: 1_700_000_000)
        try await disk.put(CacheEntry(body: [1], created: created), for: .test("k"))
        #expect(try await both.entry(for: .test("k"))?.body == [1])
        #expect(try await memory.entry(for: .test("k"))?.created == created)
        // A hit in memory does not depend on the disk.
        try await disk.removeAll(.all)
        #expect(try await both.entry(for: .test("k"))?.body == [1])
    }

    @Test func entryTooLargeForTheFirstTierIsStoredInTheSecond() async throws {
        let both = TwoTierCacheStore(
            first: MemoryCacheStore(hardLimit: 20_000), second: DiskCacheStore(directory: folder.file("store")))
        try await both.put(CacheEntry(body: [1]), for: .test("k"))
        let large = Bytes([UInt8](repeating: 0, count: 5000))
        try await both.put(CacheEntry(body: large), for: .test("k"))
        #expect(try await both.entry(for: .test("k"))?.body == large)
    }
}

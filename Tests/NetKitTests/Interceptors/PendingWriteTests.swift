import FoundationEssentials
import NetKit
@testable import NetKitTesting
import Testing

/// A call finds the entry that an earlier call is still writing in the background.
@Suite(.timeLimit(.minutes(5)))
struct PendingWriteTests {
    private static let fresh = StubReply(headers: ["Cache-Control": "max-age=600"], body: [.text("x")])

    private static func rules() -> [CacheRules] {
        [.http(HTTPCachePolicy()), .application(CachePolicy(maximumAge: .seconds(600)))]
    }

    @Test func theNextSendOfTheSameTaskIsAHit() async throws {
        let folder = try TemporaryFolder()
        for (number, rules) in Self.rules().enumerated() {
            let stores: [any CacheStore] = [
                MemoryCacheStore(), DiskCacheStore(directory: folder.file("store\(number)")),
            ]
            for store in stores {
                let fixture = CacheFixture(rules, store: store)
                fixture.stub.register("*", with: Self.fresh)
                for index in 0..<50 {
                    let request = Request<String>("/\(index)")
                    #expect(try await fixture.agent.send(request).cache?.outcome == .network)
                    #expect(try await fixture.agent.send(request).cache?.outcome == .hit)
                }
                #expect(fixture.stub.requests.count == 50)
            }
        }
    }

    @Test func lookupWaitsOnlyForPendingWritesOfItsKey() async throws {
        for rules in Self.rules() {
            let store = GatedStore()
            let fixture = CacheFixture(rules, store: store)
            fixture.stub.register("*", with: Self.fresh)
            _ = try await fixture.agent.send(Request<String>("/a"))
            try await store.gate.waitForArrivals(1)
            let second = Task { try await fixture.agent.send(Request<String>("/a")).cache?.outcome }
            // A call with another key does not wait.
            #expect(try await fixture.agent.send(Request<String>("/b")).cache?.outcome == .network)
            store.gate.open()
            #expect(try await second.value == .hit)
            #expect(fixture.stub.requests.map(\.path) == ["/a", "/b"])
        }
    }

    @Test func aCancelledCallDoesNotWaitForAWrite() async throws {
        let store = GatedStore()
        let fixture = CacheFixture(.http(HTTPCachePolicy()), store: store)
        fixture.stub.register("*", with: Self.fresh)
        _ = try await fixture.agent.send(Request<String>("/a"))
        try await store.gate.waitForArrivals(1)
        let task = Task { await ending(of: Request<String>("/a"), from: fixture.agent) }
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        store.gate.open()
    }

    @Test func pendingWriteDoesNotServeAGetAfterAChange() async throws {
        let store = GatedStore()
        let fixture = CacheFixture(.http(HTTPCachePolicy()), store: store)
        fixture.stub.register("/a", method: .get, with: Self.fresh)
        fixture.stub.register("/a", method: .put, with: .status(204))
        _ = try await fixture.agent.send(Request<String>("/a"))
        try await store.gate.waitForArrivals(1)
        _ = try await fixture.agent.send(Request<Void>("/a", method: .put, body: .text("y")))
        store.gate.open()
        #expect(try await fixture.agent.send(Request<String>("/a")).cache?.outcome == .network)
    }

    @Test func fullyReadStreamIsFoundInTheCache() async throws {
        let fixture = CacheFixture(.http(HTTPCachePolicy()), store: MemoryCacheStore())
        fixture.stub.register("*", with: Self.fresh)
        _ = try await fixture.agent.stream(Request<String>("/a")).collect(upTo: 100)
        #expect(try await fixture.agent.send(Request<String>("/a")).cache?.outcome == .hit)
    }

    @Test func hookThatRequestsTheEntryBeingStoredDoesNotDeadlock() async throws {
        let agents = Collected<Agent>()
        let requestCount = Counter()
        let fixture = CacheFixture(.http(HTTPCachePolicy()), store: MemoryCacheStore()) { configuration in
            configuration.interceptors.append(
                TransferHooks(willStore: { answer in
                    if requestCount.increment() == 1 {
                        _ = try await agents.values[0].send(Request<String>("/a"))
                    }
                    return answer
                }))
        }
        agents.append(fixture.agent)
        defer { agents.removeAll() }  // Breaks the cycle: the agent's hook holds the agent.
        fixture.stub.register("*", with: Self.fresh)
        _ = try await fixture.agent.send(Request<String>("/a"))
        #expect(try await fixture.agent.send(Request<String>("/a")).value == "x")
        await fixture.caching.finish()
    }

    @Test func reportStatesWhetherTheResponseWasStored() async throws {
        for isBehind in [false, true] {
            var policy = HTTPCachePolicy()
            policy.writesAsynchronously = isBehind
            let store = GatedStore(isBroken: true)
            store.gate.open()
            let fixture = CacheFixture(.http(policy), store: store)
            fixture.stub.register("*", with: Self.fresh)
            let first = try await fixture.agent.send(Request<String>("/a"))
            #expect(first.cache?.isStorable == isBehind)
            await fixture.caching.finish()
            #expect(try await fixture.agent.send(Request<String>("/b")).cache?.isStorable == false)
        }
    }

    @Test func removedDirectoryIsCreatedAgain() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store")
        let fixture = CacheFixture(.http(HTTPCachePolicy()), store: DiskCacheStore(directory: path))
        fixture.stub.register("*", with: Self.fresh)
        for isMadeByAnother in [false, true] {
            _ = try await fixture.agent.send(Request<String>("/a"))
            #expect(try await fixture.agent.send(Request<String>("/a")).cache?.isHit == true)
            await fixture.caching.finish()
            try FileManager.default.removeItem(atPath: path)
            if isMadeByAnother {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let response = try await fixture.agent.send(Request<String>("/a"))
            #expect(response.cache?.outcome == .network && response.cache?.isStorable == true)
            #expect(try await fixture.agent.send(Request<String>("/a")).cache?.isHit == true)
        }
    }
}

/// A store in memory whose writes wait at a gate, and may fail.
private final class GatedStore: CacheStore {
    let gate = StubGate()
    private let inner = MemoryCacheStore()
    private let isBroken: Bool

    init(isBroken: Bool = false) {
        self.isBroken = isBroken
    }

    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        // Entries without a host hold the cache's own secret. They do not wait at the gate.
        if entry.host.isEmpty {
            return try await inner.put(entry, for: key)
        }
        try await gate.pass()
        if isBroken {
            throw NetError(.file, "the disk is gone")
        }
        try await inner.put(entry, for: key)
    }

    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? { try await inner.entry(for: key) }
    func removeAll(_ selection: CacheSelection) async throws(NetError) -> Int {
        try await inner.removeAll(selection)
    }
    func list() async throws(NetError) -> [CacheListing] { try await inner.list() }
    func usage() async throws(NetError) -> CacheUsage { try await inner.usage() }
}

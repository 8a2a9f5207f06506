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
                let scene = CacheScene(rules, store: store)
                scene.stub.answer("*", with: Self.fresh)
                for index in 0..<50 {
                    let request = Request<String>("/\(index)")
                    #expect(try await scene.agent.send(request).cache?.outcome == .network)
                    #expect(try await scene.agent.send(request).cache?.outcome == .hit)
                }
                #expect(scene.stub.requests.count == 50)
            }
        }
    }

    @Test func aLookupWaitsForThePendingWriteOfItsKeyAlone() async throws {
        for rules in Self.rules() {
            let store = GatedStore()
            let scene = CacheScene(rules, store: store)
            scene.stub.answer("*", with: Self.fresh)
            _ = try await scene.agent.send(Request<String>("/a"))
            try await store.gate.waitForArrivals(1)
            let second = Task { try await scene.agent.send(Request<String>("/a")).cache?.outcome }
            // A call with another key does not wait.
            #expect(try await scene.agent.send(Request<String>("/b")).cache?.outcome == .network)
            store.gate.open()
            #expect(try await second.value == .hit)
            #expect(scene.stub.requests.map(\.path) == ["/a", "/b"])
        }
    }

    @Test func aCancelledCallDoesNotWaitForAWrite() async throws {
        let store = GatedStore()
        let scene = CacheScene(.http(HTTPCachePolicy()), store: store)
        scene.stub.answer("*", with: Self.fresh)
        _ = try await scene.agent.send(Request<String>("/a"))
        try await store.gate.waitForArrivals(1)
        let task = Task { await ending(of: Request<String>("/a"), from: scene.agent) }
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        store.gate.open()
    }

    @Test func afterAChangeTheNextGetIsNotAnsweredByAWriteThatWasPending() async throws {
        let store = GatedStore()
        let scene = CacheScene(.http(HTTPCachePolicy()), store: store)
        scene.stub.answer("/a", method: .get, with: Self.fresh)
        scene.stub.answer("/a", method: .put, with: .status(204))
        _ = try await scene.agent.send(Request<String>("/a"))
        try await store.gate.waitForArrivals(1)
        _ = try await scene.agent.send(Request<Void>("/a", method: .put, body: .text("y")))
        store.gate.open()
        #expect(try await scene.agent.send(Request<String>("/a")).cache?.outcome == .network)
    }

    @Test func aStreamThatWasReadToItsEndIsFound() async throws {
        let scene = CacheScene(.http(HTTPCachePolicy()), store: MemoryCacheStore())
        scene.stub.answer("*", with: Self.fresh)
        _ = try await scene.agent.stream(Request<String>("/a")).collect(upTo: 100)
        #expect(try await scene.agent.send(Request<String>("/a")).cache?.outcome == .hit)
    }

    @Test func aHookThatAsksForWhatIsBeingStoredDoesNotWaitForItself() async throws {
        let agents = Collected<Agent>()
        let asked = Counter()
        let scene = CacheScene(.http(HTTPCachePolicy()), store: MemoryCacheStore()) { configuration in
            configuration.transferHooks.willStore = { answer in
                if asked.increment() == 1 {
                    _ = try await agents.values[0].send(Request<String>("/a"))
                }
                return answer
            }
        }
        agents.append(scene.agent)
        defer { agents.removeAll() }  // Breaks the cycle: the agent's hook holds the agent.
        scene.stub.answer("*", with: Self.fresh)
        _ = try await scene.agent.send(Request<String>("/a"))
        #expect(try await scene.agent.send(Request<String>("/a")).value == "x")
        await scene.caching.finish()
    }

    @Test func theReportSaysWhetherTheStoreTookTheAnswer() async throws {
        for isBehind in [false, true] {
            var policy = HTTPCachePolicy()
            policy.writesAsynchronously = isBehind
            let store = GatedStore(isBroken: true)
            store.gate.open()
            let scene = CacheScene(.http(policy), store: store)
            scene.stub.answer("*", with: Self.fresh)
            let first = try await scene.agent.send(Request<String>("/a"))
            #expect(first.cache?.isStorable == isBehind)
            await scene.caching.finish()
            #expect(try await scene.agent.send(Request<String>("/b")).cache?.isStorable == false)
        }
    }

    @Test func aFolderThatWasRemovedIsMadeAgain() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store")
        let scene = CacheScene(.http(HTTPCachePolicy()), store: DiskCacheStore(directory: path))
        scene.stub.answer("*", with: Self.fresh)
        for isMadeByAnother in [false, true] {
            _ = try await scene.agent.send(Request<String>("/a"))
            #expect(try await scene.agent.send(Request<String>("/a")).cache?.isHit == true)
            await scene.caching.finish()
            try FileManager.default.removeItem(atPath: path)
            if isMadeByAnother {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let response = try await scene.agent.send(Request<String>("/a"))
            #expect(response.cache?.outcome == .network && response.cache?.isStorable == true)
            #expect(try await scene.agent.send(Request<String>("/a")).cache?.isHit == true)
        }
    }
}

/// A store in memory whose writes wait at a gate, and may fail.
private final class GatedStore: CacheStore {
    let gate = StubGate()
    private let kept = MemoryCacheStore()
    private let isBroken: Bool

    init(isBroken: Bool = false) {
        self.isBroken = isBroken
    }

    func put(_ entry: CacheEntry, for key: CacheKey) async throws(NetError) {
        // The gate does not hold the cache's own secret.
        if entry.host.isEmpty {
            return try await kept.put(entry, for: key)
        }
        try await gate.pass()
        if isBroken {
            throw NetError(.file, "the disk is gone")
        }
        try await kept.put(entry, for: key)
    }

    func entry(for key: CacheKey) async throws(NetError) -> CacheEntry? { try await kept.entry(for: key) }
    func remove(_ key: CacheKey) async throws(NetError) -> Bool { try await kept.remove(key) }
    func removeAll(tagged tag: String) async throws(NetError) -> Int { try await kept.removeAll(tagged: tag) }
    func removeAll(from host: String) async throws(NetError) -> Int { try await kept.removeAll(from: host) }
    func removeAll() async throws(NetError) -> Int { try await kept.removeAll() }
    func list() async throws(NetError) -> [CacheListing] { try await kept.list() }
    func usage() async throws(NetError) -> CacheUsage { try await kept.usage() }
}

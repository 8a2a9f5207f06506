#if Redis
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@testable import NetKit
@testable import NetKitRedis

/// What happens to requests when the server has a fault.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct RedisFaultTests {
    /// An agent with a cache in Redis. The first response has the body "1", the next "2".
    private struct Fixture {
        let store: RedisCacheStore
        let agent: Agent
        let stub = StubTransport()
        let client: RedisClient

        init(_ client: RedisClient, limit: Bool = false) {
            self.client = client
            store = RedisCacheStore(client)
            stub.register("*", with: (1...9).map { .text("\($0)") })
            var policy = CachePolicy(maximumAge: .seconds(3600))
            policy.writesAsynchronously = false
            let caching = Caching(store, rules: .application(policy), hashKey: Bytes([UInt8](repeating: 1, count: 32)))
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [SharedFlight(client, caching), caching]
            if limit {
                configuration.interceptors.append(SharedRateLimit(1000, per: .seconds(1), redis: client))
            }
            agent = Agent(configuration, transport: stub)
        }

        func text() async throws -> String { try await agent.send(Request<String>("/")).value }
    }

    @Test func stoppedServerIsAMissAndNoRequestFails() async throws {
        let server = try await RedisServer.start()
        let first = Fixture(try await server.connected(try server.client("p")))
        #expect(try await first.text() == "1")
        #expect(try await first.text() == "1")
        // A short time limit, so that the test does not wait for long.
        let late = Fixture(try server.client("p", timeLimit: .milliseconds(20)), limit: true)
        server.kill(SIGSTOP)
        for number in 1...3 {
            #expect(try await late.text() == "\(number)")
        }
        #expect(late.store.statistics.failedLookups >= 3)
        await #expect(throws: NetError.self) { try await late.store.removeAll(.tagged("a")) }
        server.kill(SIGCONT)
    }

    @Test func serverThatCrashesAndReturnsEmptyIsAMissAndNoRequestFails() async throws {
        let server = try await RedisServer.start()
        let fixture = Fixture(try await server.connected(try server.client("p")), limit: true)
        #expect(try await fixture.text() == "1")
        #expect(try await fixture.text() == "1")
        server.crash()
        #expect(try await fixture.text() == "2")
        #expect(try await fixture.text() == "3")
        try await server.start()
        _ = try await server.connected(fixture.client)
        // The scripts are gone too.
        #expect(try await fixture.text() == "4")
        #expect(try await fixture.text() == "4")
    }

    @Test func fullServerStoresNothingAndNoRequestFails() async throws {
        let server = try await RedisServer.start(["--maxmemory", "1", "--maxmemory-policy", "noeviction"])
        let fixture = Fixture(try await server.connected(try server.client("p")), limit: true)
        for number in 1...3 {
            #expect(try await fixture.text() == "\(number)")
        }
        #expect(fixture.store.statistics.failedChanges >= 3)
        #expect(fixture.store.statistics.hits == 0)
    }

    @Test func entryThatCannotBeReplacedStaysAndIsWhole() async throws {
        let server = try await RedisServer.start(["--maxmemory-policy", "noeviction"])
        let client = try await server.connected(try server.client("p"))
        let store = RedisCacheStore(client)
        try await store.put(CacheEntry(body: [1], tags: ["a"]), for: .test("k"))
        _ = try await client.send([Bytes("CONFIG"), Bytes("SET"), Bytes("maxmemory"), Bytes("1")])
        await #expect(throws: NetError.self) {
            try await store.put(CacheEntry(body: [2], tags: ["b"]), for: .test("k"))
        }
        #expect(try await store.entry(for: .test("k"))?.body == [1])
        // A removal needs no memory.
        #expect(try await store.removeAll(.tagged("a")) == 1)
        #expect(try await store.entry(for: .test("k")) == nil)
    }

    @Test func absentServerIsAMissAndNoRequestFails() async throws {
        let fixture = Fixture(
            try RedisClient("unix:///tmp/nk-no-such-socket", timeLimit: .milliseconds(20)), limit: true)
        #expect(try await fixture.text() == "1")
        #expect(try await fixture.text() == "2")
    }
}
#endif

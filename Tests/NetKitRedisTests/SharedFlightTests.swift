#if Redis
import NetKitTesting
import Testing

@testable import NetKit
@testable import NetKitRedis

@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedFlightTests {
    private let server: RedisServer
    private let stub = StubTransport()
    private let gate = StubGate()
    private let prefix = String.unique

    init() async throws {
        server = try await RedisServer.shared.value
    }

    /// Returns an agent with connection, cache and interceptors of its own, as another process would have.
    private func agent(
        _ rules: CacheRules = .http(HTTPCachePolicy()), lockTime: Duration = .seconds(3600)
    ) async throws -> (agent: Agent, flight: SharedFlight) {
        let client = try await server.connected(try server.client(prefix))
        let caching = Caching(
            RedisCacheStore(client), rules: rules, hashKey: Bytes([UInt8](repeating: 1, count: 32)))
        let flight = SharedFlight(client, caching, lockTime: lockTime)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [flight, caching]
        return (Agent(configuration, transport: stub), flight)
    }

    private func reply(_ text: String, _ control: String = "max-age=3600") -> StubReply {
        StubReply(headers: ["Content-Type": "text/plain", "Cache-Control": control], body: [.text(text)])
    }

    /// Sends a request with each agent. The reply waits until all others wait for it.
    private func sendTogether(_ agents: [(agent: Agent, flight: SharedFlight)]) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for (agent, _) in agents {
                group.addTask { try await agent.send(Request<String>("/")).value }
            }
            while agents.reduce(0, { $0 + $1.flight.statistics.waiting }) < agents.count - 1 {
                try Task.checkCancellation()
                await Task.yield()
            }
            gate.open()
            var texts: [String] = []
            for try await text in group {
                texts.append(text)
            }
            return texts
        }
    }

    @Test func twentyProcessesSendOneRequest() async throws {
        stub.register("*", with: reply("first").held(by: gate), reply("again"))
        var agents: [(agent: Agent, flight: SharedFlight)] = []
        for _ in 0..<20 {
            agents.append(try await agent())
        }
        let texts = try await sendTogether(agents)
        #expect(texts == Array(repeating: "first", count: 20))
        #expect(stub.requests.count == 1)
        #expect(agents.reduce(0) { $0 + $1.flight.statistics.leading } == 1)
        #expect(agents.reduce(0) { $0 + $1.flight.statistics.unlocked } == 0)
    }

    @Test func responseThatIsNotStoredIsNotShared() async throws {
        stub.register("*", with: reply("mine", "no-store").held(by: gate), reply("yours", "no-store"))
        let agents = [try await agent(), try await agent(), try await agent()]
        let texts = try await sendTogether(agents)
        #expect(texts.sorted() == ["mine", "yours", "yours"])
    }

    @Test func lockOfAProcessThatHasEndedExpires() async throws {
        stub.register("*", with: reply("text"))
        let (agent, flight) = try await agent(lockTime: .milliseconds(200))
        // Another process has taken the lock, and never returns it.
        let client = try server.client(prefix)
        _ = try await server.connected(client)
        let caching = Caching(RedisCacheStore(client), rules: .http(HTTPCachePolicy()))
        let call = Call(Request<Bytes>("http://stub/"))
        let key = try #require(await caching.keyToFetch(call, Next { _ in ChainResponse(Response(status: 200)) }))
        let name = "f" + (try client.seal.name(Bytes(key.description)))
        _ = try await client.send([
            Bytes("SET"), Bytes(client.prefix + name), Bytes("gone"), Bytes("PX"), Bytes("100"),
        ])
        #expect(try await agent.send(Request<String>("/")).value == "text")
        #expect(stub.requests.count == 1)
        #expect(flight.statistics.unlocked == 0)
    }

    @Test func differentUsersDoNotWaitForEachOther() async throws {
        stub.register("*", with: reply("first").held(by: gate), reply("second"))
        let (one, two) = (try await agent(), try await agent())
        let waiting = Task {
            var request = Request<String>("/")
            request.credentials = .bearer("one")
            return try await one.agent.send(request).value
        }
        try await gate.waitForArrivals(1)
        var request = Request<String>("/")
        request.credentials = .bearer("two")
        #expect(try await two.agent.send(request).value == "second")
        gate.open()
        #expect(try await waiting.value == "first")
        #expect(two.flight.statistics.waiting == 0)
    }
}
#endif

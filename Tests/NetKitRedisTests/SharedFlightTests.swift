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

@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedFlightTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let prefix = String.unique

    /// Returns agents with connection, cache and interceptors of their own, as other processes would have.
    private func agents(
        _ count: Int, on topology: Topology = .server, lockTime: Duration = .seconds(3600)
    ) async throws -> [(agent: Agent, flight: SharedFlight)] {
        try await topology.clients(count, prefix).map { client in
            let caching = Caching(
                RedisCacheStore(client), rules: .http(HTTPCachePolicy()),
                hashKey: Bytes([UInt8](repeating: 1, count: 32)))
            let flight = SharedFlight(client, caching, lockTime: lockTime)
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [flight, caching]
            return (Agent(configuration, transport: stub), flight)
        }
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

    @Test(arguments: Topology.allCases)
    func twentyProcessesSendOneRequest(topology: Topology) async throws {
        stub.register("*", with: reply("first").held(by: gate), reply("again"))
        let agents = try await agents(20, on: topology)
        let texts = try await sendTogether(agents)
        #expect(texts == Array(repeating: "first", count: 20))
        #expect(stub.requests.count == 1)
        #expect(agents.reduce(0) { $0 + $1.flight.statistics.leading } == 1)
        #expect(agents.reduce(0) { $0 + $1.flight.statistics.unlocked } == 0)
    }

    @Test func responseThatIsNotStoredIsNotShared() async throws {
        stub.register("*", with: reply("mine", "no-store").held(by: gate), reply("yours", "no-store"))
        let agents = try await agents(3)
        let texts = try await sendTogether(agents)
        #expect(texts.sorted() == ["mine", "yours", "yours"])
    }

    @Test func lockOfAProcessThatHasEndedExpires() async throws {
        stub.register("*", with: reply("text"))
        let (agent, flight) = try await agents(1, lockTime: .milliseconds(200))[0]
        // Another process has taken the lock, and never returns it.
        let client = try await Topology.server.clients(1, prefix)[0]
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

    @Test func lockThatTheServerGivesTooLateIsReturned() async throws {
        let server = try await RedisServer.start()
        stub.register("*", with: reply("text"))
        // The response is stored elsewhere, so that the lock is the only thing that the server does.
        func agent(_ timeLimit: Duration) async throws -> (agent: Agent, flight: SharedFlight) {
            let client = try await server.connected(try server.client(prefix, timeLimit: timeLimit))
            let caching = Caching(MemoryCacheStore(), rules: .http(HTTPCachePolicy()))
            let flight = SharedFlight(client, caching, lockTime: .seconds(3600))
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [flight, caching]
            return (Agent(configuration, transport: stub), flight)
        }
        let late = try await agent(.milliseconds(20))
        server.kill(SIGSTOP)
        #expect(try await late.agent.send(Request<String>("/")).value == "text")
        #expect(late.flight.statistics.unlocked == 1)
        server.kill(SIGCONT)
        // The server now takes the lock for the call that has ended.
        let next = try await agent(.seconds(30))
        #expect(try await next.agent.send(Request<String>("/")).value == "text")
    }

    @Test func lockIsReturnedToAServerWithoutMemory() async throws {
        let server = try await RedisServer.start(["--maxmemory-policy", "noeviction"])
        stub.register("*", with: reply("first").held(by: gate), reply("second"))
        func agent() async throws -> (agent: Agent, flight: SharedFlight, client: RedisClient) {
            let client = try await server.connected(try server.client(prefix))
            let caching = Caching(
                RedisCacheStore(client), rules: .http(HTTPCachePolicy()),
                hashKey: Bytes([UInt8](repeating: 1, count: 32)))
            let flight = SharedFlight(client, caching, lockTime: .seconds(3600))
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [flight, caching]
            return (Agent(configuration, transport: stub), flight, client)
        }
        let (one, two) = (try await agent(), try await agent())
        let leading = Task { try await one.agent.send(Request<String>("/")).value }
        try await gate.waitForArrivals(1)
        let waiting = Task { try await two.agent.send(Request<String>("/")).value }
        while two.flight.statistics.waiting == 0 {
            await Task.yield()
        }
        _ = try await one.client.send([Bytes("CONFIG"), Bytes("SET"), Bytes("maxmemory"), Bytes("1")])
        gate.open()
        #expect(try await leading.value == "first")
        #expect(try await waiting.value == "second")
    }

    @Test func differentUsersDoNotWaitForEachOther() async throws {
        stub.register("*", with: reply("first").held(by: gate), reply("second"))
        let agents = try await agents(2)
        let waiting = Task {
            var request = Request<String>("/")
            request.credentials = .bearer("one")
            return try await agents[0].agent.send(request).value
        }
        try await gate.waitForArrivals(1)
        var request = Request<String>("/")
        request.credentials = .bearer("two")
        #expect(try await agents[1].agent.send(request).value == "second")
        gate.open()
        #expect(try await waiting.value == "first")
        #expect(agents[1].flight.statistics.waiting == 0)
    }
}
#endif

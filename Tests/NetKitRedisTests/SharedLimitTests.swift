#if Redis
import NetKitTesting
import Testing

@testable import NetKit
@testable import NetKitRedis

@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedLimitTests {
    private let stub = StubTransport { _ in .text("x") }
    private let prefix = String.unique

    /// Returns an agent with a connection of its own, as another process would have.
    private func agent(_ count: Int, maxWait: Duration?, _ client: RedisClient) -> (Agent, SharedRateLimit) {
        // One token takes an hour, so the burst alone decides how many requests start.
        let limit = SharedRateLimit(1, per: .seconds(3600), burst: count, maxWait: maxWait, redis: client)
        var configuration = Agent.Configuration()
        configuration.interceptors = [limit]
        return (Agent(configuration, transport: stub), limit)
    }

    @Test(arguments: Topology.allCases)
    func severalProcessesTogetherStartExactlyTheBurst(topology: Topology) async throws {
        let agents = try await topology.clients(4, prefix).map { agent(17, maxWait: .seconds(1), $0) }
        let refused = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                let agent = agents[index % agents.count].0
                group.addTask {
                    do throws(NetError) {
                        _ = try await agent.send(Request<Bytes>("http://a/"))
                    } catch {
                        #expect(error.code == .slotTimeout)
                        refused.withLock { $0 += 1 }
                    }
                }
            }
        }
        #expect(stub.requests.count == 17)
        #expect(refused.withLock { $0 } == 43)
        #expect(agents.allSatisfy { $0.1.statistics.local == 0 })
        // Another host has its own limit.
        _ = try await agents[0].0.send(Request<Bytes>("http://b/"))
        #expect(stub.requests.count == 18)
    }

    @Test func cancelledRequestReturnsItsReservation() async throws {
        let clients = try await Topology.server.clients(2, prefix)
        let (agent, limit) = agent(1, maxWait: nil, clients[0])
        _ = try await agent.send(Request<Bytes>("http://a/"))
        for _ in 0..<3 {
            let before = limit.statistics.shared
            let waiting = Task { try await agent.send(Request<Bytes>("http://a/")) }
            while limit.statistics.shared == before {
                await Task.yield()
            }
            waiting.cancel()
            await #expect(throws: NetError.self) { _ = try await waiting.value }
        }
        // If the three had kept their reservations, this request would have to wait for four hours.
        let (patient, _) = self.agent(1, maxWait: .seconds(3601), clients[1])
        let task = Task { try await patient.send(Request<Bytes>("http://a/")) }
        task.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(stub.requests.count == 1)
    }

    @Test func limitAppliesToEachProcessAloneWithoutAServer() async throws {
        let client = try RedisClient("unix:///tmp/nk-no-such-socket")
        let limit = SharedRateLimit(1, per: .seconds(3600), burst: 3, maxWait: .seconds(1), redis: client)
        var configuration = Agent.Configuration()
        configuration.interceptors = [limit]
        let agent = Agent(configuration, transport: stub)
        for _ in 0..<5 {
            _ = try? await agent.send(Request<Bytes>("http://a/"))
        }
        #expect(stub.requests.count == 3)
        #expect(limit.statistics == .init(shared: 0, local: 5))
    }
}
#endif

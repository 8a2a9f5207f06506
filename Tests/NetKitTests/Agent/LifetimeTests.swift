import NetKit
import Testing

/// The engine and its connections end with the agent. When the last connection closes, the agent has been deallocated.
@Suite(.timeLimit(.minutes(5)))
struct LifetimeTests {
    @Test func releasedAgentIsDeallocatedAndClosesItsConnections() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let observer = try await useAgent(server)
        try await server.waitForSilence()
        #expect(server.connectionCount >= 1)
        #expect(observer.agent == nil)
    }

    private func useAgent(_ server: LoopbackServer) async throws -> WeakAgent {
        let agent = Agent()
        for _ in 0..<3 {
            _ = try await agent.send(Request<Bytes>(server.url("/")))
        }
        #expect(agent.configuration.maxInFlight == 256)
        return WeakAgent(agent)
    }

    @Test func agentIsDeallocatedAfterShutdown() async throws {
        func useAndShutDown(_ server: LoopbackServer) async throws -> WeakAgent {
            let agent = Agent()
            _ = try await agent.send(Request<Bytes>(server.url("/")))
            await agent.shutdown()
            return WeakAgent(agent)
        }
        let server = try LoopbackServer()
        let observer = try await useAndShutDown(server)
        #expect(observer.agent == nil)
        try await server.waitForSilence()
    }

    @Test func releasingAnAgentAfterSendLosesNoResponse() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let request = Request<String>(server.url("/"))
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { try await Agent().send(request).value }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: "x", count: 50))
        try await server.waitForSilence()
    }

    @Test func pendingRequestKeepsTheAgentAlive() async throws {
        func start(_ request: Request<String>) -> Task<String, any Error> {
            let agent = Agent()
            return Task { try await agent.send(request).value }
        }
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let task = start(Request<String>(server.url("/")))
        try await server.waitForStalled(1)
        server.releaseStalled()
        #expect(try await task.value == "late")
        try await server.waitForSilence()
    }

    @Test func responsesOutliveTheirAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["X: 1"], patternLength: 3_000_000))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        try await server.waitForSilence()
        #expect(response.bytes.count == 3_000_000)
        #expect(response.bytes.last == UInt8(ascii: "a") + UInt8(2_999_999 % 26))
        #expect(response.headers["x"] == "1")
        #expect(response.url == server.url("/"))
        #expect(response.metrics.first?.status == 200)
    }

    @Test func fiftyAgentsWorkConcurrently() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let responseCount = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let agent = Agent(.init(baseURL: server.url("/")))
                    await withTaskGroup(of: Void.self) { requests in
                        for _ in 0..<20 {
                            requests.addTask {
                                if await ending(of: Request<String>(""), from: agent) == .answered {
                                    responseCount.increment()
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(responseCount.value == 1000)
        #expect(server.requestCount == 1000)
        try await server.waitForSilence()
    }
}

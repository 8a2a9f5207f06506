import NetKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ShutdownTests {
    @Test func shutdownWaitsForRequestsInFlight() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        server.script("/quick", Reply())
        let agent = Agent()
        let slow = (0..<5).map { _ in Task { try await agent.send(Request<String>(server.url("/"))).value } }
        try await server.waitForStalled(5)
        let released = Counter()
        let shutdown = Task {
            await agent.shutdown()
            return released.value
        }
        // Shutdown has begun when a request is refused.
        var attempts = 0
        while await ending(of: Request<Bytes>(server.url("/quick")), from: agent) == .answered {
            attempts += 1
            try #require(attempts < 10_000)
        }
        released.increment()
        server.releaseStalled()
        for task in slow {
            #expect(try await task.value == "late")
        }
        #expect(await shutdown.value == 1)
        try await server.waitForSilence()
    }

    @Test func afterShutdownNothingIsSent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let agent = Agent()
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: agent) == .answered)
        await agent.shutdown()
        let error = try await expectFailure(.closed, native: 0, of: .withSecrets("/", on: server), from: agent)
        #expect(!error.isRetryable)
        #expect(error.response == nil)
        #expect(server.requestCount == 1)
        try await server.waitForSilence()
    }

    @Test func shutdownCanBeCalledTwiceAndOnAnUnusedAgent() async {
        let agent = Agent()
        await agent.shutdown()
        await agent.shutdown()
        #expect(await ending(of: Request<Bytes>("http://127.0.0.1/"), from: agent) == .failed(.closed))
    }

    @Test func shutdownCanBeCalledConcurrently() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        for _ in 0..<20 {
            let agent = Agent()
            let outcomes = await withTaskGroup(of: Ending?.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        if index % 4 == 3 {
                            await agent.shutdown()
                            return nil
                        }
                        return await ending(of: Request<Bytes>(server.url("/")), from: agent)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 40)
            #expect(Set(outcomes).isSubset(of: [nil, .answered, .failed(.closed)]))
            #expect(await ending(of: Request<Bytes>(server.url("/")), from: agent) == .failed(.closed))
        }
        try await server.waitForSilence()
    }

    @Test func agentWithoutAnEngineShutsDownImmediately() async {
        var configuration = Agent.Configuration()
        configuration.trust = TrustPolicy(roots: .pem([]))
        let agent = Agent(configuration)
        #expect(await ending(of: Request<Bytes>("http://127.0.0.1/"), from: agent) == .failed(.tlsRoots))
        await agent.shutdown()
        #expect(await withTaskExecutorPreference(agent.executor) { 7 } == 7)
    }
}

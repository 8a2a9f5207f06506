import NetKit
import NetKitTesting
import Testing

/// A refresh that never ends does not hold calls beyond their limits.
@Suite(.timeLimit(.minutes(5)))
struct RefreshTimeoutTests {
    private let stub = StubTransport()
    private let agents = Collected<UnownedAgent>()

    init() {
        stub.register("/token", with: .text("new"))
        stub.register("/api", with: .status(401), .text("welcome"))
    }

    private static func request(_ path: String, total: Duration = .milliseconds(100)) -> Request<String> {
        var request = Request<String>(path)
        request.limits = Limits()
        request.limits.total = total
        return request
    }

    private func agent(
        timeLimit: Duration = .seconds(60), refresh: @escaping @Sendable (Agent) async throws -> String
    ) -> (Agent, CredentialRefresh<String>) {
        let agents = agents
        let interceptor = CredentialRefresh<String>("old", timeLimit: timeLimit) { request, token in
            request.headers["X-Token"] = token
        } refresh: { _ in
            guard let agent = agents.values[0].agent else { throw CancellationError() }
            return try await refresh(agent)
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [interceptor]
        let agent = Agent(configuration, transport: stub)
        agents.append(UnownedAgent(agent: agent))
        return (agent, interceptor)
    }

    @Test func refreshRequestFromADetachedTaskTimesOutAndReportsTheCause() async throws {
        let errors = Collected<NetError>()
        let (agent, _) = agent { agent in
            try await Task.detached {
                do throws(NetError) {
                    return try await agent.send(Self.request("/token")).value
                } catch {
                    errors.append(error)
                    throw error
                }
            }.value
        }
        #expect(await ending(of: Self.request("/api", total: .seconds(3600)), from: agent) == .failed(.authentication))
        #expect(errors.values.map(\.code) == [.timeout])
        #expect(errors.values.first?.message.contains("bypassesCredentialRefresh") == true)
        // The next call begins another refresh.
        #expect(await ending(of: Self.request("/api", total: .seconds(3600)), from: agent) != .failed(.timeout))
    }

    @Test func bypassingRefreshRequestCanComeFromAnyTask() async throws {
        let (agent, refresh) = agent { agent in
            var request = Self.request("/token")
            request.bypassesCredentialRefresh = true
            return try await Task.detached { [request] in try await agent.send(request).value }.value
        }
        #expect(try await agent.send(Request<String>("/api")).value == "welcome")
        #expect(refresh.token == "new")
    }

    @Test func endlessRefreshTimesOutAndTheNextCallStartsANewOne() async throws {
        let attempts = Counter()
        let (agent, _) = agent(timeLimit: .milliseconds(50)) { _ in
            if attempts.increment() == 1 {
                await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
            }
            return "new"
        }
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>("/api")) }
        #expect(error?.code == .authentication)
        #expect(error?.message.contains("exceeded its time limit") == true)
        stub.register("/api", with: .status(401), .text("welcome"))
        #expect(try await agent.send(Request<String>("/api")).value == "welcome")
        #expect(attempts.value == 2)
    }

    @Test func callsDuringAnEndlessRefreshHaveTheirOwnTimeout() async throws {
        let hasStarted = Gate()
        let (agent, _) = agent { _ in
            hasStarted.open()
            await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
            return ""
        }
        let first = Task { await ending(of: Self.request("/api", total: .seconds(3600)), from: agent) }
        try await hasStarted.opened()
        for _ in 0..<3 {
            #expect(await ending(of: Self.request("/other"), from: agent) == .failed(.timeout))
        }
        first.cancel()
        #expect(await first.value == .failed(.cancelled))
        #expect(stub.requests.map(\.path) == ["/api"])
    }
}

/// An agent whose interceptor refers back to it.
private struct UnownedAgent: Sendable {
    weak let agent: Agent?
}

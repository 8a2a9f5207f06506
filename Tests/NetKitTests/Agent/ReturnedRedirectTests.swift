import NetKit
import NetKitTesting
import Testing

/// A redirect that is returned is the response and not an error, wherever the policy is set.
@Suite(.timeLimit(.minutes(5)))
struct ReturnedRedirectTests {
    private struct Old: Endpoint {
        typealias Value = String
        let path: String
        let redirects: RedirectPolicy = .return
    }

    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/old", .redirect(to: "/new"))
        server.script("/new", .text("new"))
    }

    private var request: Request<String> { Request(server.url("/old")) }

    private func agents(_ change: (inout Agent.Configuration) -> Void = { _ in }) -> [Agent] {
        [[], [Retry()]].map { (interceptors: [any Interceptor]) in
            Agent(configured: { configuration in
                configuration.interceptors = interceptors
                change(&configuration)
            })
        }
    }

    @Test func requestAcceptsTheRedirectThatItReturns() async throws {
        for agent in agents() {
            var request = request
            request.redirects = .return
            let response = try await agent.send(request)
            #expect(response.status == 302 && response.headers["Location"] == "/new" && response.value.isEmpty)
            #expect(try await agent.start(request).value.status == 302)
            request.acceptedStatuses = 200..<300
            #expect(await ending(of: request, from: agent) == .failed(.status))
            await agent.shutdown()
        }
    }

    @Test func returnedRedirectIsNotStoredByTheRulesOfTheApp() async throws {
        let agent = Agent(configured: {
            $0.redirects = .return
            $0.interceptors = [Caching(MemoryCacheStore(), rules: .maxAge(.seconds(86_400)))]
        })
        #expect(try await agent.send(request).status == 302)
        #expect(try await !agent.send(request).isFromCache && server.requestCount == 2)
        await agent.shutdown()
    }

    @Test func completeRequestIgnoresThePolicyOfItsService() async throws {
        var configuration = Service.Configuration()
        configuration.redirects = .follow
        var request = request
        request.service = Service("s", configuration)
        request.isComplete = true
        for agent in agents({ $0.redirects = .return }) {
            #expect(try await agent.send(request).status == 302)
            await agent.shutdown()
        }
    }

    @Test func endpointAcceptsTheRedirectThatItReturns() async throws {
        for agent in agents() {
            #expect(try await agent.send(Old(path: server.url("/old"))).status == 302)
            await agent.shutdown()
        }
    }

    @Test func requestsOfAServiceAcceptTheRedirectsThatItReturns() async throws {
        var configuration = Service.Configuration()
        configuration.redirects = .return
        configuration.acceptedStatuses = [200, 404]
        server.script("/missing", Reply(status: 404))
        for agent in agents() {
            var request = request
            request.service = Service("s", configuration)
            #expect(try await agent.send(request).status == 302)
            request.url = server.url("/missing")
            #expect(try await agent.send(request).status == 404)
            request.url = server.url("/old")
            request.redirects = .follow
            #expect(try await agent.send(request).value == "new")
            await agent.shutdown()
        }
    }

    @Test func requestsOfAnAgentAcceptTheRedirectsThatItReturns() async throws {
        for agent in agents({ $0.redirects = .return }) {
            #expect(try await agent.send(request).status == 302)
            #expect(try await agent.get(server.url("/old"), as: String.self).status == 302)
            var following = Service.Configuration()
            following.redirects = .follow
            var request = request
            request.service = Service("s", following)
            #expect(try await agent.send(request).value == "new")
            await agent.shutdown()
        }
    }

    @Test func streamAcceptsTheRedirectAndADownloadRefusesIt() async throws {
        let folder = try TemporaryFolder()
        for agent in agents({ $0.redirects = .return }) {
            #expect(try await agent.stream(request).status == 302)
            #expect(try await agent.stream(server.url("/old")).status == 302)
            for isResumable in [true, false] {
                let error = await #expect(throws: NetError.self) {
                    try await agent.download(request, to: folder.file("f"), options: .init(isResumable: isResumable))
                }
                #expect(error?.status == 302 && folder.contents(of: "f") == nil)
            }
            await agent.shutdown()
        }
    }

    @Test func redirectIsAnErrorIfThePolicyFollowsRedirects() async throws {
        // Without a Location field, it cannot be followed.
        server.script("/odd", Reply(status: 302))
        for agent in agents() {
            #expect(await ending(of: Request<String>(server.url("/odd")), from: agent) == .failed(.status))
            await agent.shutdown()
        }
    }

    @Test func statusesFrom300To399AreAddedToThoseOfTheAgent() async throws {
        for statuses in [[200, 404], .any, .automatic] as [StatusSet] {
            let stub = StubTransport { _ in .status(307) }
            var configuration = Agent.Configuration(baseURL: "http://h")
            configuration.acceptedStatuses = statuses
            configuration.redirects = .return
            let agent = Agent(configuration, transport: stub)
            _ = try await agent.send(Request<Void>("a"))
            var request = Request<Void>("a")
            request.service = Service("s")
            _ = try await agent.send(request)
            let expected: StatusSet = statuses == .automatic ? [200...399] : [statuses, 300...399]
            #expect(stub.requests.map(\.request.acceptedStatuses) == [expected, expected])
        }
    }
}

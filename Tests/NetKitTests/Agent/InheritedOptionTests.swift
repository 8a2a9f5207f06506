import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// An option that a request does not set is inherited. "None" never means "inherited".
struct InheritedOptionTests {
    private static let challenge = Reply(status: 401, headers: ["WWW-Authenticate: Basic realm=\"r\""], body: [])

    @Test func noneSendsNoCredentialsOfTheAgentOrTheService() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("in"))
        for interceptors in [[], [Retry()], [CredentialRefresh("fresh") { _ in "fresher" }]] as [[any Interceptor]] {
            server.forgetRequests()
            let agent = Agent(
                baseURL: server.url("/"), credentials: .bearer("agent"), interceptors: interceptors)
            try await agent.get("", credentials: .none)
            var configuration = Service.Configuration(baseURL: server.url("/"))
            configuration.credentials = .bearer("service")
            var request = Request<String>("", method: .get)
            request.service = Service("s", configuration)
            request.credentials = .none
            #expect(try await agent.send(request).value == "in")
            let stream = try await agent.stream(request)
            _ = try await stream.collect(upTo: 100)
            for index in 0..<3 {
                #expect(server.received(index).values(named: "Authorization").isEmpty)
            }
            request.credentials = .inherited
            _ = try await agent.send(request)
            #expect(server.received(3).values(named: "Authorization").count == 1)
            await agent.shutdown()
        }
    }

    @Test func serviceWithoutCredentialsWithholdsThoseOfTheAgent() async throws {
        let stub = StubTransport { _ in .json("{}") }
        let agent = Agent(.init(baseURL: "http://h"), transport: stub)
        var configuration = Service.Configuration(baseURL: "http://h/s/")
        configuration.credentials = .none
        var request = Request<Void>("a")
        request.service = Service("s", configuration)
        _ = try await agent.send(request)
        #expect(stub.requests.map(\.request.credentials) == [.none])
    }

    @Test func noneReadsNoNetrcFile() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("in"))
        let folder = try TemporaryFolder()
        try folder.write(Array("default login me password hush\n".utf8), to: "netrc", mode: 0o600)
        let agent = Agent(configured: { $0.netrc = .file(folder.file("netrc")) })
        try await agent.get(server.url("/"), credentials: .none)
        try await agent.get(server.url("/"))
        #expect(server.received(0).values(named: "Authorization").isEmpty)
        #expect(!server.received(1).values(named: "Authorization").isEmpty)
        let anonymous = Agent(configured: {
            $0.netrc = .file(folder.file("netrc"))
            $0.credentials = .none
        })
        try await anonymous.get(server.url("/"))
        #expect(server.received(2).values(named: "Authorization").isEmpty)
        await agent.shutdown()
        await anonymous.shutdown()
    }

    @Test func noneDoesNotRespondToAChallenge() async throws {
        let server = try LoopbackServer()
        server.script("/", Self.challenge)
        let asked = Collected<String>()
        let agent = Agent(configured: {
            $0.interceptors = [
                TransferHooks(challenge: { challenge in
                    asked.append(challenge.scheme)
                    return .use(.basic(user: "me", password: "secret"))
                })
            ]
        })
        var request = Request<Bytes>(server.url("/"))
        request.credentials = .none
        #expect(try await agent.send(request).status == 401)
        #expect(asked.values.isEmpty && server.requestCount == 1)
        await agent.shutdown()
    }

    @Test func descriptionsOfNoCredentialsAreNames() {
        #expect("\(Credentials.none)" == "Credentials.none" && "\(Credentials.inherited)" == "Credentials.inherited")
        #expect(Request<Bytes>("a").credentials == .inherited && Request<Bytes>("a").proxy == .inherited)
        #expect("\(Proxy.inherited)" == "Proxy.inherited")
    }

    @Test func redirectsAreInheritedFromTheServiceAndTheAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/b"))
        server.script("/b", .text("b"))
        let agent = Agent(configured: { $0.redirects = .return })
        var request = Request<Bytes>(server.url("/"))
        #expect(request.redirects == .inherited)
        #expect(try await agent.send(request).status == 302)
        var configuration = Service.Configuration()
        configuration.redirects = .follow
        request.service = Service("s", configuration)
        #expect(try await agent.send(request).status == 200)
        request.redirects = .return
        #expect(try await agent.send(request).status == 302)
        await agent.shutdown()
    }

    @Test func cacheModesKeepTheRulesOfTheAgent() async throws {
        let fixture = CacheFixture(.app(60))
        fixture.stub.register("/", with: .text("1"), .text("2"), .text("3"), .failure(.refused))
        func value(_ rules: CacheRules) async throws -> String {
            try await fixture.agent.get("/", as: String.self, caching: rules).value
        }
        #expect(await ending(of: Request<String>("/").cached(.cacheOnly), from: fixture.agent) == .failed(.notCached))
        #expect(try await value(.inherited) == "1")
        #expect(try await value(.inherited) == "1")
        #expect(try await value(.cacheOnly) == "1")
        #expect(try await value(.reload) == "2")
        #expect(try await value(.inherited) == "2")
        #expect(try await value(.networkElseCache) == "3")
        #expect(try await value(.networkElseCache) == "3")
        #expect(fixture.stub.requests.count == 4)
        fixture.pass(61)
        #expect(await ending(of: Request<String>("/").cached(.cacheOnly), from: fixture.agent) == .failed(.notCached))
        #expect(fixture.stub.requests.count == 4)
    }

    @Test func cacheModeWithoutRulesUsesTheNetworkExceptForCacheOnly() async throws {
        let fixture = CacheFixture(.off)
        fixture.stub.register("/", with: .text("1"))
        for rules in [CacheRules.reload, .networkElseCache, .mode(.staleIfError(.seconds(1)))] {
            #expect(try await fixture.agent.get("/", as: String.self, caching: rules).value == "1")
        }
        #expect(fixture.stub.requests.count == 3)
        #expect(await ending(of: Request<String>("/").cached(.cacheOnly), from: fixture.agent) == .failed(.notCached))
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func maxAgeOverridesTheRulesOfTheServer() async throws {
        let fixture = CacheFixture(.server())
        fixture.stub.register(
            "/", with: StubReply(headers: ["Cache-Control": "no-store"], body: [.text("1")]), .text("2"))
        func value() async throws -> String {
            defer { fixture.pass(6) }
            let response = try await fixture.agent.get("/", as: String.self, caching: .maxAge(.seconds(10)))
            await fixture.caching.finish()
            return response.value
        }
        #expect(try await [value(), value(), value()] == ["1", "1", "2"])
    }

    @Test func cacheFollowsTheServerByDefault() async throws {
        let stub = StubTransport { _ in StubReply(headers: ["Cache-Control": "max-age=86400"], body: [.text("1")]) }
        let caching = Caching(MemoryCacheStore())
        var configuration = Agent.Configuration()
        configuration.interceptors = [caching]
        let agent = Agent(configuration, transport: stub)
        for _ in 0..<2 {
            #expect(try await agent.get("http://h/", as: String.self).value == "1")
            await caching.finish()
        }
        #expect(stub.requests.count == 1)
    }

    @Test func serviceCanTurnRetriesAndDeduplicationOff() async throws {
        let stub = StubTransport()
        stub.register("http://h/a", with: StubReply(status: 503), .text("x"))
        var agentConfiguration = Agent.Configuration()
        agentConfiguration.interceptors = [Retry(maxRetries: 3, time: StubTime().source)]
        let agent = Agent(agentConfiguration, transport: stub)
        var configuration = Service.Configuration()
        configuration.retries = .never
        var request = Request<String>("http://h/a")
        request.service = Service("s", configuration)
        #expect(request.retries.isInherited && request.duplicates == .inherited)
        #expect(await ending(of: request, from: agent) == .failed(.status))
        #expect(stub.requests.count == 1)
    }
}

extension RetryPolicy {
    fileprivate var isInherited: Bool {
        if case .inherited = self { true } else { false }
    }
}

import NetKit
import NetKitTesting
import Testing

/// Settings that a service carries for its requests. They override the agent's, and the request's override them.
struct ServiceSettingsTests {
    private let stub = StubTransport { _ in .text("ok") }

    private func service(_ url: String, _ change: (inout Service.Configuration) -> Void) -> Service {
        var configuration = Service.Configuration(baseURL: url)
        change(&configuration)
        return Service("s", configuration)
    }

    private func request(_ path: String, _ service: Service, method: Method = .get) -> Request<String> {
        var request = Request<String>(path, method: method)
        request.service = service
        return request
    }

    @Test func credentialsOverrideThoseOfTheAgentAndStayOnTheServicesOrigin() async throws {
        let (server, foreign) = (try LoopbackServer(), try LoopbackServer())
        server.script("/a", .text("ok"))
        foreign.script("/a", .text("ok"))
        let service = service(server.url("/")) { $0.credentials = .bearer("service") }
        let agent = Agent(configured: { $0.credentials = .bearer("agent") })
        var own = request("a", service)
        own.credentials = .bearer("own")
        for request in [
            request("a", service), own, Request<String>(server.url("/a")), request(foreign.url("/a"), service),
        ] {
            _ = try await agent.send(request)
        }
        #expect(
            (0..<3).map { server.received($0).values(named: "Authorization") }
                == [["Bearer service"], ["Bearer own"], ["Bearer agent"]])
        #expect(foreign.received(0).values(named: "Authorization") == [])
        await agent.shutdown()
    }

    @Test func trustOverridesThatOfTheAgent() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/a", .text("ok"))
        let agent = Agent()
        let trusting = service(server.url("/")) { $0.trust = TrustPolicy(authorityOf: server) }
        #expect(try await agent.send(request("a", trusting)).value == "ok")
        var refusing = request("a", trusting)
        refusing.trust = TrustPolicy()
        let error = await #expect(throws: NetError.self) { try await agent.send(refusing) }
        #expect(error?.code == .tlsUntrusted)
        await agent.shutdown()
    }

    @Test func clientCertificateOfAServiceStaysOnItsOrigin() async throws {
        let folder = try TemporaryFolder()
        let (home, foreign) = (
            try LoopbackServer(.valid, requiresClientCertificate: true), try LoopbackServer(.valid)
        )
        home.script("/a", .text("ok"))
        foreign.script("/a", .text("ok"))
        try home.writeClientIdentity(to: folder.path)
        let service = service(home.url("/")) { configuration in
            var trust = TrustPolicy(roots: .pem(home.authority + foreign.authority))
            trust.identity = .file(certificate: folder.path + "/cert.pem", key: folder.path + "/key.pem")
            configuration.trust = trust
        }
        let agent = Agent()
        #expect(try await agent.send(request("a", service)).value == "ok")
        #expect(home.clientCertificateCount == 1)
        #expect(try await agent.send(request(foreign.url("/a"), service)).value == "ok")
        #expect(foreign.clientCertificateCount == 0)
        await agent.shutdown()
    }

    @Test func redirectsOverrideThoseOfTheAgent() async throws {
        let server = try LoopbackServer()
        server.script("/a", .text("ok"))
        server.script("/away", .redirect(to: server.url("/a")))
        let agent = Agent()
        let returning = service(server.url("/")) { $0.redirects = .return }
        var away = request("away", returning)
        #expect(try await agent.send(away).status == 302)
        away.redirects = .follow
        #expect(try await agent.send(away).status == 200)
        await agent.shutdown()
    }

    @Test func cacheRulesOverrideThoseOfTheAgentAndSpareOtherMethods() async throws {
        let cache = Caching(MemoryCacheStore())
        var configuration = Agent.Configuration()
        configuration.interceptors = [cache]
        let agent = Agent(configuration, transport: stub)
        let cached = service("http://h/") { $0.caching = .application(CachePolicy(maximumAge: .seconds(6000))) }
        for _ in 1...2 {
            _ = try await agent.send(request("a", cached))
        }
        #expect(stub.requests.count == 1)
        #expect(try await agent.cached(request("a", cached)).response?.value == "ok")
        var off = request("a", cached)
        off.caching = .off
        _ = try await agent.send(off)
        for _ in 1...2 {
            _ = try await agent.send(request("a", cached, method: .post))
        }
        #expect(stub.requests.count == 4)
    }

    @Test func duplicatesOfAServiceAreIgnored() async throws {
        let server = try LoopbackServer()
        server.script("/a", .stalled)
        let agent = Agent(configured: { $0.interceptors = [RequestDeduplication()] })
        let service = service(server.url("/")) { $0.duplicates = .ignore }
        let request = request("a", service)
        let first = Task { try await agent.send(request).value }
        try await server.waitForRequests(1)
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .ignored)
        server.releaseStalled()
        _ = try? await first.value
        await agent.shutdown()
    }

    /// The numbers of requests that a server with errors receives, for retries of the agent, the service and the
    /// request.
    @Test(
        arguments: [
            (nil, .inherited, .inherited, 1), (3, .inherited, .inherited, 4), (3, .never, .inherited, 1),
            (3, .inherited, .never, 1), (nil, .inherited, .upTo(2), 3), (nil, .upTo(1), .inherited, 2),
            (3, .upTo(1), .inherited, 2), (3, .never, .upTo(2), 3), (1, .inherited, .upTo(0), 1),
            (nil, .inherited, .custom(Retry(maxRetries: 1)), 2),
        ] as [(Int?, RetryPolicy, RetryPolicy, Int)])
    func retriesOverrideEachOther(agent: Int?, service: RetryPolicy, request: RetryPolicy, expected: Int) async throws {
        let failing = StubTransport { _ in Response(status: 503) }
        let time = TimeSource(
            now: TimeSource.system.now, epochSeconds: TimeSource.system.epochSeconds, sleep: { _ in })
        func quick(_ policy: RetryPolicy) -> RetryPolicy {
            switch policy {
            case .upTo(let count) where agent == nil: .custom(Retry(maxRetries: count, time: time))
            case .custom(let retry): .custom(Retry(maxRetries: retry.maxRetries, time: time))
            default: policy
            }
        }
        var configuration = Agent.Configuration()
        configuration.interceptors = agent.map { [Retry(maxRetries: $0, time: time)] } ?? []
        var ofService = Service.Configuration(baseURL: "http://h/")
        ofService.retries = quick(service)
        var sent = Request<String>("a")
        sent.service = Service("s", ofService)
        sent.retries = quick(request)
        let sender = Agent(configuration, transport: failing)
        let error = await #expect(throws: NetError.self) { try await sender.send(sent) }
        #expect(error?.status == 503 && failing.requests.count == expected)
    }

    @Test func retriesUpToACountWorkWithoutAnInterceptor() async throws {
        let server = try LoopbackServer()
        server.script("/a", [Reply(status: 503), .text("ok")])
        let agent = Agent()
        var request = Request<String>(server.url("/a"))
        request.retries = .upTo(1)
        #expect(try await agent.send(request).value == "ok")
        await agent.shutdown()
    }
}

import NetKit
import NetKitTesting
import Testing

/// The hooks of interceptors, and which interceptor decides.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorHooksTests {
    /// Signs in to a server, and records each of its methods and hooks.
    fileprivate final class Session {
        let calls = Collected<String>()
    }

    /// Runs its hooks for the origins of its owner only.
    fileprivate struct Bound {
        let transferHooks: TransferHooks
    }

    fileprivate struct Passing {}

    /// The hooks of which only one interceptor decides.
    enum Deciding: String, CaseIterable {
        case redirect, challenge, newBody, head, willStore
    }

    private let calls = Collected<String>()

    /// A server with a redirect, a page that requires credentials, and a page that does not.
    private static func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/moved", .redirect(to: "/page", status: 307))
        server.script("/private", Reply(body: Array("in".utf8), user: "me", password: "secret"))
        server.script("/page", .text("page"))
        return server
    }

    private static func service(_ interceptors: [any Interceptor], base: String? = nil) -> Service {
        var configuration = Service.Configuration()
        configuration.interceptors = interceptors
        if let base {
            configuration.baseURLs = [.release: base]
            configuration.environment = .release
        }
        return Service("s", configuration)
    }

    /// Returns one hook, which records its name and does what NetKit would do.
    private func recording(_ hook: Deciding, _ name: String) -> TransferHooks {
        let calls = calls
        switch hook {
        case .redirect:
            return TransferHooks(redirect: { _ in
                calls.append(name)
                return .follow
            })
        case .challenge:
            return TransferHooks(challenge: { _ in
                calls.append(name)
                return .use(.basic(user: "me", password: "secret"))
            })
        case .newBody:
            return TransferHooks(newBody: { _, _ in
                calls.append(name)
                return Body([1])
            })
        case .head:
            return TransferHooks(head: { _, _ in
                calls.append(name)
                return .allow
            })
        case .willStore:
            return TransferHooks(willStore: { response in
                calls.append(name)
                return response
            })
        }
    }

    private func metrics(_ name: String) -> TransferHooks {
        TransferHooks(metrics: { [calls] _, _ in calls.append(name) })
    }

    /// Returns a request for which this hook is called.
    private static func request(calling hook: Deciding) -> Request<Bytes> {
        switch hook {
        case .redirect: return Request("/moved")
        case .challenge: return Request("/private")
        case .newBody:
            return Request("/moved", method: .post, body: .once(length: 1, Pieces([[1]] as [[UInt8]])))
        case .head, .willStore: return Request("/page")
        }
    }

    /// Sends a request for which the hook is called, and returns the names of the hooks that were.
    private func callers(
        of hook: Deciding, agent: [any Interceptor], service: [any Interceptor]? = nil, request own: [any Interceptor]
    ) async throws -> [String] {
        let server = try Self.server()
        var configuration = Agent.Configuration(baseURL: server.url("/"))
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(300))] + agent
        var request = Self.request(calling: hook)
        request.interceptors = own
        request.service = service.map { Self.service($0) }
        calls.removeAll()
        #expect(try await Agent(configuration).send(request).status == 200)
        return calls.values
    }

    // MARK: Which interceptor decides

    @Test(arguments: Deciding.allCases)
    func hookOfTheRequestPrecedesTheServiceAndTheAgent(hook: Deciding) async throws {
        let agent = [recording(hook, "agent"), recording(hook, "agent 2")]
        let service = [recording(hook, "service"), recording(hook, "service 2")]
        let request = [recording(hook, "request"), recording(hook, "request 2")]
        #expect(try await callers(of: hook, agent: agent, service: service, request: request) == ["request"])
        #expect(try await callers(of: hook, agent: agent, service: service, request: []) == ["service"])
        #expect(try await callers(of: hook, agent: agent, service: service, request: [Passing()]) == ["service"])
        #expect(try await callers(of: hook, agent: agent, service: [TransferHooks()], request: []) == ["agent"])
        #expect(try await callers(of: hook, agent: agent, request: request) == ["request"])
        #expect(try await callers(of: hook, agent: agent, request: []) == ["agent"])
        #expect(try await callers(of: hook, agent: [Passing()] + agent, request: []) == ["agent"])
        #expect(try await callers(of: hook, agent: [], service: service, request: []) == ["service"])
    }

    @Test func eachHookIsTakenFromTheFirstInterceptorThatHasIt() async throws {
        let server = try Self.server()
        var configuration = Agent.Configuration(baseURL: server.url("/"))
        configuration.interceptors = [recording(.redirect, "agent redirect"), recording(.head, "agent head")]
        var request = Request<Bytes>("/moved")
        request.interceptors = [recording(.head, "request head")]
        _ = try await Agent(configuration).send(request)
        #expect(calls.values == ["agent redirect", "request head"])
    }

    @Test func hookOfASigningInterceptorOfAServiceRuns() async throws {
        let server = try Self.server()
        var configuration = Service.Configuration()
        configuration.baseURLs = [.release: server.url("/")]
        configuration.environment = .release
        configuration.signing = [
            Bound(transferHooks: recording(.redirect, "signing")), metrics("signing's metrics"),
        ]
        var request = Request<Bytes>("/moved")
        request.service = Service("s", configuration)
        _ = try await Agent().send(request)
        #expect(calls.values == ["signing", "signing's metrics"])
    }

    @Test func metricsHooksOfAllInterceptorsAreCalled() async throws {
        let stub = StubTransport { _ in .text("x") }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [metrics("agent"), Passing(), metrics("agent 2")]
        let agent = Agent(configuration, transport: stub)
        var request = Request<Bytes>("/")
        _ = try await agent.send(request)
        #expect(calls.values == ["agent", "agent 2"])
        calls.removeAll()
        request.service = Self.service([metrics("service")])
        request.interceptors = [metrics("request"), metrics("request 2")]
        _ = try await agent.send(request)
        #expect(calls.values == ["agent", "agent 2", "service", "request", "request 2"])
    }

    @Test func invalidatedHooksOfAllInterceptorsOfTheAgentAreCalled() async throws {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = ["1", "2"].map { name in
            TransferHooks(invalidated: { [calls] in calls.append(name) })
        }
        await Agent(configuration, transport: StubTransport()).invalidate()
        #expect(calls.values == ["1", "2"])
    }

    // MARK: One type

    @Test(arguments: ["agent", "service", "request"])
    func oneTypeHandlesAllSidesOfACall(owner: String) async throws {
        let server = try Self.server()
        server.script("/start", .redirect(to: "/private"))
        let session = Session()
        var configuration = Agent.Configuration(baseURL: server.url("/"))
        configuration.interceptors =
            [Caching(MemoryCacheStore(), rules: .app(300))] + (owner == "agent" ? [session] : [])
        let agent = Agent(configuration)
        var request = Request<Bytes>("/start")
        request.service = owner == "service" ? Self.service([session]) : nil
        request.interceptors = owner == "request" ? [session] : []
        #expect(try await agent.send(request).bytes.text == "in")
        #expect(session.calls.values == ["request", "redirect", "challenge", "head", "metrics"])
        #expect(server.received(0).values(named: "X-Session") == ["1"])
        session.calls.removeAll()
        request.url = "/page"
        #expect(try await agent.send(request).bytes.text == "page")
        #expect(session.calls.values == ["request", "head", "store", "metrics"])
    }

    @Test func interceptorOfClosuresPassesTheCallOn() async throws {
        let hooks = TransferHooks(redirect: { _ in .deliver })
        let failure = await #expect(throws: NetError.self) {
            try await hooks.intercept(
                Call(Request<Bytes>("http://stub/x")),
                next: Next { call throws(NetError) in throw NetError(.closed, call.request.url) })
        }
        #expect(failure?.code == .closed && failure?.message.contains("http://stub/x") == true)
    }

    // MARK: Foreign origins

    /// Sends a request to a home server and to a foreign one, and returns the names of the hooks that were called.
    private func callsAtHomeAndAbroad(
        _ path: String, agent: [any Interceptor] = [], service: [any Interceptor]? = nil,
        request own: [any Interceptor] = []
    ) async throws -> (home: [String], abroad: [String]) {
        let (home, foreign) = (try Self.server(), try Self.server())
        var configuration = Agent.Configuration(baseURL: home.url("/"))
        configuration.interceptors = agent
        var called: [[String]] = []
        for url in [path, foreign.url(path)] {
            calls.removeAll()
            var request = Request<Bytes>(url)
            request.service = service.map { Self.service($0, base: home.url("/")) }
            request.interceptors = own
            _ = try await Agent(configuration).send(request)
            called.append(calls.values)
        }
        return (called[0], called[1])
    }

    @Test func hooksOfAnOriginBoundInterceptorDoNotRunForAForeignOrigin() async throws {
        func bound(_ name: String) -> [any Interceptor] {
            let hooks = TransferHooks(
                redirect: recording(.redirect, name + " redirect").redirect,
                head: recording(.head, name + " head").head, metrics: metrics(name + " metrics").metrics)
            return [Bound(transferHooks: hooks)]
        }
        let ofAgent = try await callsAtHomeAndAbroad("/moved", agent: bound("agent"))
        #expect(ofAgent.home == ["agent redirect", "agent head", "agent metrics"] && ofAgent.abroad == [])
        let ofService = try await callsAtHomeAndAbroad("/moved", service: bound("service"))
        #expect(ofService.home == ["service redirect", "service head", "service metrics"] && ofService.abroad == [])
        let ofRequest = try await callsAtHomeAndAbroad("/moved", request: bound("request"))
        #expect(ofRequest.abroad == ["request redirect", "request head", "request metrics"])
        let both = try await callsAtHomeAndAbroad("/moved", agent: bound("bound") + [recording(.redirect, "free")])
        #expect(both.home.first == "bound redirect" && both.abroad == ["free"])
    }

    @Test func challengeHookOfTheAgentOrServiceIsNotCalledForAForeignServer() async throws {
        let hook = recording(.challenge, "called")
        let ofAgent = try await callsAtHomeAndAbroad("/private", agent: [hook])
        #expect(ofAgent.home == ["called"] && ofAgent.abroad == [])
        let ofService = try await callsAtHomeAndAbroad("/private", service: [hook])
        #expect(ofService.home == ["called"] && ofService.abroad == [])
        let ofRequest = try await callsAtHomeAndAbroad("/private", request: [hook])
        #expect(ofRequest.home == ["called"] && ofRequest.abroad == ["called"])
    }

    @Test func challengeHookOfTheAgentIsCalledWhereThatOfTheServiceIsWithheld() async throws {
        let (ofAgent, ofService) = (try Self.server(), try Self.server())
        var configuration = Agent.Configuration(baseURL: ofAgent.url("/"))
        configuration.interceptors = [recording(.challenge, "agent")]
        var request = Request<Bytes>(ofAgent.url("/private"))
        request.service = Self.service([recording(.challenge, "service")], base: ofService.url("/"))
        #expect(try await Agent(configuration).send(request).status == 200)
        request.url = "/private"
        #expect(try await Agent(configuration).send(request).status == 200)
        #expect(calls.values == ["agent", "service"])
    }
}

extension InterceptorHooksTests.Passing: Interceptor {
    func intercept(_ call: Call, next: Next) async throws -> ChainResponse { try await next(call) }
}

extension InterceptorHooksTests.Bound: OriginBoundInterceptor {
    func intercept(_ call: Call, next: Next) async throws -> ChainResponse { try await next(call) }
}

extension InterceptorHooksTests.Session: Interceptor {
    func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
        calls.append("request")
        var call = call
        call.request.headers["X-Session"] = "1"
        return try await next(call)
    }

    var transferHooks: TransferHooks {
        TransferHooks(
            redirect: { [calls] _ in
                calls.append("redirect")
                return .follow
            },
            challenge: { [calls] _ in
                calls.append("challenge")
                return .use(.basic(user: "me", password: "secret"))
            },
            head: { [calls] _, _ in
                calls.append("head")
                return .allow
            },
            willStore: { [calls] response in
                calls.append("store")
                return response
            },
            metrics: { [calls] _, _ in calls.append("metrics") })
    }
}

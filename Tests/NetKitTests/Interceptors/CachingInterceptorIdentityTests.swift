import NetKit
import NetKitTesting
import Testing

/// Users whose identity is added by interceptors after the cache, or by custom fields.
@Suite(.timeLimit(.minutes(5)))
struct CachingInterceptorIdentityTests {
    private typealias Apply = @Sendable (inout Request<Bytes>, String) -> Void

    private static let ways: [Apply] = [
        { $0.headers["Authorization"] = "Bearer \($1)" }, { $0.credentials = .bearer($1) },
        { $0.headers["X-Token"] = $1 }, { $0.headers["Cookie"] = "session=\($1)" },
    ]

    private let stub = StubTransport { received in
        let shown = [
            received.headers["Authorization"], received.headers["X-Token"], received.headers["Cookie"],
            received.request.credentials == .bearer("a") ? "a" : nil,
            received.request.credentials == .bearer("b") ? "b" : nil,
        ]
        return StubReply(
            headers: ["Cache-Control": "max-age=5000"],
            body: [.text("data of \(shown.compactMap { $0 }.last?.suffix(1) ?? "nobody")")])
    }

    private func agent(_ interceptors: [any Interceptor]) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        return Agent(configuration, transport: stub)
    }

    @Test(arguments: [CacheRules.app(5000), .server()], [false, true])
    func replacedCredentialsSeparateUsersBeforeAndAfterTheCache(rules: CacheRules, isInFront: Bool) async throws {
        for apply in Self.ways {
            let refresh = CredentialRefresh("a", apply: apply, refresh: { $0 ?? "" })
            let caching = Caching(MemoryCacheStore(), rules: rules)
            let agent = agent(isInFront ? [refresh, caching] : [caching, refresh])
            for token in ["a", "b"] {
                refresh.replace(token)
                for outcome in [CacheReport.Outcome.network, .hit] {
                    let answer = try await agent.send(Request<String>("/me"))
                    #expect(answer.value == "data of \(token)" && answer.cache?.outcome == outcome)
                }
                #expect(try await agent.cached(Request<String>("/me")).response?.value == "data of \(token)")
            }
            refresh.replace(nil)
            #expect(try await agent.send(Request<String>("/me")).value == "data of nobody")
            refresh.replace("a")
            #expect(try await agent.removeCached(Request<String>("/me")))
            #expect(try await agent.cached(Request<String>("/me")).response == nil)
        }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func responseToOtherCredentialsThanLookedUpIsNotStored(rules: CacheRules) async throws {
        let gate = StubGate()
        let refresh = CredentialRefresh("a", apply: Self.ways[0], refresh: { _ in "b" })
        let fields: Headers = ["Cache-Control": "max-age=5000"]
        let stub = StubTransport { received in
            received.headers["Authorization"] == "Bearer a"
                ? .status(401).held(by: gate) : StubReply(headers: fields, body: [.text("data of b")])
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules), refresh]
        let agent = Agent(configuration, transport: stub)
        async let first = agent.send(Request<String>("/me"))
        try await gate.waitForArrivals(1)
        refresh.replace("b")
        gate.open()
        _ = try await first
        refresh.replace("a")
        #expect(try await agent.cached(Request<String>("/me")).response == nil)
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func serviceThatWrapsCallsHasSeparateEntries(rules: CacheRules) async throws {
        let agent = agent([Caching(MemoryCacheStore(), rules: rules)])
        func request(_ name: String, _ method: Method = .get) -> Request<String> {
            var configuration = Service.Configuration()
            configuration.interceptors = [
                Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                    var call = call
                    call.request.headers["X-Token"] = name
                    return try await next(call)
                }
            ]
            var request = Request<String>("/me", method: method)
            request.service = Service(name, configuration)
            return request
        }
        for name in ["a", "b"] {
            for outcome in [CacheReport.Outcome.network, .hit] {
                let answer = try await agent.send(request(name))
                #expect(answer.value == "data of \(name)" && answer.cache?.outcome == outcome)
            }
        }
        #expect(try await agent.send(Request<String>("/me")).value == "data of nobody")
        #expect(try await agent.send(request("a")).cache?.outcome == .hit)
        if case .http = rules {
            // An unsafe request also invalidates the service's own entry.
            _ = try await agent.send(request("a", .delete))
            #expect(try await agent.send(request("a")).cache?.outcome == .network)
        }
    }

    @Test func servicesWithoutIdentityShareEntries() async throws {
        let agent = agent([Caching(MemoryCacheStore(), rules: .app(5000))])
        var request = Request<String>("/me")
        for (name, outcome) in [("a", CacheReport.Outcome.network), ("b", .hit)] {
            request.service = Service(name)
            #expect(try await agent.send(request).cache?.outcome == outcome)
        }
    }

    @Test func customInterceptorProvidesTheIdentity() async throws {
        struct Account: Interceptor {
            let name: @Sendable () -> String

            func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
                var request = request
                request.headers["X-Token"] = name()
                return request
            }

            func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
                var call = call
                call.request = identified(call.request) ?? call.request
                return try await next(call)
            }
        }
        let name = Lock("a")
        let agent = agent([
            Caching(MemoryCacheStore(), rules: .app(5000)), Account(name: { name.withLock { $0 } }),
        ])
        for user in ["a", "b", "a"] {
            name.withLock { $0 = user }
            #expect(try await agent.send(Request<String>("/me")).value == "data of \(user)")
        }
        #expect(stub.requests.count == 2)
    }
}

import NetKit
import NetKitTesting
import Testing

/// A response that was received under one trust policy is not used under another.
@Suite(.timeLimit(.minutes(5)))
struct CachingTrustTests {
    private static let fresh: Headers = ["Cache-Control": "max-age=5000"]
    private static let pin = "sha256/" + String(repeating: "A", count: 43) + "="
    private static let observer = TrustObserver(decide: { _ in true })

    /// One policy for each property of a policy.
    private static var policies: [TrustPolicy] {
        get throws {
            let changes: [(inout TrustPolicy) -> Void] = [
                { _ in }, { $0.roots = .file("/a.pem") }, { $0.roots = .file("/b.pem") }, { $0.roots = .pem([1]) },
                { $0.roots = .pem([2]) }, { $0.roots = .pinned }, { $0.minimumVersion = .tls13 },
                { $0.maximumVersion = .tls12 }, { $0.maximumVersion = .tls13 }, { $0.acceptsAnything = true },
                { $0.acceptsInvalidChains = true }, { $0.skipsNameCheck = true }, { $0.revocationLists = "/a.crl" },
                { $0.requiresStaple = true }, { $0.ciphers = "a" }, { $0.cipherSuites = "a" }, { $0.usesALPN = false },
                { $0.isStrict = true }, { $0.maximumChainLength = 3 }, { $0.maximumChainLength = 4 },
                { $0.rules = [PinRule("stub", pins: [.hash(pin)])] },
                { $0.rules = [PinRule("stub", pins: [.bytes(Array(pin.utf8))])] },
                { $0.rules = [PinRule("stub", mode: .certificate, pins: [.hash(pin)])] },
                { $0.rules = [PinRule("other", pins: [.hash(pin)])] },
                { $0.rules = [PinRule("stub", mode: .none, pins: [])] },
                { $0.observer = observer }, { $0.observer = TrustObserver(decide: { _ in true }) },
            ]
            return changes.map { change in
                var policy = TrustPolicy()
                change(&policy)
                return policy
            } + [TrustPolicy(allowsOverride: true)]
        }
    }

    @Test(arguments: [
        CacheRules.app(5000), .app(5000) { $0.scope = "alice" }, .server(), .server { $0.scope = "alice" },
    ])
    func trustPoliciesDoNotShareEntries(rules: CacheRules) async throws {
        let fixture = CacheFixture(rules) { $0.baseURL = "https://stub" }
        fixture.stub.register("/", with: (0..<99).map { StubReply(headers: Self.fresh, body: [.text("\($0)")]) })
        let policies = try Self.policies
        for _ in 0..<2 {
            for (index, policy) in policies.enumerated() {
                var request = Request<String>("/")
                request.trust = policy
                #expect(try await fixture.agent.send(request).value == "\(index)")
                var configuration = fixture.agent.configuration
                configuration.trust = policy
                // A request without a policy uses the agent's, which is equal here.
                let other = Agent(configuration, transport: fixture.stub)
                #expect(try await other.send(Request<String>("/")).value == "\(index)")
            }
        }
        #expect(try await fixture.agent.send(Request<String>("/")).value == "0")
        #expect(fixture.stub.requests.count == policies.count)
    }

    @Test func trustObserverDoesNotChangeTheKey() async throws {
        let fixture = CacheFixture(.app(5000)) { $0.baseURL = "https://stub" }
        fixture.stub.register("/", with: StubReply(body: [.text("x")]))
        for outcome in [CacheReport.Outcome.network, .hit] {
            var request = Request<String>("/")
            request.trust = TrustPolicy()
            request.trust?.observer = TrustObserver(report: { _ in })
            #expect(try await fixture.agent.send(request).cache?.outcome == outcome)
        }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func permissivePolicyEntryIsNotUsedByAStrictPolicy(rules: CacheRules) async throws {
        let server = try LoopbackServer(.untrusted)
        server.script("/", Reply(headers: ["Cache-Control: max-age=5000"], body: Array("forged".utf8)))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
        var request = Request<String>(server.url("/"))
        request.trust = TrustPolicy(acceptsAnything: true)
        #expect(try await Agent(configuration).send(request).value == "forged")
        #expect(try await Agent(configuration).send(request).cache?.outcome == .hit)
        request.trust = nil
        await #expect(throws: NetError.self) { try await Agent(configuration).send(request) }
        request.trust = TrustPolicy(roots: .pem(server.authority))
        await #expect(throws: NetError.self) { try await Agent(configuration).send(request) }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func plainHTTPEntryIsNotUsedForAPinnedHost(rules: CacheRules) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Cache-Control: max-age=5000"], body: Array("x".utf8)))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
        let agent = Agent(configuration)
        _ = try await agent.send(Request<String>(server.url("/")))
        var request = Request<String>(server.url("/"))
        request.trust = try .pinned("127.0.0.1", [Self.pin])
        await #expect(throws: NetError.self) { try await agent.send(request) }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func policyChangedAtRunTimeStartsWithoutEntries(rules: CacheRules) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Cache-Control: max-age=5000"], body: Array("x".utf8)))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
        let agent = Agent(configuration)
        let request = Request<String>(server.url("/"))
        #expect(try await agent.send(request).cache?.outcome == .network)
        try agent.setTrust(TrustPolicy(minimumVersion: .tls13))
        #expect(try await agent.send(request).cache?.outcome == .network)
        #expect(try await agent.send(request).cache?.outcome == .hit)
        #expect(throws: NetError.self) { try agent.setTrust(TrustPolicy(roots: .file(""))) }
        #expect(try await agent.send(request).cache?.outcome == .hit)
        await agent.reset()
        #expect(try await agent.send(request).cache?.outcome == .hit)
        #expect(server.requestCount == 2)
        await agent.shutdown()
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func responseReceivedDuringAPolicyChangeIsNotStored(rules: CacheRules) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Cache-Control: max-age=5000"], cutAfter: 0, ending: .stall))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
        let agent = Agent(configuration)
        let request = Request<Bytes>(server.url("/"))
        async let first = agent.send(request)
        try await server.waitForStalled(1)
        // The policy changed and changed back meanwhile, so it is unknown which one the response was received under.
        try agent.setTrust(TrustPolicy(minimumVersion: .tls13))
        try agent.setTrust(TrustPolicy())
        server.releaseStalled()
        #expect(try await first.cache?.outcome == .network)
        #expect(try await agent.cached(request).response == nil)
        await agent.shutdown()
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func equalPoliciesShareEntriesAcrossProcesses(rules: CacheRules) async throws {
        let folder = try TemporaryTree()
        let stub = StubTransport()
        stub.register("/", with: StubReply(headers: Self.fresh, body: [.text("x")]))
        for outcome in [CacheReport.Outcome.network, .hit] {
            var configuration = Agent.Configuration(baseURL: "https://stub")
            configuration.interceptors = [Caching(DiskCacheStore(directory: folder.file("c")), rules: rules)]
            configuration.trust = try .pinned("stub", [Self.pin])
            configuration.trust.acceptsInvalidChains = true
            let agent = Agent(configuration, transport: stub)
            #expect(try await agent.send(Request<String>("/")).cache?.outcome == outcome)
        }
    }

    @Test func everyPolicySettingIsPartOfTheKey() {
        // A new property of the policy must also be added to its digest.
        #expect(Mirror(reflecting: TrustPolicy()).children.count == 17)
        #expect(Mirror(reflecting: PinRule("a", pins: [])).children.count == 6)
    }
}

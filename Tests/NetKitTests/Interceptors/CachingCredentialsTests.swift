import NetKit
import NetKitTesting
import Testing

/// Users whose requests do not show their identity: a client certificate, a netrc file, credentials for a challenge.
@Suite(.timeLimit(.minutes(5)))
struct CachingCredentialsTests {
    private typealias Configure = @Sendable (inout Agent.Configuration) -> Void

    private static let fresh: Headers = ["Cache-Control": "max-age=5000", "ETag": "\"1\""]

    private let store = MemoryCacheStore()

    /// Creates another program's agent with the same cache.
    private func agent(
        _ rules: CacheRules, _ stub: StubTransport? = nil, change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "https://stub")
        configuration.interceptors = [Caching(store, rules: rules)]
        change(&configuration)
        return stub.map { Agent(configuration, transport: $0) } ?? Agent(configuration)
    }

    private static func identity(_ name: String) -> ClientIdentity {
        .pem(certificate: Array("certificate of \(name)".utf8), key: Array("key of \(name)".utf8))
    }

    // MARK: Certificates

    @Test(arguments: [CacheRules.app(5000), .server()])
    func clientCertificatesSeparateUsers(rules: CacheRules) async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("certificate of c".utf8), to: "c.pem")
        try folder.write(Array("certificate of d".utf8), to: "d.pem")
        let identities = [
            nil, Self.identity("a"), Self.identity("b"), .file(certificate: folder.file("c.pem")),
            .file(certificate: folder.file("d.pem")),
        ]
        let stub = StubTransport()
        stub.register("/", with: (0..<9).map { StubReply(headers: Self.fresh, body: [.text("\($0)")]) })
        for _ in 0..<2 {
            for (index, identity) in identities.enumerated() {
                var request = Request<String>("/")
                request.trust = TrustPolicy(identity: identity)
                #expect(try await agent(rules, stub).send(request).value == "\(index)")
                // The agent's certificate counts like the request's.
                let agent = agent(rules, stub) { $0.trust = TrustPolicy(identity: identity) }
                #expect(try await agent.send(Request<String>("/")).value == "\(index)")
            }
        }
        #expect(stub.requests.count == identities.count)
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func entryOfACertificateIsNotUsedWithoutOne(rules: CacheRules) async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/", Reply(headers: ["Cache-Control: max-age=5000"], body: Array("private".utf8)))
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        let known = ClientIdentity.file(certificate: folder.file("cert.pem"), key: folder.file("key.pem"))
        for (identity, outcome) in [(known, CacheReport.Outcome.network), (known, .hit)] {
            let agent = agent(rules) {
                $0.baseURL = server.url("/")
                $0.trust = TrustPolicy(roots: .pem(server.authority), identity: identity)
            }
            #expect(try await agent.send(Request<String>(server.url("/"))).cache?.outcome == outcome)
        }
        let stranger = agent(rules) { $0.trust = TrustPolicy(authorityOf: server) }
        await #expect(throws: NetError.self) { try await stranger.send(Request<String>(server.url("/"))) }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func replacedCertificateFileIsAnotherUser(rules: CacheRules) async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport()
        stub.register("/", with: (0..<9).map { StubReply(headers: Self.fresh, body: [.text("\($0)")]) })
        var request = Request<String>("/")
        request.trust = TrustPolicy(identity: .file(certificate: folder.file("c.pem")))
        for (name, value) in [("a", "0"), ("b", "1"), ("a", "0"), ("b", "1")] {
            try folder.write(Array("certificate of \(name)".utf8), to: "c.pem")
            #expect(try await agent(rules, stub).send(request).value == value)
        }
        // This agent may reuse connections that were opened with the earlier file.
        let agent = agent(rules, stub)
        #expect(try await agent.send(request).value == "1")
        try folder.write(Array("certificate of a".utf8), to: "c.pem")
        #expect(try await agent.send(request).value == "2")
        #expect(try await agent.send(request).value == "3")
        try folder.write(Array("certificate of b".utf8), to: "c.pem")
        #expect(try await agent.send(request).value == "4")
    }

    @Test(arguments: [CacheRules.app(5000) { $0.scope = "alice" }, .server { $0.scope = "alice" }])
    func namedScopeReplacesTheCertificateInTheKey(rules: CacheRules) async throws {
        let stub = StubTransport()
        stub.register("/", with: (0..<9).map { StubReply(headers: Self.fresh, body: [.text("\($0)")]) })
        for name in ["a", "b"] {
            var request = Request<String>("/")
            request.trust = TrustPolicy(identity: Self.identity(name))
            #expect(try await agent(rules, stub).send(request).value == "0")
        }
    }

    // MARK: netrc

    @Test(arguments: [CacheRules.app(5000), .server()])
    func netrcFilesSeparateUsers(rules: CacheRules) async throws {
        let server = try LoopbackServer()
        let replies = ["0", "1", "2"].map {
            Reply(headers: ["Cache-Control: max-age=5000"], body: Array($0.utf8))
        }
        server.script("/", replies)
        let folder = try TemporaryFolder()
        for name in ["a", "b"] {
            let line = "machine 127.0.0.1 login \(name) password \(name)\n"
            try folder.write(Array(line.utf8), to: name, mode: 0o600)
        }
        let choices: [NetrcSource] = [.off, .file(folder.file("a")), .file(folder.file("b"))]
        for _ in 0..<2 {
            for (index, choice) in choices.enumerated() {
                let agent = agent(rules) { $0.netrc = choice }
                #expect(try await agent.send(Request<String>(server.url("/"))).value == "\(index)")
            }
        }
        #expect(server.requestCount == 3)
        #expect(Set((0..<3).map { server.received($0).values(named: "Authorization") }).count == 3)
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func unreadableNetrcFileDisablesTheCache(rules: CacheRules) async throws {
        let stub = StubTransport()
        stub.register("/", with: (0..<9).map { StubReply(headers: Self.fresh, body: [.text("\($0)")]) })
        #expect(try await agent(rules, stub).send(Request<String>("/")).value == "0")
        let unread = agent(rules, stub) { $0.netrc = .file("/nowhere/netrc") }
        #expect(try await unread.send(Request<String>("/")).value == "1")
        #expect(try await unread.send(Request<String>("/")).value == "2")
        #expect(try await agent(rules, stub).send(Request<String>("/")).value == "0")
    }

    // MARK: Challenges

    /// A server that challenges requests without credentials, and has a page for each user.
    private static func personal() -> StubTransport {
        StubTransport { incoming in
            for name in ["a", "b"] where incoming.request.credentials == .basic(user: name, password: name) {
                return StubReply(headers: fresh, body: [.text("data of \(name)")])
            }
            if incoming.path == "/public" {
                return StubReply(headers: fresh, body: [.text("public")])
            }
            if incoming.path == "/away" {
                return StubReply(status: 302, headers: ["Location": "/public"])
            }
            return StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
        }
    }

    /// The ways to give a user's credentials for a challenge.
    private static let ways: [@Sendable (String) async throws -> Configure] = [
        { name in
            { $0.interceptors.append(TransferHooks(challenge: { _ in .use(.basic(user: name, password: name)) })) }
        },
        { name in
            let space = try #require(ProtectionSpace(url: "https://stub/"))
            let store = CredentialStore()
            try await store.set(.basic(user: name, password: name), for: space)
            return { $0.credentialStore = store }
        },
    ]

    @Test(arguments: [CacheRules.app(5000), .server(), .server(.networkElseCache)], 0..<2)
    func responseToAChallengeIsNotShared(rules: CacheRules, way: Int) async throws {
        for name in ["a", "b", "a"] {
            let agent = agent(rules, Self.personal(), change: try await Self.ways[way](name))
            let answer = try await agent.send(Request<String>("/me"))
            #expect(answer.value == "data of \(name)" && answer.cache?.isStorable == false)
            let stream = try await agent.stream(Request<Bytes>("/me"))
            #expect(String(decoding: Array(try await stream.collect(upTo: 99)), as: UTF8.self) == "data of \(name)")
            #expect(try await agent.cached(Request<String>("/me")).response == nil)
        }
    }

    @Test(arguments: [CacheRules.app(5000), .server()], 0..<2)
    func responseWithoutAChallengeIsStored(rules: CacheRules, way: Int) async throws {
        let agent = agent(rules, Self.personal(), change: try await Self.ways[way]("a"))
        for outcome in [CacheReport.Outcome.network, .hit] {
            #expect(try await agent.send(Request<String>("/public")).cache?.outcome == outcome)
        }
        var request = Request<String>("/me")
        request.credentials = .basic(user: "b", password: "b")
        for outcome in [CacheReport.Outcome.network, .hit] {
            let answer = try await agent.send(request)
            #expect(answer.value == "data of b" && answer.cache?.outcome == outcome)
        }
    }

    @Test(arguments: [CacheRules.app(5000) { $0.scope = "a" }, .server { $0.scope = "a" }])
    func responseToAChallengeIsStoredForANamedScope(rules: CacheRules) async throws {
        let agent = agent(rules, Self.personal(), change: try await Self.ways[0]("a"))
        for outcome in [CacheReport.Outcome.network, .hit] {
            #expect(try await agent.send(Request<String>("/me")).cache?.outcome == outcome)
        }
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func credentialsOtherThanTheRequestsDisableStoring(rules: CacheRules) async throws {
        let agent = agent(rules, Self.personal(), change: try await Self.ways[0]("a"))
        var request = Request<String>("/me")
        request.credentials = .basic(user: "stale", password: "stale")
        #expect(try await agent.send(request).value == "data of a")
        #expect(try await agent.cached(request).response == nil)
    }

    @Test(arguments: [CacheRules.app(5000), .server()])
    func joinedStreamOfAChallengeIsNotStored(rules: CacheRules) async throws {
        let gate = StubGate()
        let stub = StubTransport { incoming in
            incoming.request.credentials == .inherited
                ? StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                : StubReply(headers: Self.fresh, body: [.text("data of a")]).held(by: gate)
        }
        let repeats = RequestDeduplication(.join)
        let agent = agent(rules, stub) {
            $0.interceptors.append(TransferHooks(challenge: { _ in .use(.basic(user: "a", password: "a")) }))
            $0.interceptors.append(TransferHooks(head: { _, _ in .stream }))
            $0.interceptors.append(repeats)
        }
        async let first = agent.send(Request<String>("/me")).value
        async let second = agent.send(Request<String>("/me")).value
        while repeats.waitingCount < 2 {
            await Task.yield()
        }
        gate.open()
        #expect(try await [first, second] == ["data of a", "data of a"])
        #expect(try await agent.cached(Request<String>("/me")).response == nil)
    }

    @Test func responseAfterAChallengedRedirectIsNotStored() async throws {
        let stub = StubTransport { incoming in
            if incoming.path == "/home" {
                return incoming.request.credentials == .inherited
                    ? StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                    : StubReply(status: 302, headers: ["Location": "/users/a"])
            }
            return StubReply(body: [.text("data of a")])
        }
        let agent = agent(.app(5000), stub) {
            $0.interceptors.append(TransferHooks(challenge: { _ in .use(.basic(user: "a", password: "a")) }))
            $0.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        }
        #expect(try await agent.send(Request<String>("/home")).value == "data of a")
        #expect(try await agent.cached(Request<String>("/home")).response == nil)
    }

    @Test func challengedRevalidationDoesNotUpdateTheEntry() async throws {
        let stub = StubTransport { incoming in
            if incoming.headers["If-None-Match"] == nil {
                return StubReply(headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""], body: [.text("public")])
            }
            return incoming.request.credentials == .inherited
                ? StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                : StubReply(status: 304, headers: ["ETag": "\"1\"", "X-User": canary])
        }
        let agent = agent(.server(), stub, change: try await Self.ways[0]("a"))
        _ = try await agent.send(Request<String>("/"))
        let answer = try await agent.send(Request<String>("/"))
        #expect(answer.cache?.outcome == .revalidated && answer.value == "public")
        #expect(try await agent.cached(Request<String>("/")).response?.headers["X-User"] == nil)
    }
}

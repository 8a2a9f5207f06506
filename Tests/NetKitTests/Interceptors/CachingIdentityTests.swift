import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Separation of users' responses, and the identity that is written to disk.
@Suite(.timeLimit(.minutes(5)))
struct CachingIdentityTests {
    private typealias Change = @Sendable (inout Request<String>) -> Void

    private static let users: [Change] = [
        { _ in },
        { $0.headers["Authorization"] = "Bearer a" },
        { $0.headers["Authorization"] = "Bearer b" },
        { $0.credentials = .basic(user: "u", password: "a") },
        { $0.credentials = .basic(user: "u", password: "b") },
        { $0.headers["Cookie"] = "session=a" },
        { $0.headers["Cookie"] = "session=b" },
        { $0.url = "http://u:a@stub/" },
        { $0.url = "http://u:b@stub/" },
    ]

    @Test(arguments: [CacheRules.app(5000), .server()])
    func responsesAreNotSharedBetweenUsers(rules: CacheRules) async throws {
        let fixture = CacheFixture(rules)
        let fields: Headers = ["Cache-Control": "max-age=5000"]
        fixture.stub.register(
            "/", with: (0..<100).map { StubReply(headers: fields, body: [.text("\($0)")]) })
        // Each user sends twice and receives the same response again. No other user receives it.
        var seen: [String: Int] = [:]
        for (index, change) in Self.users.enumerated() {
            var request = Request<String>("/")
            change(&request)
            for _ in 0..<2 {
                let value = try await fixture.agent.send(request).value
                if let owner = seen[value], owner != index {
                    // By the server's rules, a response to a request without cookies is not bound to a user.
                    #expect(owner == 0 && [5, 6].contains(index))
                }
                seen[value] = seen[value] ?? index
            }
        }
        #expect(seen.count >= 7)
    }

    @Test(arguments: [
        CacheRules.app(5000), .app(5000) { $0.scope = "alice" }, .server(), .server { $0.scope = "alice" },
    ])
    func requestOverAnotherRouteHasItsOwnEntry(rules: CacheRules) async throws {
        let ways: [Change] = [
            { _ in },
            { $0.headers["Host"] = "other.example" },
            { $0.unixSocket = "/run/a.sock" },
            { $0.unixSocket = "/run/b.sock" },
            { $0.addressOverrides = [AddressOverride(host: "stub", toHost: "10.0.0.1")] },
            { $0.addressOverrides = [AddressOverride(host: "stub", toHost: "10.0.0.2")] },
            { $0.keepsDotSegments = true },
        ]
        let fields: Headers = ["Cache-Control": "max-age=5000", "Vary": "Accept"]
        let fixture = CacheFixture(rules) { $0.baseURL = nil }
        fixture.stub.register("*", with: (0..<100).map { StubReply(headers: fields, body: [.text("\($0)")]) })
        var keys: Set<CacheKey> = []
        for (index, change) in ways.enumerated() {
            var request = Request<String>("http://stub/a/../")
            change(&request)
            for _ in 0..<2 {
                #expect(try await fixture.agent.send(request).value == "\(index)")
            }
            keys.insert(try fixture.agent.cacheKey(for: request))
        }
        #expect(keys.count == ways.count)
    }

    /// A redirect's target may depend on the option, even if the first URL contains no dot segments.
    @Test(arguments: [CacheRules.app(5000), .server()])
    func preservedDotSegmentsArePartOfTheKey(rules: CacheRules) throws {
        let fixture = CacheFixture(rules) { $0.baseURL = nil }
        var request = Request<String>("http://stub/a")
        let usual = try fixture.agent.cacheKey(for: request)
        request.keepsDotSegments = true
        #expect(try fixture.agent.cacheKey(for: request) != usual)
    }

    @Test func namedScopeReplacesSentCredentialsInTheKey() async throws {
        for rules in [
            { (scope: String) in CacheRules.app(5000) { $0.scope = scope } },
            { (scope: String) in CacheRules.server { $0.scope = scope } },
        ] {
            let fixture = CacheFixture()
            let fields: Headers = ["Cache-Control": "max-age=5000"]
            fixture.stub.register(
                "/", with: (0..<9).map { StubReply(headers: fields, body: [.text("\($0)")]) })
            var request = Request<String>("/").cached(rules("alice"))
            #expect(try await fixture.agent.send(request).value == "0")
            request.headers["Authorization"] = "Bearer another"
            #expect(try await fixture.agent.send(request).value == "0")
            #expect(try await fixture.agent.send(request.cached(rules("bob"))).value == "1")
            #expect(try await fixture.agent.send(request.cached(rules(""))).value == "2")
            request.headers["Authorization"] = nil
            #expect(try await fixture.agent.send(request.cached(rules(""))).value == "2")
        }
    }

    @Test func agentCookiesSeparateUsers() async throws {
        let server = try LoopbackServer()
        server.script("/", [.text("1"), .text("2"), .text("3")])
        for rules in [CacheRules.app(5000), .app(5000) { $0.scope = "" }] {
            var configuration = Agent.Configuration()
            configuration.cookies = .memory
            configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
            let agent = Agent(configuration)
            let request = Request<String>(server.url("/"))
            try agent.cookies.set(Cookie(name: "session", value: "a", domain: "127.0.0.1"))
            let first = try await agent.send(request)
            #expect(first.cache?.outcome == .network)
            #expect(try await agent.send(request).cache?.outcome == .hit)
            try agent.cookies.set(Cookie(name: "session", value: "b", domain: "127.0.0.1"))
            let isShared = if case .application(let policy) = rules { policy.scope != nil } else { false }
            #expect(try await agent.send(request).cache?.outcome == (isShared ? .hit : .network))
            await agent.shutdown()
        }
    }

    @Test func hostFieldSelectsTheCookies() async throws {
        let server = try LoopbackServer()
        server.script("/", [.text("1"), .text("2"), .text("3")])
        var configuration = Agent.Configuration()
        configuration.cookies = .memory
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(5000))]
        let agent = Agent(configuration)
        let request = Request<String>(server.url("/"), headers: ["Host": "Site.example:8080"])
        for value in ["1", "2"] {
            try agent.cookies.set(Cookie(name: "session", value: value, domain: "site.example"))
            #expect(try await agent.send(request).value == value)
            #expect(try await agent.send(request).cache?.outcome == .hit)
        }
        #expect(server.received(1).values(named: "Cookie") == ["session=2"])
        await agent.shutdown()
    }

    @Test func cookieVariantIsNotReusedAfterCookiesWereReceived() async throws {
        let server = try LoopbackServer()
        let fields = ["Cache-Control: max-age=5000", "Vary: Cookie"]
        server.script("/", ["1", "2"].map { Reply(headers: fields, body: Array($0.utf8)) })
        var configuration = Agent.Configuration()
        configuration.cookies = .memory
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .server())]
        let agent = Agent(configuration)
        let request = Request<String>(server.url("/"))
        #expect(try await agent.send(request).value == "1")
        #expect(try await agent.send(request).cache?.outcome == .hit)
        try agent.cookies.set(Cookie(name: "session", value: "a", domain: "127.0.0.1"))
        #expect(try await agent.send(request).value == "2")
        #expect(try await agent.send(request).cache?.outcome == .hit)
        await agent.shutdown()
    }

    @Test func diskCacheContainsNoUserIdentity() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let fixture = CacheFixture(store: DiskCacheStore(directory: path))
        let fields: Headers = ["Cache-Control": "max-age=5000", "Set-Cookie": "session=\(canary)"]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("x")]))
        var request = Request<String>("http://\(canary):\(canary)@stub/")
        request.headers["Authorization"] = "Bearer \(canary)"
        request.headers["Cookie"] = "session=\(canary)"
        request.headers["X-Key"] = canary
        _ = try await fixture.agent.send(
            request.cached(.app(5000) { ($0.sensitiveData, $0.scope) = (canary, canary) }))
        _ = try await fixture.agent.send(request.cached(.app(5000)))
        let files = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(files.count >= 4)
        for file in files {
            // Foundation leaks memory when it reads an empty file.
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + file)
            guard let size = attributes[.size] as? any BinaryInteger, Int(clamping: size) > 0 else { continue }
            let data = FileManager.default.contents(atPath: path + "/" + file) ?? Data()
            #expect(String(decoding: data, as: UTF8.self).contains(canary) == false, "\(file)")
        }
    }

    @Test func identityHashesAreStableAcrossProcessesAndDependOnTheKey() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let rules = CacheRules.app(5000) { ($0.sensitiveData, $0.scope) = ("secret", "alice") }
        for (key, outcome) in [
            (nil, CacheReport.Outcome.network), (nil, .hit), (Bytes(Array(repeating: 7, count: 32)), .network),
            (nil, .hit),
        ] {
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [Caching(DiskCacheStore(directory: path), rules: rules, hashKey: key)]
            let stub = StubTransport()
            stub.register("/", with: .text("x"))
            let answer = try await Agent(configuration, transport: stub).send(Request<String>("/"))
            #expect(answer.cache?.outcome == outcome)
        }
    }

    /// Creates an agent with a cache in this directory, as a new process would, and returns the outcomes of its
    /// requests.
    private func outcomes(at path: String, of requests: [Request<String>]) async throws -> [CacheReport.Outcome?] {
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: path))
        fixture.stub.register("*", with: .text("x"))
        return try await withThrowingTaskGroup(of: CacheReport.Outcome?.self) { group in
            for request in requests {
                group.addTask { try await fixture.agent.send(request).cache?.outcome }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func concurrentlyStoredEntriesSurviveARestart() async throws {
        for _ in 0..<20 {
            let folder = try TemporaryTree()
            let path = folder.file("cache")
            let requests = (0..<8).map { Request<String>("/\($0)", headers: ["Authorization": "Bearer a"]) }
            #expect(try await outcomes(at: path, of: requests).allSatisfy { $0 == .network })
            #expect(try await outcomes(at: path, of: requests).allSatisfy { $0 == .hit })
        }
    }

    @Test func entryStoredAfterRemoveAllSurvivesARestart() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: path))
        fixture.stub.register("*", with: .text("x"))
        let request = Request<String>("/", headers: ["Authorization": "Bearer a"])
        _ = try await fixture.agent.send(request)
        try await fixture.store.removeAll(.all)
        _ = try await fixture.agent.send(request)
        #expect(try await outcomes(at: path, of: [request]) == [.hit])
    }

    @Test func entrySurvivesARestartAfterManyStores() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: path, maximumEntries: 4))
        fixture.stub.register("*", with: .text("x"))
        for number in 0..<8 {
            _ = try await fixture.agent.send(Request<String>("/\(number)", headers: ["Authorization": "Bearer a"]))
        }
        let last = Request<String>("/7", headers: ["Authorization": "Bearer a"])
        #expect(try await outcomes(at: path, of: [last]) == [.hit])
    }

    @Test func bodiesWithEqualMD5HaveSeparateEntries() async throws {
        let (one, other) = try CollidingBlocks.pair
        #expect(one != other)
        #expect(try Digest.of(one, .md5) == Digest.of(other, .md5))
        let folder = try TemporaryTree()
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: folder.file("c")))
        fixture.stub.register("/", with: .text("one"), .text("other"))
        for (body, value) in [(one, "one"), (other, "other"), (one, "one"), (other, "other")] {
            let request = Request<String>("/", method: .post, body: Body(body)).cached(.app(5000))
            #expect(try await fixture.agent.send(request).value == value)
        }
        #expect(fixture.stub.requests.count == 2)
    }
}

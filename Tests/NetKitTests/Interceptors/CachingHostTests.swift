import Testing

@testable import NetKit

/// Cookies separate the cached responses of users, for every spelling of a host and across redirects.
@Suite(.timeLimit(.minutes(5)))
struct CachingHostTests {
    private static let spellings = [
        "a.test", "A.TEST", "a.test.", "%61.test", "xn--bcher-kva.example", "b\u{FC}cher.example",
        "B\u{DC}CHER.example",
        "b%C3%BCcher.example", "b\u{FC}cher\u{3002}example", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1",
        "\u{FF11}\u{FF12}\u{FF17}.0.0.1", "%31%32%37.1", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]",
    ]

    private func makeAgent(_ store: any CacheStore = MemoryCacheStore()) -> Agent {
        var configuration = Agent.Configuration()
        configuration.cookies = .memory
        configuration.interceptors = [Caching(store)]
        return Agent(configuration)
    }

    /// Creates a server with a session for each user, and a page that names the session's user.
    private func makeServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        for user in ["1", "2"] {
            server.script("/login\(user)", Reply(headers: ["Set-Cookie: session=\(user); Path=/"]))
        }
        let fields = ["Cache-Control: max-age=1000", "Vary: Cookie"]
        server.script(
            "/me", ["first", "second", "third", "fourth"].map { Reply(headers: fields, body: Array($0.utf8)) })
        return server
    }

    private func send(_ url: String, _ rules: CacheRules = .off, by agent: Agent) async throws -> Response<String> {
        var request = Request<String>(url).cached(rules)
        if !url.contains("[") {
            request.addressOverrides = [AddressOverride(toHost: "127.0.0.1")]
        }
        return try await agent.send(request)
    }

    @Test(arguments: spellings)
    func eachUserHasASeparateEntry(host: String) async throws {
        for rules in [CacheRules.app(1000), .server()] {
            let server = try makeServer()
            let agent = makeAgent()
            let base = "http://\(host):\(server.port)"
            for page in ["first", "second"] {
                _ = try await send(base + (page == "first" ? "/login1" : "/login2"), by: agent)
                #expect(try await send(base + "/me", rules, by: agent).value == page)
                let again = try await send(base + "/me", rules, by: agent)
                #expect(again.value == page && again.cache?.outcome == .hit)
            }
            await agent.shutdown()
        }
    }

    /// A cookie that was set under one spelling of a host counts for the other spellings.
    @Test(arguments: [
        ("xn--bcher-kva.example", "b\u{FC}cher.example"), ("a.test", "%61.test"), ("127.0.0.1", "127.1"),
    ])
    func sessionSeparatesEntriesForEverySpellingOfTheHost(known: String, requestedHost: String) async throws {
        let server = try makeServer()
        let agent = makeAgent()
        for (user, page) in [("1", "first"), ("2", "second")] {
            _ = try await send("http://\(known):\(server.port)/login\(user)", by: agent)
            let value = try await send("http://\(requestedHost):\(server.port)/me", .app(1000), by: agent).value
            #expect(value == page)
        }
        await agent.shutdown()
    }

    @Test func sessionsThatDifferInANonTextByteAreSeparate() async throws {
        let server = try makeServer()
        let agent = makeAgent()
        for (byte, page) in [(0xC4 as UInt8, "first"), (0xE3, "second"), (0xC4, "first")] {
            let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: session=".utf8)
            let reply = Reply(body: head + [byte] + Array("; Path=/\r\n\r\n".utf8), isRaw: true, ending: .close)
            server.script("/login", reply)
            _ = try await send("http://a.test:\(server.port)/login", by: agent)
            // Neither byte is valid UTF-8, so both sessions would be equal as text.
            let value = try await send("http://a.test:\(server.port)/me", .app(1000), by: agent).value
            #expect(value == page)
        }
        await agent.shutdown()
    }

    // MARK: Redirects

    @Test(arguments: [["b.test"], ["b.test", "c.test"], ["c.test", "b.test", "a.test"]])
    func redirectedResponseIsReusedOnlyWithTheSameCookies(hosts: [String]) async throws {
        let server = try makeServer()
        let agent = makeAgent()
        let origins = hosts.map { "http://\($0):\(server.port)" }
        for (number, place) in origins.enumerated() {
            server.script(
                "/go\(number)", .redirect(to: place + (number + 1 < origins.count ? "/go\(number + 1)" : "/me")))
        }
        for (user, page) in [("1", "first"), ("2", "second")] {
            _ = try await send("http://b.test:\(server.port)/login\(user)", by: agent)
            let url = "http://a.test:\(server.port)/go0"
            #expect(try await send(url, .app(1000), by: agent).value == page)
            let again = try await send(url, .app(1000), by: agent)
            #expect(again.value == page && again.cache?.outcome == .hit)
        }
        await agent.shutdown()
    }

    /// Cookies of a host that the redirects did not visit do not change the key.
    @Test func cookiesOfOtherHostsDoNotAffectTheKey() async throws {
        let server = try makeServer()
        let agent = makeAgent()
        server.script("/go", .redirect(to: "http://b.test:\(server.port)/me"))
        for host in ["b.test", "c.test", "d.test"] {
            _ = try await send("http://\(host):\(server.port)/login1", by: agent)
            let response = try await send("http://a.test:\(server.port)/go", .app(1000), by: agent)
            #expect(response.value == "first" && response.cache?.outcome == (host == "b.test" ? .network : .hit))
        }
        await agent.shutdown()
    }

    /// A second agent shares the store. Its own cookies, or their absence, decide which responses it gets.
    @Test func sharedStoreSeparatesOwners() async throws {
        let server = try makeServer()
        let store = MemoryCacheStore()
        server.script("/go", .redirect(to: "http://b.test:\(server.port)/me"))
        let url = "http://a.test:\(server.port)/go"
        let first = makeAgent(store)
        _ = try await send("http://b.test:\(server.port)/login1", by: first)
        #expect(try await send(url, .app(1000), by: first).value == "first")
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(store)]
        let jarless = Agent(configuration)
        #expect(try await send(url, .app(1000), by: jarless).value == "second")
        #expect(try await send(url, .app(1000), by: first).value == "third")
        await first.shutdown()
        await jarless.shutdown()
    }

    /// The cookies change between the cache lookup and the request. The response then belongs to another user than the
    /// cache key.
    @Test func responseIsNotStoredIfItsCookiesChangedMeanwhile() async throws {
        struct Switching: Interceptor {
            let change: @Sendable () throws -> Void
            func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
                try? change()
                return try await next(call)
            }
        }
        let server = try makeServer()
        let changing = Collected<Agent>()
        var configuration = Agent.Configuration()
        configuration.cookies = .memory
        let switching = Switching {
            try changing.values.first?.cookies.set(Cookie(name: "session", value: "2", domain: "127.0.0.1"))
        }
        configuration.interceptors = [Caching(MemoryCacheStore()), switching]
        let agent = Agent(configuration)
        try agent.cookies.set(Cookie(name: "session", value: "1", domain: "127.0.0.1"))
        changing.append(agent)
        let request = Request<String>(server.url("/me")).cached(.app(1000))
        #expect(try await agent.send(request).value == "first")
        changing.removeAll()
        try agent.cookies.set(Cookie(name: "session", value: "1", domain: "127.0.0.1"))
        #expect(try await agent.send(request).value == "second")
        await agent.shutdown()
    }

    // MARK: Hosts of a store

    @Test func storeFindsAHostByEverySpelling() async throws {
        let folder = try TemporaryTree()
        for store in [MemoryCacheStore() as any CacheStore, DiskCacheStore(directory: folder.file("c"))] {
            for spelling in ["b\u{FC}cher.example", "XN--bcher-kva.EXAMPLE", "B%C3%BCcher.example."] {
                try await store.put(
                    CacheEntry(body: [1], host: "xn--bcher-kva.example"), for: CacheKey(description: [1]))
                #expect(try await store.removeAll(.host(spelling)) == 1)
            }
        }
    }

    @Test func spellingsOfOneHostAreSameOrigin() {
        for (one, other, isSame) in [
            ("http://b\u{FC}cher.test/a", "http://XN--BCHER-KVA.test:080/b", true),
            ("http://%61.test", "http://a.test./", true), ("https://a:0443/", "https://a", true),
            ("http://127.1/", "http://[::ffff:127.0.0.1]/", true), ("http://a/", "https://a/", false),
            ("http://a/", "http://a:81/", false), ("http://bucher.test/", "http://b\u{FC}cher.test/", false),
        ] {
            #expect(one.hasSameOrigin(as: other) == isSame, "\(one) \(other)")
        }
        #expect("http://u@B\u{FC}cher.test:8080/x".origin == "http://xn--bcher-kva.test:8080")
        #expect("https://[0::1]/".hostName == "::1")
        let space = ProtectionSpace(scheme: "http", host: "B\u{FC}cher.test", port: 80)
        #expect(ProtectionSpace(url: "http://b%C3%BCcher.test/") == space)
        #expect(ProtectionSpace(url: "http://[0::1]:81/")?.host == "[::1]")
    }
}

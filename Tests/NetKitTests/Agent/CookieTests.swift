import FoundationEssentials
import NetKit
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Foundation on Linux accepts cookies for whole country domains, and stores them in a directory that depends on the
/// process. NetKit does neither.
struct CookieTests {
    /// Returns a request for any host name, resolved to this server.
    private static func request(_ url: String, at server: LoopbackServer) -> Request<Bytes> {
        var request = Request<Bytes>(url)
        request.addressOverrides = [AddressOverride(toHost: "127.0.0.1", toPort: server.port)]
        return request
    }

    private static func server(setting cookies: String...) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/set", Reply(headers: cookies.map { "Set-Cookie: \($0)" }))
        server.script("/", Reply())
        return server
    }

    @Test func cookiesAreNotStoredByDefault() async throws {
        let server = try Self.server(setting: "a=1")
        let agent = Agent()
        _ = try await agent.send(Request<Bytes>(server.url("/set")))
        _ = try await agent.send(Request<Bytes>(server.url("/")))
        #expect(server.received(1).values(named: "Cookie").isEmpty)
        let error = await #expect(throws: NetError.self) { try await agent.cookies.all() }
        #expect(error?.code == .usage)
    }

    @Test func cookieJarReturnsCookiesToTheServerThatSetThem() async throws {
        let server = try Self.server(setting: "a=1; HttpOnly", "b=2; Path=/other", "c=3; Secure", "d=4; Max-Age=0")
        let agent = Agent(configured: { $0.cookies = .memory })
        _ = try await agent.send(Self.request("http://a.test/set", at: server))
        for host in ["a.test", "b.test", "sub.a.test"] {
            _ = try await agent.send(Self.request("http://\(host)/", at: server))
        }
        #expect(server.received(1).values(named: "Cookie") == ["a=1"])
        #expect(server.received(2).values(named: "Cookie").isEmpty)
        #expect(server.received(3).values(named: "Cookie").isEmpty)
        let stored = try await agent.cookies.all()
        #expect(Set(stored.map(\.name)).isSuperset(of: ["a", "b"]))
        #expect(stored.first { $0.name == "a" }?.isHTTPOnly == true)
        var request = Self.request("http://a.test/", at: server)
        request.cookiePolicy = .ignore
        _ = try await agent.send(request)
        #expect(server.received(4).values(named: "Cookie").isEmpty)
        try agent.cookies.removeAll()
        _ = try await agent.send(Self.request("http://a.test/", at: server))
        #expect(server.received(5).values(named: "Cookie").isEmpty)
    }

    @Test func cookieIsSetWithItsExpiry() async throws {
        let server = try Self.server(setting: "a=1")
        let agent = Agent(configured: { $0.cookies = .memory })
        let expiry = Date(timeIntervalSince1970: 4_000_000_000.75)
        try agent.cookies.set(Cookie(name: "session", value: "abc", domain: "a.test", expires: expiry))
        try agent.cookies.set([Cookie(name: "old", value: "1", domain: "a.test", expires: .distantPast)])
        _ = try await agent.send(Self.request("http://a.test/", at: server))
        #expect(server.received(0).values(named: "Cookie") == ["session=abc"])
        #expect(try await agent.cookies.all().first?.expires == Date(timeIntervalSince1970: 4_000_000_000))
    }

    @Test(arguments: [CookiePolicy.sendAndStore, .sendOnly, .storeOnly, .ignore])
    func cookieUseOfARequestControlsSendingAndStoring(use: CookiePolicy) async throws {
        let server = try Self.server(setting: "old=1; Path=/")
        server.script("/new", Reply(headers: ["Set-Cookie: old=; Path=/; Max-Age=0", "Set-Cookie: new=2; Path=/"]))
        let agent = Agent(configured: { $0.cookies = .memory })
        _ = try await agent.send(Request<Bytes>(server.url("/set")))
        var request = Request<Bytes>(server.url("/new"))
        request.cookiePolicy = use
        _ = try await agent.send(request)
        #expect(server.received(1).values(named: "Cookie") == (use.sends ? ["old=1"] : []))
        #expect(try await agent.cookies.all().map(\.name) == [use.stores ? "new" : "old"])
        _ = try await agent.send(Request<Bytes>(server.url("/")))
        #expect(server.received(2).values(named: "Cookie") == [use.stores ? "new=2" : "old=1"])
    }

    /// A paused or interrupted download sends further requests, which must use the same cookie policy.
    @Test func downloadsAndStreamsRespectCookieUse() async throws {
        let server = try Self.server(setting: "old=1; Path=/")
        server.script("/file", Reply(headers: ["Set-Cookie: new=2; Path=/"], body: Array("content".utf8)))
        let folder = try TemporaryFolder()
        let agent = Agent(configured: { $0.cookies = .memory })
        _ = try await agent.send(Request<Bytes>(server.url("/set")))
        var request = Request<Bytes>(server.url("/file"))
        request.cookiePolicy = .sendOnly
        _ = try await agent.download(request, to: folder.file("file"))
        for try await _ in try await agent.stream(request) {}
        #expect(server.received(1).values(named: "Cookie") == ["old=1"])
        #expect(server.received(2).values(named: "Cookie") == ["old=1"])
        #expect(try await agent.cookies.all().map(\.name) == ["old"])
        request.cookiePolicy = .storeOnly
        _ = try await agent.download(request, to: folder.file("file"))
        #expect(server.received(3).values(named: "Cookie").isEmpty)
        #expect(Set(try await agent.cookies.all().map(\.name)) == ["new", "old"])
    }

    @Test(arguments: [
        ("http://shop.co.uk/set", "co.uk", "http://bank.co.uk/"), ("http://a.com/set", "com", "http://b.com/"),
        ("http://me.github.io/set", "github.io", "http://you.github.io/"),
    ])
    func cookieForAPublicSuffixIsRefused(url: String, domain: String, victim: String) async throws {
        let server = try Self.server(setting: "evil=1; Domain=\(domain)", "good=1")
        let agent = Agent(configured: { $0.cookies = .memory })
        _ = try await agent.send(Self.request(url, at: server))
        _ = try await agent.send(Self.request(victim, at: server))
        _ = try await agent.send(Self.request(url.replacing("/set", with: "/"), at: server))
        #expect(server.received(1).values(named: "Cookie").isEmpty)
        #expect(server.received(2).values(named: "Cookie") == ["good=1"])
        #expect(try await agent.cookies.all().map(\.name) == ["good"])
    }

    @Test func domainCookieIsSentToSubdomains() async throws {
        let server = try Self.server(setting: "wide=1; Domain=shop.co.uk")
        let agent = Agent(configured: { $0.cookies = .memory })
        for url in ["http://shop.co.uk/set", "http://www.shop.co.uk/", "http://other.co.uk/"] {
            _ = try await agent.send(Self.request(url, at: server))
        }
        #expect(server.received(1).values(named: "Cookie") == ["wide=1"])
        #expect(server.received(2).values(named: "Cookie").isEmpty)
    }

    @Test func cookieJarFileIsOwnerOnlyAndSurvivesTheAgent() async throws {
        let server = try Self.server(setting: "kept=1; Max-Age=9999")
        let folder = try TemporaryFolder()
        let path = folder.file("jar")
        let first = Agent(configured: { $0.cookies = .file(path) })
        _ = try await first.send(Request<Bytes>(server.url("/set")))
        await first.shutdown()
        #expect(folder.mode(of: "jar") == S_IFREG | 0o600)
        #expect(folder.names == ["jar"])
        let second = Agent(configured: { $0.cookies = .file(path) })
        _ = try await second.send(Request<Bytes>(server.url("/")))
        #expect(server.received(1).values(named: "Cookie") == ["kept=1"])
        await second.shutdown()
        #expect(folder.mode(of: "jar") == S_IFREG | 0o600)
    }

    @Test func failureToSaveTheCookieJarIsReportedAtShutdown() async throws {
        let server = try Self.server(setting: "kept=1; Max-Age=9999")
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder).file("jar")
        let agent = Agent(configured: { $0.cookies = .file(path) })
        let events = agent.activity()
        folder = nil  // removes the cookie file too
        _ = try await agent.send(Request<Bytes>(server.url("/set")))
        await agent.invalidate()
        var failures: [NetError] = []
        for await event in events {
            if case .saveFailed(let error) = event { failures.append(error) }
            if case .invalidated = event { break }
        }
        #expect(failures.map(\.code) == [.file] && failures.map(\.nativeCode) == [Int(ENOENT)])
        #expect(failures.first?.message.contains(path) == true)
    }

    #if os(Linux)
    /// Runs in a child process, because the working directory belongs to the whole process.
    @Test func noCookieFileIsCreatedByDefault() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer()
            server.script("/", Reply(headers: ["Set-Cookie: a=1; Max-Age=9999"]))
            let folder = try TemporaryFolder()
            guard unsafe chdir(folder.path) == 0 else { exit(1) }
            unsafe setenv("HOME", folder.path, 1)
            for retention in [StatePersistence.off, .memory] {
                let agent = Agent(configured: {
                    $0.cookies = retention
                    $0.hsts = retention
                    $0.altSvc = retention
                })
                guard try await agent.send(Request<Bytes>(server.url("/"))).status == 200 else { exit(2) }
                await agent.shutdown()
                guard folder.names.isEmpty else { exit(3) }
            }
        }
    }
    #endif
}

import NetKit
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Foundation on Linux ignores proxies that are set in code. Here an agent or a request chooses them, and nothing else.
struct ProxyTests {
    private static let proxyCredentials = Credentials.basic(user: "me", password: "canary")

    @Test func agentProxyForwardsItsRequests() async throws {
        let proxy = try ProxyServer()
        let server = try LoopbackServer()
        server.script("/", .text("there"))
        let agent = Agent(configured: { $0.proxy = Proxy(proxy.url) })
        #expect(try await agent.send(Request<String>(server.url("/"))).value == "there")
        #expect(proxy.requestCount == 1)
        #expect(proxy.received().requestLine == "GET \(server.url("/")) HTTP/1.1")
        #expect(server.received().requestLine == "GET / HTTP/1.1")
    }

    @Test func requestProxyOverridesTheAgentProxy() async throws {
        let ofAgent = try ProxyServer()
        let ofRequest = try ProxyServer()
        let server = try LoopbackServer()
        server.script("/", .text("there"))
        let agent = Agent(configured: { $0.proxy = Proxy(ofAgent.url) })
        var request = Request<String>(server.url("/"))
        request.proxy = Proxy(ofRequest.url)
        _ = try await agent.send(request)
        #expect([ofAgent.requestCount, ofRequest.requestCount] == [0, 1])
        request.proxy = .direct
        _ = try await agent.send(request)
        #expect([ofAgent.requestCount, ofRequest.requestCount] == [0, 1])
        request.proxy = Proxy(ofRequest.url, bypass: ["127.0.0.1"])
        _ = try await agent.send(request)
        #expect([ofAgent.requestCount, ofRequest.requestCount] == [0, 1])
        #expect(server.requestCount == 3)
    }

    @Test(arguments: [["*.internal"], [".internal"], ["other", "internal"]])
    func bypassPatternStandsForADomainAndItsSubdomains(bypass: [String]) async throws {
        let proxy = try ProxyServer()
        let server = try LoopbackServer()
        server.script("/", .text("direct"))
        let agent = Agent(configured: { $0.proxy = Proxy(proxy.url, bypass: bypass) })
        var request = Request<String>("http://api.internal:\(server.port)/")
        request.addressOverrides = [AddressOverride(toHost: "127.0.0.1")]
        #expect(try await agent.send(request).value == "direct")
        #expect(proxy.requestCount == 0)
        request.url = "http://notinternal:\(server.port)/"
        _ = try? await agent.send(request)
        #expect(proxy.requestCount == 1)
    }

    @Test func proxyCredentialsAreSentOnlyToTheProxy() async throws {
        let proxy = try ProxyServer(user: "me", password: "canary")
        let server = try LoopbackServer()
        server.script("/", .text("there"))
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        #expect(try await Agent().send(request).status == 407)
        #expect(server.requestCount == 0)
        request.proxy = Proxy(proxy.url, credentials: Self.proxyCredentials)
        #expect(try await Agent().send(request).status == 200)
        let index = proxy.requestCount - 1
        // "me:canary" in Base64.
        #expect(proxy.received(index).values(named: "Proxy-Authorization") == ["Basic bWU6Y2FuYXJ5"])
        #expect(server.received().values(named: "Proxy-Authorization").isEmpty)
        #expect(!"\(request.proxy as Any)".contains("canary"))
    }

    @Test func tunnelProxyNeverReceivesPlaintext() async throws {
        let proxy = try ProxyServer(user: "me", password: "canary")
        let server = try LoopbackServer(.valid)
        server.script("/secret", .text("there"))
        var request = Request<String>(server.url("/secret"), headers: ["X-Key": "canary"])
        request.trust = TrustPolicy(authorityOf: server)
        request.proxy = Proxy(proxy.url, credentials: Self.proxyCredentials, headers: ["X-Proxy": "canary"])
        let response = try await Agent().send(request)
        #expect(response.value == "there")
        #expect(proxy.tunnelCount == 1)
        #expect(proxy.received(proxy.requestCount - 1).values(named: "X-Proxy") == ["canary"])
        #expect(server.received().values(named: "X-Proxy").isEmpty)
        for index in 0..<proxy.requestCount {
            #expect(proxy.received(index).requestLine == "CONNECT 127.0.0.1:\(server.port) HTTP/1.1")
            #expect(proxy.received(index).values(named: "X-Key").isEmpty)
        }
        #expect(server.received().values(named: "Proxy-Authorization").isEmpty)
    }

    @Test func tunnelCanCarryPlainHTTP() async throws {
        let proxy = try ProxyServer()
        let server = try LoopbackServer()
        server.script("/", .text("there"))
        var request = Request<String>(server.url("/"))
        request.proxy = Proxy(proxy.url, usesTunnel: true)
        #expect(try await Agent().send(request).value == "there")
        #expect(proxy.tunnelCount == 1)
        #expect(proxy.received().requestLine == "CONNECT 127.0.0.1:\(server.port) HTTP/1.1")
    }

    @Test func socks5ForwardsARequestWithThePassword() async throws {
        let proxy = try ProxyServer(.socks5, user: "me", password: "canary")
        let server = try LoopbackServer()
        server.script("/", .text("there"))
        var request = Request<String>(server.url("/"))
        request.proxy = Proxy(proxy.url, credentials: Self.proxyCredentials)
        #expect(try await Agent().send(request).value == "there")
        #expect(proxy.tunnelCount == 1)
        request.proxy = Proxy(proxy.url, credentials: .basic(user: "me", password: "wrong"))
        let error = try await expectFailure(.proxy, of: request)
        #expect(!error.description.contains("wrong"))
        #expect(server.requestCount == 1)
    }

    @Test func unreachableProxyFailsWithAProxyError() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let server = try LoopbackServer()
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy("http://127.0.0.1:\(port.number)")
        let error = await #expect(throws: NetError.self) { try await Agent().send(request) }
        #expect(error?.isRetryable == true)
        #expect(server.requestCount == 0)
    }

    #if os(Linux)
    /// Exits the child process with the step's number if the condition is false.
    private static func check(_ step: Int32, _ isRight: Bool) {
        if !isRight {
            exit(step)
        }
    }

    /// Runs in a child process, because the environment belongs to the whole process.
    @Test func environmentProxyIsIgnoredByDefault() async {
        await #expect(processExitsWith: .success) {
            let proxy = try ProxyServer()
            let server = try LoopbackServer()
            let secure = try LoopbackServer(.valid)
            let folder = try TemporaryFolder()
            try folder.write(secure.authority, to: "ca.pem")
            try folder.write(Array("machine 127.0.0.1 login me password canary".utf8), to: ".netrc", mode: 0o600)
            server.script("/", .text("there"))
            secure.script("/", .text("there"))
            for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, proxy.url, 1)
            }
            for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSLKEYLOGFILE"] {
                unsafe setenv(name, folder.file(name == "SSLKEYLOGFILE" ? "keys" : "ca.pem"), 1)
            }
            unsafe setenv("HOME", folder.path, 1)
            unsafe setenv("SSL_CERT_DIR", folder.path, 1)

            var request = Request<Bytes>(server.url("/"))
            Self.check(1, try await Agent().send(request).status == 200)
            Self.check(2, proxy.requestCount == 0)
            Self.check(3, server.received().values(named: "Authorization").isEmpty)
            Self.check(4, await ending(of: Request<Bytes>(secure.url("/")), from: Agent()) == .failed(.tlsUntrusted))
            Self.check(5, await ending(of: Request<Bytes>(secure.url("/")), from: Agent(trusting: secure)) == .answered)
            Self.check(6, proxy.requestCount == 0)
            // libcurl creates the file when it starts. It must contain no key.
            Self.check(7, folder.contents(of: "keys")?.isEmpty ?? true)

            request.proxy = .environment
            Self.check(8, try await Agent().send(request).status == 200)
            Self.check(9, proxy.requestCount == 1)
            unsafe setenv("no_proxy", "127.0.0.1", 1)
            Self.check(10, try await Agent().send(request).status == 200)
            Self.check(11, proxy.requestCount == 1)
            request.proxy = .inherited
            let known = Agent(configured: { $0.netrc = .home })
            _ = try await known.send(request)
            Self.check(12, !server.received(3).values(named: "Authorization").isEmpty)
        }
    }
    #endif
}

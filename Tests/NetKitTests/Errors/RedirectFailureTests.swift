import NetKit
import Testing

struct RedirectFailureTests {
    @Test func redirectsAboveTheLimitFail() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/?\(canary)"))
        var request = Request<Bytes>.withSecrets("/", on: server)
        // CURLE_TOO_MANY_REDIRECTS.
        try await expectFailure(.tooManyRedirects, native: 47, of: request)
        #expect(server.requestCount == 21)
        server.forgetRequests()
        request.limits = Limits()
        request.limits.maxRedirects = 3
        let error = try await expectFailure(.tooManyRedirects, native: 47, of: request)
        #expect(!error.isRetryable)
        #expect(error.response?.status == 302)
        #expect(error.response?.metrics.count == 4)
        #expect(server.requestCount == 4)
        server.forgetRequests()
        request.limits.maxRedirects = 0
        try await expectFailure(.tooManyRedirects, native: 47, of: request)
        #expect(server.requestCount == 1)
    }

    @Test(arguments: ["ftp://canary:canary@canary/canary", "file:///canary", "javascript:canary"])
    func aRedirectToAnotherSchemeIsRefused(location: String) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: location))
        // CURLE_UNSUPPORTED_PROTOCOL.
        let error = try await expectFailure(.redirectRefused, native: 1, of: .withSecrets("/", on: server))
        #expect(!error.isRetryable)
        #expect(error.response?.status == 302)
    }

    @Test func redirectFromHTTPSToHTTPIsRefused() async throws {
        let plain = try LoopbackServer()
        plain.script("/", .text("plain"))
        let secure = try LoopbackServer(.valid)
        secure.script("/", .redirect(to: "\(plain.url("/", userinfo: canary))?\(canary)"))
        let agent = Agent(trusting: secure)
        try await expectFailure(.redirectRefused, native: 0, of: .withSecrets("/", on: secure), from: agent)
        #expect(plain.connectionCount == 0)
        var request = Request<String>(secure.url("/"))
        request.redirects = .followDowngrades
        #expect(try await agent.send(request).value == "plain")
    }

    @Test(arguments: ["http://", "http:///canary", "http://a:canary/", "https:canary"])
    func invalidLocationIsABadRedirect(location: String) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: location))
        // CURLE_URL_MALFORMAT.
        let error = try await expectFailure(.badRedirect, native: 3, of: .withSecrets("/", on: server))
        #expect(!error.isRetryable)
    }

    @Test func redirectWithoutALocationIsReturned() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 302, body: Array("here".utf8)))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        #expect(response.status == 302)
        #expect(response.bytes == Bytes(Array("here".utf8)))
    }
}

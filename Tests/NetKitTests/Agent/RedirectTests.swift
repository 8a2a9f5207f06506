import NetKit
import Testing

struct RedirectTests {
    @Test(
        arguments: [
            (301, Method.post, "GET"), (302, .post, "GET"), (303, .post, "GET"), (307, .post, "POST"),
            (308, .post, "POST"),
            (301, .put, "PUT"), (303, .put, "GET"), (303, .head, "HEAD"), (301, .get, "GET"),
        ] as [(UInt16, Method, String)])
    func redirectStatusDeterminesTheMethod(status: UInt16, method: Method, next: String) async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b", status: status))
        server.script("/b", Reply())
        let keepsBody = next == method.rawValue && method != .get && method != .head
        let body = method == .get || method == .head ? nil : Body.text("body")
        let response = try await Agent().send(Request<Bytes>(server.url("/a"), method: method, body: body))
        #expect(response.status == 200)
        #expect(response.url == server.url("/b"))
        #expect(server.received(1).requestLine == "\(next) /b HTTP/1.1")
        #expect(server.received(1).body == Array((keepsBody ? "body" : "").utf8))
        #expect(server.received(1).values(named: "Content-Type").isEmpty == !keepsBody)
    }

    @Test func locationResolvesAgainstTheRedirectingURL() async throws {
        let server = try LoopbackServer()
        server.script("/a/b/c", .redirect(to: "../d?x=1"))
        server.script("/a/d", .redirect(to: "?x=2"))
        server.script("/", Reply())
        var request = Request<Bytes>(server.url("/a/b/c"))
        request.limits = Limits()
        request.limits.maxRedirects = 2
        try await expectFailure(.tooManyRedirects, of: request)
        let targets = (0..<3).map { server.received($0).requestLine.split(separator: " ")[1] }
        #expect(targets == ["/a/b/c", "/a/d?x=1", "/a/d?x=2"])
    }

    @Test func redirectIsReturnedWhenThePolicySaysSo() async throws {
        let server = try LoopbackServer()
        server.script("/a", Reply(status: 302, body: Array("look there".utf8), location: "/b"))
        server.script("/b", Reply())
        var request = Request<Bytes>(server.url("/a"))
        request.redirects = .return
        let response = try await Agent().send(request)
        #expect(response.status == 302)
        #expect(response.headers["location"] == "/b")
        #expect(response.bytes == Bytes(Array("look there".utf8)))
        #expect(response.metrics.count == 1)
        #expect(server.requestCount == 1)
    }

    @Test func agentPolicyAppliesWhenTheRequestHasNone() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", Reply())
        var configuration = Agent.Configuration()
        configuration.redirects = .return
        let agent = Agent(configuration)
        var request = Request<Bytes>(server.url("/a"))
        #expect(try await agent.send(request).status == 302)
        request.redirects = .follow
        #expect(try await agent.send(request).status == 200)
    }

    @Test func otherOriginReceivesNoSecret() async throws {
        let other = try LoopbackServer()
        other.script("/", Reply())
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .redirect(to: other.url("/")))
        let headers: Headers = ["Authorization": "Bearer 1", "Cookie": "a=b", "X-Key": "2", "Accept": "a/b"]
        let response = try await Agent().send(Request<Bytes>(server.url("/a"), headers: headers))
        #expect(server.received(1).values(named: "Authorization") == ["Bearer 1"])
        #expect(server.received(1).values(named: "Cookie") == ["a=b"])
        #expect(server.received(1).values(named: "X-Key") == ["2"])
        #expect(other.received().values(named: "Authorization").isEmpty)
        #expect(other.received().values(named: "Cookie").isEmpty)
        #expect(other.received().values(named: "X-Key").isEmpty)
        #expect(other.received().values(named: "Accept") == ["a/b"])
        #expect(response.url == other.url("/"))
    }

    @Test func urlsContainNoCredentials() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: server.url("/b", userinfo: "x:y")))
        server.script("/b", Reply())
        let response = try await Agent().send(Request<Bytes>(server.url("/a", userinfo: "user:pass")))
        #expect(response.metrics.map(\.url) == [server.url("/a"), server.url("/b")])
        #expect(response.url == server.url("/b"))
    }
}

import NetKit
import Testing

/// The HTTP version of an agent, and of requests that choose their own.
struct HTTPVersionTests {
    @Test func agentVersionAppliesToAutomaticRequestsAndTheirRedirects() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .text("ok"))
        let agent = Agent(configured: { $0.httpVersionPolicy = .http1_0 })
        #expect(try await agent.send(Request<String>(server.url("/a"))).value == "ok")
        var request = Request<String>(server.url("/b"))
        request.httpVersionPolicy = .http1
        #expect(try await agent.send(request).value == "ok")
        #expect(
            (0..<3).map { server.received($0).requestLine } == [
                "GET /a HTTP/1.0", "GET /b HTTP/1.0", "GET /b HTTP/1.1",
            ])
    }
}

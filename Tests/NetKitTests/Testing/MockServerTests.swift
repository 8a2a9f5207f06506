import NetKit
import NetKitTesting
import Testing

/// A real server for users' tests.
struct MockServerTests {
    private let server: MockServer
    private let agent: Agent

    init() throws {
        server = try MockServer()
        agent = Agent(.init(baseURL: server.url))
    }

    @Test func mockServerRepliesAsConfiguredAndRecordsRequests() async throws {
        try server.register("/cities", with: .json(#"["Bern"]"#), .status(204))
        let request = Request<Bytes>(
            "/cities?q=1", method: .post, headers: ["X-A": "b"], body: .text("hello"))
        let first = try await agent.send(request)
        #expect(first.status == 200 && first.headers["Content-Type"] == "application/json")
        #expect(String(decoding: Array(first.bytes), as: UTF8.self) == #"["Bern"]"#)
        #expect(try await agent.send(Request<Bytes>("/cities")).status == 204)
        #expect(try await agent.send(Request<Bytes>("/cities")).status == 204)
        #expect(try await agent.send(Request<Bytes>("/other")).status == 404)
        #expect(await server.waitForRequests(4))
        let requests = server.requests
        #expect(requests.map(\.path) == ["/cities", "/cities", "/cities", "/other"])
        #expect(
            requests[0].method == "POST" && requests[0].target == "/cities?q=1" && requests[0].headers["X-A"] == "b")
        #expect(String(decoding: Array(requests[0].body), as: UTF8.self).hasPrefix("hello"))
        #expect(server.connectionCount == 1)
        server.forgetRequests()
        #expect(server.requests.isEmpty)
    }

    @Test func anHeadHasNoBody() async throws {
        try server.register("*", with: .text("four"))
        let response = try await agent.send(Request<Bytes>("/", method: .head))
        #expect(response.headers["Content-Length"] == "4" && response.bytes.isEmpty)
        #expect(try await agent.send(Request<String>("/")).value == "four")
        #expect(server.connectionCount == 1)
    }

    @Test func mockServerSendsTrailersAndRealEndings() async throws {
        var reply = StubReply.text("with a sum")
        reply.trailers = ["X-Sum": "7"]
        try server.register("/trailers", with: reply)
        var open = StubReply.text("until the end")
        open.isCloseDelimited = true
        try server.register("/open", with: open)
        let response = try await agent.send(Request<Bytes>("/trailers"))
        #expect(response.trailers["X-Sum"] == "7")
        let delimited = try await agent.send(Request<Bytes>("/open"))
        #expect(delimited.isCloseDelimited && delimited.bytes.count == 13)
    }

    @Test func mockServerProducesRealFailures() async throws {
        var broken = StubReply.text("half")
        broken.body.append(.fail(NetError(.reset, "")))
        try server.register("/broken", with: broken)
        try server.register("/reset", with: .failure(.reset))
        let late = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("/broken")) }
        #expect([.reset, .receive, .cutShort].contains(late?.code))
        #expect(late?.response?.status == 200)
        let early = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("/reset")) }
        #expect([.reset, .receive, .emptyReply].contains(early?.code))
    }

    @Test func mockServerSupportsTLSAndProvidesItsAuthority() async throws {
        let secure = try MockServer(isSecure: true)
        try secure.register("/", with: .text("safe"))
        var configuration = Agent.Configuration(baseURL: secure.url)
        let stranger = await #expect(throws: NetError.self) {
            try await Agent(configuration).send(Request<String>("/"))
        }
        #expect(stranger?.code == .tlsUntrusted)
        configuration.trust = secure.trust
        #expect(try await Agent(configuration).send(Request<String>("/")).value == "safe")
        #expect(secure.url.hasPrefix("https://127.0.0.1:") && secure.port > 0)
    }

    @Test func unsendableReplyIsRejected() throws {
        let gated = StubReply.text("x").held(by: StubGate())
        #expect(throws: NetError.self) { try server.register("/", with: gated) }
        var waiting = StubReply()
        waiting.body = [.wait(StubGate())]
        #expect(throws: NetError.self) { try server.register("/", with: waiting) }
        #expect(throws: NetError.self) { try server.register("/", with: .status(100)) }
        let split = StubReply(headers: ["X": "a\r\nSet-Cookie: b"])
        let error = #expect(throws: NetError.self) { try server.register("/", with: split) }
        #expect(error?.code == .badHeader)
    }
}

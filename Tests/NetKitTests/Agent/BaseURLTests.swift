import NetKit
import NetKitTesting
import Testing

struct BaseURLTests {
    // Tests of other libraries agree on the first eight; the others are RFC 3986, 5.2, with the base's path as a folder.
    @Test(arguments: [
        ("http://www.example.com", "get", "http://www.example.com/get"),
        ("http://www.example.com/", "get", "http://www.example.com/get"),
        ("http://www.example.com", "get/val/", "http://www.example.com/get/val/"),
        ("http://www.something.com", "https://www.example.com", "https://www.example.com"),
        ("http://example.com/v1/", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/", "foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("http://example.com/v1/", "/foo", "http://example.com/foo"),
        ("http://example.com/v1", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1", "", "http://example.com/v1/"),
        ("http://example.com/v1", "?a=1", "http://example.com/v1/?a=1"),
        ("http://example.com/v1?key=1", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1#top", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/a", "../foo/./b", "http://example.com/v1/foo/b"),
        ("http://example.com/v1", "../../../foo", "http://example.com/foo"),
        ("http://example.com/v1", "//other.example/foo", "http://other.example/foo"),
        ("http://example.com/v1", "a:b", "a:b"),
        ("http://example.com/v1", "./a:b", "http://example.com/v1/a:b"),
        ("http://example.com/v1", "100%25?q=/../x", "http://example.com/v1/100%25?q=/../x"),
        ("https://user:pass@example.com:8443/v1", "foo", "https://user:pass@example.com:8443/v1/foo"),
    ])
    func aReferenceIsReadAtItsBase(base: String, reference: String, url: String) async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        _ = try await Agent(.init(baseURL: base), transport: stub).send(Request<Bytes>(reference))
        #expect(stub.requests.map(\.url) == [url])
    }

    @Test func withoutABaseTheURLIsTakenAsItIs() async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        _ = try await Agent(transport: stub).send(Request<Bytes>("http://h/a/../b"))
        #expect(stub.requests.map(\.url) == ["http://h/a/../b"])
    }

    @Test func aJoinedURLReachesTheServer() async throws {
        let server = try LoopbackServer()
        server.script("/v1/cities", .json("[1]"))
        let agent = Agent(.init(baseURL: server.url("/v1")))
        #expect(try await agent.send(Request<[Int]>("cities?count=10")).value == [1])
        #expect(server.received().requestLine == "GET /v1/cities?count=10 HTTP/1.1")
    }

    @Test(arguments: [("nothing here", "x"), ("", "x"), ("http://h", "a b"), ("http://h", "a\n")])
    func whatIsNoURLIsRefused(base: String, reference: String) async {
        let stub = StubTransport { _ in Response(status: 200) }
        let agent = Agent(.init(baseURL: base), transport: stub)
        #expect(await ending(of: Request<Bytes>(reference), from: agent) == .failed(.badURL))
        #expect(stub.requests.isEmpty)
    }
}

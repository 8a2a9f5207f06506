import NetKit
import Testing

/// Requests that are refused before they are sent.
struct RefusedRequestTests {
    @Test(
        arguments: [
            ("", 0), ("http://", 0), ("http:///canary", 0), ("canary", 0), ("//canary/x", 0),
            ("http://a/canary b", 15), ("http://a/\r\nX: canary", 9), ("http://a/\u{0}canary", 9), ("http:/canary", 0),
        ] as [(String, Int)])
    func aMalformedURLIsRefused(url: String, offset: Int) async throws {
        let error = try await expectFailure(.badURL, native: 0, of: Request<Bytes>(url))
        #expect(error.offset == offset)
        #expect(!error.isRetryable)
    }

    @Test(arguments: ["http://a:99999/canary", "http://[::1/canary", "http://a:b/canary", "http://a b@c/canary"])
    func aMalformedAuthorityIsRefused(url: String) async throws {
        let thrown = await #expect(throws: NetError.self) { try await Agent().send(Request<Bytes>(url)) }
        let error = try #require(thrown)
        #expect(error.code == .badURL)
        #expect(!error.description.contains(canary))
    }

    @Test func urlLengthLimitIsEnforced() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply())
        let tooLong = "\(server.url("/"))\(String(repeating: "a", count: 1 << 20))"
        #expect(await ending(of: Request<Bytes>(tooLong), from: Agent()) == .failed(.badURL))
        let long = "\(server.url("/"))\(String(repeating: "a", count: 4000))"
        #expect(await ending(of: Request<Bytes>(long), from: Agent()) == .answered)
    }

    @Test(arguments: ["ftp://canary/x", "file:///etc/canary"])
    func anotherSchemeIsRefused(url: String) async throws {
        try await expectFailure(.badScheme, native: 0, of: Request<Bytes>(url))
    }

    @Test(arguments: ["ws://canary/", "wss://canary/"])
    func webSocketSchemeIsUnsupported(url: String) async throws {
        try await expectFailure(.unsupported, native: 0, of: Request<Bytes>(url))
    }

    @Test(arguments: [("GET canary", 3), ("CÄNARY", 1), ("A\r\nB", 1), ("", 0), (" GET", 0)] as [(Method, Int)])
    func invalidMethodTokenIsRejected(method: Method, offset: Int) async throws {
        let server = try LoopbackServer()
        let error = try await expectFailure(.badMethod, native: 0, of: Request<Bytes>(server.url("/"), method: method))
        #expect(error.offset == offset)
        #expect(server.connectionCount == 0)
    }

    @Test func connectMethodIsUnsupported() async throws {
        let server = try LoopbackServer()
        try await expectFailure(.unsupported, native: 0, of: Request<Bytes>(server.url("/"), method: "CONNECT"))
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [
        ("X Y", "canary"), ("", "canary"), ("X:", "canary"), ("É", "canary"), ("X", "canary\r\nInjected: 1"),
        ("X", "canary\u{0}"), ("X", "canary\n"), ("X", " canary"), ("X", "canary\t"), ("Transfer-Encoding", "canary"),
        ("Content-Length", "5"),
    ])
    func fieldThatWouldCorruptTheHeadIsRejected(name: String, value: String) async throws {
        let server = try LoopbackServer()
        var request = Request<Bytes>(server.url("/"))
        request.headers.append(name: name, value: value)
        try await expectFailure(.badHeader, native: 0, of: request)
        #expect(server.connectionCount == 0)
    }

    @Test func agentFieldsAreValidatedToo() async throws {
        let agent = Agent(.init(headers: ["X": "a\nb"]))
        try await expectFailure(.badHeader, native: 0, of: Request<Bytes>("http://127.0.0.1/"), from: agent)
    }

    @Test func aBaseURLWithoutASchemeIsRefused() async throws {
        let agent = Agent(.init(baseURL: "example.com"))
        try await expectFailure(.badURL, native: 0, of: Request<Bytes>("canary"), from: agent)
    }
}

import NetKit
import NetKitTesting
import Testing

struct StubRedirectTests {
    private func stub(_ location: String, status: Int = 302) -> StubTransport {
        let stub = StubTransport { _ in .status(200) }
        stub.register("/a", with: .redirect(to: location, status: status))
        return stub
    }

    @Test(arguments: [
        ("b?x#y", "http://h.test/b?x#y"), ("../c", "http://h.test/c"), ("//i.test/", "http://i.test/"),
        ("?q", "http://h.test/a?q#f"),
        ("a b", "http://h.test/a%20b"),
    ])
    func locationResolvesAgainstItsURL(location: String, url: String) async throws {
        let stub = StubTransport { $0.query == nil && $0.path == "/a" ? .redirect(to: location) : .status(200) }
        let response = try await Agent(transport: stub).send(Request<Bytes>("http://h.test/a#f"))
        let expected = url.contains("#") ? url : "\(url)#f"
        #expect(response.url == expected)
        #expect(stub.requests.map(\.url) == ["http://h.test/a#f", expected])
        #expect(response.metrics.map(\.status) == [302, 200])
    }

    @Test(arguments: [
        ("/x/../b/./c", "http://h.test/x/../b/./c"), ("../x/../c", "http://h.test/x/../c"),
        ("http://i.test/../d", "http://i.test/../d"), ("..", "http://h.test/a/.."),
    ])
    func dotSegmentsOfALocationArePreservedIfConfigured(location: String, url: String) async throws {
        let stub = StubTransport { $0.path == "/a/b" ? .redirect(to: location) : .status(200) }
        var request = Request<Bytes>("http://h.test/a/b")
        request.keepsDotSegments = true
        #expect(try await Agent(transport: stub).send(request).url == url)
    }

    @Test(arguments: [
        ("b", "http://u:p@h.test/b"), ("http://h.test/b", "http://u:p@h.test/b"),
        ("//H.test:80/b", "http://u:p@H.test:80/b"), ("http://o@h.test/b", "http://o@h.test/b"),
        ("http://i.test/b", "http://i.test/b"), ("http://o:p@i.test/b", "http://i.test/b"),
        ("//@i.test/b", "http://i.test/b"), ("https://o@h.test/b", "https://h.test/b"),
        ("http://o@h.test:81/b", "http://h.test:81/b"), ("http://%68.test/b", "http://u:p@%68.test/b"),
        ("http://h.test.:080/b", "http://u:p@h.test.:080/b"),
    ])
    func urlCredentialsAreNotSentToAnotherOrigin(location: String, url: String) async throws {
        let stub = stub(location)
        _ = try await Agent(transport: stub).send(Request<Bytes>("http://u:p@h.test/a"))
        #expect(stub.requests.map(\.url) == ["http://u:p@h.test/a", url])
    }

    @Test(arguments: [
        ("b\u{FC}cher.test", "xn--bcher-kva.test", true), ("xn--bcher-kva.test", "b%C3%BCcher.test", true),
        ("a.test", "%61.test", true), ("127.1", "127.0.0.1:80", true), ("a.test", "A.test:080", true),
        ("a.test", "b.test", false), ("a.test", "a.test:81", false),
    ])
    func hostSpellingsAreSameOrigin(host: String, other: String, isSame: Bool) async throws {
        let stub = stub("http://\(other)/b")
        let request = Request<Bytes>("http://\(host)/a", headers: ["Authorization": "Bearer t", "X-Api-Key": "k"])
        _ = try await Agent(transport: stub).send(request)
        #expect(stub.requests.last?.headers["Authorization"] == (isSame ? "Bearer t" : nil))
        #expect(stub.requests.last?.headers["X-Api-Key"] == (isSame ? "k" : nil))
    }

    @Test(
        arguments: [
            ("ftp://h.test/", .redirectRefused), ("http://h.test/", .redirectRefused), ("https:///x", .badRedirect),
            ("https://h.test:99999/", .badRedirect), ("https://[::1", .badRedirect), ("//h.test\\x/", .badRedirect),
        ] as [(String, NetError.Code)])
    func invalidLocationIsRejected(location: String, code: NetError.Code) async throws {
        let agent = Agent(transport: stub(location))
        let error = try await expectFailure(code, of: Request<Bytes>("https://h.test/a"), from: agent)
        #expect(error.response?.status == 302)
    }

    @Test func downgradeIsFollowedIfAllowed() async throws {
        var request = Request<Bytes>("https://h.test/a")
        request.redirects = .followDowngrades
        let response = try await Agent(transport: stub("http://h.test/b")).send(request)
        #expect(response.url == "http://h.test/b")
    }

    @Test func secretsAreNotSentToAnotherOrigin() async throws {
        let stub = stub("http://h.test:81/b", status: 307)
        stub.register("http://h.test:81/b", with: .redirect(to: "http://h.test/c"))
        var request = Request<Bytes>("http://h.test/a", headers: ["X-Key": "1", "Accept": "a/b"])
        request.credentials = .bearer("token")
        _ = try await Agent(transport: stub).send(request)
        #expect(stub.requests.map(\.request.credentials) == [.bearer("token"), .inherited, .inherited])
        #expect(stub.requests.map { $0.headers["X-Key"] } == ["1", nil, nil])
        #expect(stub.requests.map { $0.headers["Accept"] } == ["a/b", "a/b", "a/b"])
    }

    @Test func oneShotBodyIsNotSentTwice() async throws {
        let stub = stub("b", status: 307)
        let agent = Agent(transport: stub)
        let once = Request<Bytes>("http://h.test/a", method: .post, body: .once(Pieces([[1, 2]])))
        #expect(await ending(of: once, from: agent) == .failed(.notRewindable))
        let again = Request<Bytes>("http://h.test/a", method: .post, body: .stream { Pieces([[1, 2]]) })
        #expect(await ending(of: again, from: agent) == .answered)
        #expect(stub.requests.suffix(2).map(\.body) == [[1, 2], [1, 2]])
    }
}

import NetKit
import NetKitTesting
import Testing

/// Encoding of a request's parameters into its URL or body.
struct RequestParametersTests {
    private func sent(_ request: Request<Bytes>) async throws -> StubRequest {
        let stub = StubTransport { _ in .text("") }
        _ = try await Agent(.init(baseURL: "http://example.com/v1"), transport: stub).send(request)
        return try #require(stub.requests.first)
    }

    @Test(arguments: [Method.get, .head, .delete, "delete"])
    func parametersAreAddedToTheURL(method: Method) async throws {
        let request = Request<Bytes>("cities?sort=name#top", method: method, parameters: ["count": 10])
        let received = try await sent(request)
        #expect(received.url.hasPrefix("http://example.com/v1/cities?sort=name&count=10"))
        #expect(received.request.body == nil)
    }

    @Test(arguments: [Method.post, .put, .patch, "PURGE"])
    func parametersBecomeAFormForOtherMethods(method: Method) async throws {
        let request = Request<Bytes>("cities", method: method).with(parameters: ["b": "ä b", "a": [1]])
        let received = try await sent(request)
        #expect(received.url == "http://example.com/v1/cities")
        #expect(received.body == Bytes(Array("a%5B%5D=1&b=%C3%A4%20b".utf8)))
        #expect(received.headers.values(named: "Content-Type") == ["application/x-www-form-urlencoded"])
    }

    @Test func aRequestsOwnContentTypeStays() async throws {
        var request = Request<Bytes>("a", method: .post, headers: ["Content-Type": "text/x"])
        request.parameters = ["k": "v"]
        #expect(try await sent(request).headers.values(named: "Content-Type") == ["text/x"])
    }

    @Test func emptyParametersLeaveNoBareQuestionMarkAndMakeAnEmptyForm() async throws {
        let got = try await sent(Request<Bytes>("a?").with(parameters: [:]))
        #expect(got.url == "http://example.com/v1/a")
        let posted = try await sent(Request<Bytes>("a", method: .post).with(parameters: [:]))
        #expect(posted.body.isEmpty)
        #expect(posted.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func queryMethodsAreSetByTheRequest() async throws {
        var request = Request<Bytes>("a", method: .post, body: .text("body")).with(parameters: ["k": "v"])
        request.queryMethods = [.post]
        let received = try await sent(request)
        #expect(received.url == "http://example.com/v1/a?k=v")
        #expect(received.body == Bytes(Array("body".utf8)))
        request.method = .get
        request.body = nil
        #expect(try await sent(request).body == Bytes(Array("k=v".utf8)))
    }

    @Test func getCanHaveABodyAndParameters() async throws {
        let request = Request<Bytes>("a", body: .text("body")).with(parameters: ["k": "v"])
        let received = try await sent(request)
        #expect(received.url == "http://example.com/v1/a?k=v")
        #expect(received.body == Bytes(Array("body".utf8)))
    }

    @Test func twoBodiesAreRefused() async throws {
        let request = Request<Bytes>("a", method: .post, body: .text("body")).with(parameters: ["k": "v"])
        let error = await #expect(throws: NetError.self) { try await sent(request) }
        #expect(error?.code == .usage)
    }

    @Test func encodingIsSetByTheRequest() async throws {
        var request = Request<Bytes>("a").with(parameters: ["k": [true, " "]])
        request.queryEncoding = QueryEncoding(arrays: .indexed, booleans: .words, spaces: .plus)
        #expect(try await sent(request).url == "http://example.com/v1/a?k%5B0%5D=true&k%5B1%5D=+")
    }

    @Test func customEncoderWritesQueryAndForm() async throws {
        var request = Request<Bytes>("a").with(parameters: ["k": "v"])
        request.queryEncoding = QueryEncoding { "own:\($0.fields.count)" }
        #expect(try await sent(request).url == "http://example.com/v1/a?own:1")
        request.method = .post
        #expect(try await sent(request).body == Bytes(Array("own:1".utf8)))
    }

    @Test(arguments: ["a#b", "a b", "a\nb", "a\u{7F}"])
    func queryDelimiterFromACustomEncoderIsRejected(text: String) async throws {
        var request = Request<Bytes>("a").with(parameters: [:])
        request.queryEncoding = QueryEncoding { _ in text }
        let error = await #expect(throws: NetError.self) { try await sent(request) }
        #expect(error?.code == .badParameter)
        #expect(error?.offset == 1)
    }

    @Test func anEncoderThatThrowsFailsTheRequest() async throws {
        struct Odd: Error {}
        var request = Request<Bytes>("a").with(parameters: [:])
        request.queryEncoding = QueryEncoding { _ in throw Odd() }
        let error = await #expect(throws: NetError.self) { try await sent(request) }
        #expect(error?.code == .badParameter)
        #expect(error?.underlying is Odd)
        request.queryEncoding = QueryEncoding { _ in throw NetError(.usage, "mine") }
        #expect(await #expect(throws: NetError.self) { try await sent(request) }?.message == "mine")
    }

    @Test func invalidParameterErrorContainsItsKey() async throws {
        let request = Request<Bytes>("a").with(parameters: ["a": ["b": .double(.nan)]])
        let error = await #expect(throws: NetError.self) { try await sent(request) }
        #expect(error?.code == .badParameter)
        #expect(error?.message == "'a[b]': the number is not finite")
    }
}

extension Request {
    fileprivate func with(parameters: Parameters?) -> Request {
        var request = self
        request.parameters = parameters
        return request
    }
}

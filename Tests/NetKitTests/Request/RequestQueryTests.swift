import NetKit
import NetKitTesting
import Testing

/// The query of a request, which goes into the URL beside parameters and a body.
struct RequestQueryTests {
    private struct Filter: Encodable, Sendable { var name = "Oslo", people = 7 }

    private let stub = StubTransport { _ in .json("[]") }
    private let q = "x y"
    private let n = 3
    private let near: Int? = nil

    private func sent<Value>(
        _ request: Request<Value>, _ change: (inout Agent.Configuration) -> Void = { _ in }
    ) async throws -> StubRequest {
        var configuration = Agent.Configuration(baseURL: "http://h")
        change(&configuration)
        _ = try await Agent(configuration, transport: stub).send(request)
        return try #require(stub.requests.last)
    }

    @Test(arguments: [Method.get, .post, .delete, "QUERY"])
    func queryIsInTheURLWhateverTheMethodIs(method: NetKit.Method) async throws {
        let names = ["a": "b"]
        let tree: Parameters = ["z": 1, "a": ["b"]]
        let mixed: [String: any Encodable & Sendable] = ["q": q, "n": n]
        let requests: [(Request<String>, String)] = [
            (Request("c", method: method, query: ["q": q, "n": n, "near": near]), "n=3&near&q=x%20y"),
            (Request("c", method: method, query: ["n": 50]), "n=50"),
            (Request("c", method: method, query: names), "a=b"),
            (Request("c", method: method, query: Filter()), "name=Oslo&people=7"),
            (Request("c", method: method, query: tree), "a%5B%5D=b&z=1"),
            (Request("c", method: method, query: mixed), "n=3&q=x%20y"),
            (Request("c", method: method, query: ["a": ["b": 1, "c": "x"]]), "a%5Bb%5D=1&a%5Bc%5D=x"),
            (Request("c", method: method, query: ["q": Parameters(q)], decoding: .text), "q=x%20y"),
            (Request("c?a=1", method: method, query: ["q": q]), "a=1&q=x%20y"),
        ]
        for (request, query) in requests {
            let received = try await sent(request)
            #expect(received.url == "http://h/c?\(query)" && received.body.isEmpty)
        }
        #expect(try await sent(Request<Void>("c", method: method, query: ["n": n])).url == "http://h/c?n=3")
        #expect(try await sent(Request<Void>("c", method: method)).url == "http://h/c")
    }

    @Test func queryCanBeChanged() async throws {
        var request = Request<String>("c", method: .post)
        #expect(request.query == [:])
        request.query["dryRun"] = "true"
        request.query["n"] = n
        #expect(request.query == ["dryRun": "true", "n": 3] && request.parameters == nil)
        #expect(try await sent(request).url == "http://h/c?dryRun=true&n=3")
        let copy = request
        request.query["n"] = nil
        request.query = ["q": q, "near": near]
        #expect(copy.query["n"] == 3 && request.query.fields.map(\.name) == ["q", "near"])
        request.query = [:]
        #expect(try await sent(request).url == "http://h/c")
    }

    @Test func queryIsSentBesideParametersAndABody() async throws {
        let form = try await sent(Request<String>("c", method: .post, parameters: ["n": n], query: ["q": q]))
        #expect(form.url == "http://h/c?q=x%20y" && form.body.text == "n=3")
        let both = try await sent(Request<String>("c", parameters: ["n": n], query: ["q": q]))
        #expect(both.url == "http://h/c?n=3&q=x%20y")
        var json = Request<String>("c", method: .put, parameters: ["n": n], query: ["q": q])
        json.parameterPlacement = .json
        let tree = try await sent(json)
        #expect(tree.url == "http://h/c?q=x%20y" && tree.body.text == #"{"n":3}"#)
        let body = try await sent(Request<String>("c", method: .post, query: ["q": q], body: .text("hello")))
        #expect(body.url == "http://h/c?q=x%20y" && body.body.text == "hello")
    }

    @Test func queryOverridesTheParametersOfTheAgent() async throws {
        for method in [NetKit.Method.get, .post] {
            let received = try await sent(Request<String>("c", method: method, query: ["own": n, "q": q])) {
                $0.parameters = ["a": 1, "own": 0]
            }
            #expect(received.url == "http://h/c?a=1&own=3&q=x%20y" && received.body.isEmpty)
        }
        let form = try await sent(Request<String>("c", method: .post, parameters: ["n": n], query: ["q": q])) {
            $0.parameters = ["a": 1]
        }
        #expect(form.url == "http://h/c?q=x%20y" && form.body.text == "a=1&n=3")
    }

    @Test func interceptorsReadAndChangeTheQueryAsParameters() async throws {
        let request = Request<String>("c", method: .post, query: ["q": q])
        let received = try await sent(request) {
            $0.interceptors = [
                Wrapping { call, next throws(NetError) in
                    var call = call
                    #expect(call.parameters == ["q": "x y"] && !call.hasParametersInBody)
                    try call.setParameters(["q": "z"])
                    return try await next(call)
                }
            ]
        }
        #expect(received.url == "http://h/c?q=z")
    }

    @Test func pagesKeepTheQueryAndReplaceItsNumber() async throws {
        let agent = Agent(.init(baseURL: "http://h"), transport: stub)
        let request = Request<[Int]>("c", query: ["q": q, "page": 9])
        for try await _ in agent.pages(of: request, by: .number(), size: 50) {}
        #expect(stub.requests.map(\.url) == ["http://h/c?page=1&per_page=50&q=x%20y"])
    }

    @Test func linkOfANextPageReplacesTheQuery() async throws {
        let linked = StubTransport { request in
            var reply = StubReply.json("[1]")
            reply.headers["Link"] = request.url.contains("page=2") ? nil : #"<http://h/c?page=2>; rel="next""#
            return reply
        }
        let agent = Agent(.init(baseURL: "http://h"), transport: linked)
        for try await _ in agent.pages(of: Request<[Int]>("c", query: ["q": q])) {}
        #expect(linked.requests.map(\.url) == ["http://h/c?q=x%20y", "http://h/c?page=2"])
    }

    @Test func queryIsPartOfTheCacheKeyAndTheCurlCommand() async throws {
        let request = Request<String>("http://h/c", method: .post, query: ["token": "secret", "q": q])
        #expect(request.curl.hasSuffix("'http://h/c?q=x%20y&token=[hidden]'"))
        #expect(request.curl(hiding: nil).hasSuffix("'http://h/c?q=x%20y&token=secret'"))
        let key = Collected<String>()
        _ = try await sent(Request<String>("c", query: ["q": q])) {
            $0.interceptors = [
                Wrapping { call, next throws(NetError) in
                    key.append(String(decoding: try call.cacheKey().description, as: UTF8.self))
                    return try await next(call)
                }
            ]
        }
        #expect(key.values.first?.contains("q=x%20y") == true)
    }
}

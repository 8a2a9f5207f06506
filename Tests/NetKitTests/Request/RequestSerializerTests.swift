import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

struct RequestSerializerTests {
    /// A custom serializer: names and values, line by line.
    private struct Lines: RequestSerializer {
        struct Refusal: Error {}

        func body(of parameters: Parameters, method: Method) throws -> Body {
            guard case .object(let fields) = parameters else { throw Refusal() }
            let lines = fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            return .text("\(method)\n\(lines)", contentType: "text/x-lines")
        }
    }

    private func sent(_ request: Request<Bytes>) async throws -> StubRequest {
        let stub = StubTransport()
        stub.register("*", with: .status(200))
        _ = try await Agent(.init(baseURL: "http://stub"), transport: stub).send(request)
        return try #require(stub.requests.first)
    }

    private func text(_ request: StubRequest) -> String { String(decoding: Array(request.body), as: UTF8.self) }

    @Test func customSerializerCreatesTheBody() async throws {
        var request = Request<Bytes>("/", method: .post, parameters: ["a": "1"])
        request.serializer = Lines()
        let made = try await sent(request)
        #expect(text(made).hasPrefix("POST\na: "))
        #expect(made.headers["Content-Type"] == "text/x-lines")
        request.headers["Content-Type"] = "text/plain"
        #expect(try await sent(request).headers["Content-Type"] == "text/plain")
        request.parameterPlacement = .json
        #expect(text(try await sent(request)).hasPrefix("POST\n"))
    }

    @Test func customSerializerDoesNotAffectTheQuery() async throws {
        var request = Request<Bytes>("/", parameters: ["a": "1"])
        request.serializer = Lines()
        let query = try await sent(request)
        #expect(query.url.hasSuffix("?a=1") && query.body.isEmpty)
        request.method = .post
        request.parameterPlacement = .query
        #expect(try await sent(request).url.hasSuffix("?a=1"))
        request.method = .get
        request.parameterPlacement = .form
        #expect(text(try await sent(request)).hasPrefix("GET\n"))
        request.parameters = nil
        #expect(try await sent(request).body.isEmpty)
    }

    @Test func errorThrownByASerializerFailsTheRequest() async throws {
        var request = Request<Bytes>("/", method: .post, parameters: ["a", "b"])
        request.serializer = Lines()
        let error = try #require(await #expect(throws: NetError.self) { _ = try await sent(request) })
        #expect(error.code == .encoding && error.underlying is Lines.Refusal)
    }
}

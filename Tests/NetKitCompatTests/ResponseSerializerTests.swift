import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct ResponseSerializerTests {
    private struct City: Codable, Sendable, Equatable {
        var id: Int
    }

    /// A custom serializer: the sum of the bytes.
    private struct Sum: ResponseSerializer {
        var acceptedTypes: [String]? { ["application/sum"] }
        var acceptedStatuses: StatusSet { 200..<400 }

        func value(of response: Response<Bytes>) throws -> Int {
            guard !response.bytes.isEmpty else { throw Refusal() }
            return response.bytes.reduce(0) { $0 + Int($1) }
        }
    }

    private struct Plain: ResponseSerializer {
        func value(of response: Response<Bytes>) throws -> Bytes { response.bytes }
    }

    private struct Refusal: Error {}

    private func agent(_ text: String, _ type: String?, status: Int = 200) -> Agent {
        let stub = StubTransport()
        let headers: Headers = type.map { ["Content-Type": $0] } ?? [:]
        stub.register("*", with: StubReply(status: status, headers: headers, body: [.text(text)]))
        return Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    private func failure(_ body: () async throws -> some Any) async throws -> NetError {
        try #require(await #expect(throws: NetError.self) { _ = try await body() })
    }

    @Test func customSerializerSetsAcceptedTypesAndStatuses() async throws {
        let request = Request("/", serializer: Sum())
        #expect(try await agent("\u{1}\u{2}", "application/sum").send(request).value == 3)
        #expect(try await agent("\u{1}\u{2}", "application/sum", status: 399).send(request).value == 3)
        #expect(try await agent("\u{1}", nil).send(request).value == 1)
        #expect(
            try await failure { try await agent("a", "application/sum", status: 400).send(request) }.code
                == .status)
        #expect(try await failure { try await agent("a", "text/plain").send(request) }.code == .contentType)
        let error = try await failure { try await agent("", "application/sum").send(request) }
        #expect(error.code == .decoding && error.underlying is Refusal)
    }

    @Test func serializerAppliesToOneRequest() async throws {
        var request = Request<City>("/")
        request.acceptedTypes = ["text/html"]
        let other = request.serialized(by: Sum())
        #expect(other.acceptedStatuses == StatusSet(200..<400) && other.acceptedTypes == nil && other.url == "/")
        #expect(request.acceptedStatuses == .automatic)
        #expect(try await agent("\u{5}", "application/sum").send(other).value == 5)
        // A serializer without declarations accepts any type, and successful statuses.
        let plain = Request("/", serializer: Plain())
        #expect(try await agent("x", "any/thing", status: 299).send(plain).value == Bytes(Array("x".utf8)))
        #expect(try await failure { try await agent("x", "a/b", status: 500).send(plain) }.code == .status)
    }

    @Test func serializerIsOneOfSeveralDecodings() async throws {
        let either = Decoding<String>.first(of: [Decoding(Sum()).map { "sum \($0)" }, .text])
        let request = Request("/", decoding: either)
        #expect(try await agent("\u{3}", "application/sum").send(request).value == "sum 3")
        #expect(try await agent("hello", "text/plain").send(request).value == "hello")
    }
}

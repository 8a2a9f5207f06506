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

    @Test func customSerializerSetsAcceptedTypesAndStatuses() async throws {
        let request = Request("/", serializer: Sum())
        #expect(try await agentReceiving("\u{1}\u{2}", "application/sum").send(request).value == 3)
        #expect(try await agentReceiving("\u{1}\u{2}", "application/sum", status: 399).send(request).value == 3)
        #expect(try await agentReceiving("\u{1}", nil).send(request).value == 1)
        #expect(
            try await failure { try await agentReceiving("a", "application/sum", status: 400).send(request) }.code
                == .status)
        #expect(try await failure { try await agentReceiving("a", "text/plain").send(request) }.code == .contentType)
        let error = try await failure { try await agentReceiving("", "application/sum").send(request) }
        #expect(error.code == .decoding && error.underlying is Refusal)
    }

    @Test func serializerAppliesToOneRequest() async throws {
        var request = Request<City>("/")
        request.acceptedTypes = ["text/html"]
        let other = request.serialized(by: Sum())
        #expect(other.acceptedStatuses == StatusSet(200..<400) && other.acceptedTypes == nil && other.url == "/")
        #expect(request.acceptedStatuses == .automatic)
        #expect(try await agentReceiving("\u{5}", "application/sum").send(other).value == 5)
        // A serializer without declarations accepts any type, and successful statuses.
        let plain = Request("/", serializer: Plain())
        #expect(try await agentReceiving("x", "any/thing", status: 299).send(plain).value == Bytes(Array("x".utf8)))
        #expect(try await failure { try await agentReceiving("x", "a/b", status: 500).send(plain) }.code == .status)
    }

    @Test func serializerIsOneOfSeveralDecodings() async throws {
        let either = Decoding<String>.first(of: [Decoding(Sum()).map { "sum \($0)" }, .text])
        let request = Request("/", decoding: either)
        #expect(try await agentReceiving("\u{3}", "application/sum").send(request).value == "sum 3")
        #expect(try await agentReceiving("hello", "text/plain").send(request).value == "hello")
    }
}

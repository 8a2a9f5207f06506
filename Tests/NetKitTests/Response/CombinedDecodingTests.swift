import NetKitTesting
import Testing

@testable import NetKit

/// Decodings that are made of others, and the checks before a decoding.
struct CombinedDecodingTests {
    private struct City: Codable, Sendable, Equatable {
        var id: Int
    }

    /// The sum of the bytes.
    private static let sum = Decoding<Int>(types: ["application/sum"]) { response in
        guard !response.bytes.isEmpty else { throw Refusal() }
        return response.bytes.reduce(0) { $0 + Int($1) }
    }

    private struct Refusal: Error {}

    @Test func statusErrorHasTheTypeErrorAsUnderlyingError() async throws {
        let both = try await failure {
            try await agentReceiving("gone", "text/html", status: 404).send(Request<City>("/"))
        }
        #expect(both.code == .status && both.nativeCode == 404)
        let beneath = try #require(both.underlying as? NetError)
        #expect(beneath.code == .contentType && beneath.message.contains("text/html"))
        #expect(both.response?.bytes == Bytes(Array("gone".utf8)))
        let status = try await failure {
            try await agentReceiving("{}", "application/json", status: 404).send(Request<City>("/"))
        }
        #expect(status.code == .status && status.underlying == nil)
        let type = try await failure { try await agentReceiving("", "text/html").send(Request<City?>("/")) }
        #expect(type.code == .contentType && type.underlying == nil)
        let any = try await failure {
            try await agentReceiving("", "text/html", status: 500).send(Request<String>("/"))
        }
        #expect(any.code == .status && any.underlying == nil)
    }

    @Test func firstDecodingThatReadsTheBodyWins() async throws {
        let either = Decoding<String>.first(
            of: [Decoding<City>.json.map { "city \($0.id)" }, Self.sum.map { "sum \($0)" }, .text])
        let request = Request("/", decoding: either)
        #expect(try await agentReceiving(#"{"id":7}"#, "application/json").send(request).value == "city 7")
        #expect(try await agentReceiving("\u{3}", "application/sum").send(request).value == "sum 3")
        #expect(try await agentReceiving("hello", "text/plain").send(request).value == "hello")
        // The type matches and the body does not, so the next decoding is used.
        #expect(try await agentReceiving("[7]", "application/json").send(request).value == "[7]")
        // Without a type, all decodings are tried in order.
        #expect(try await agentReceiving(#"{"id":7}"#, nil).send(request).value == "city 7")
        #expect(try await agentReceiving("\u{3}", nil).send(request).value == "sum 3")
        #expect(try await agentReceiving("", nil).send(request).value == "")
    }

    @Test func errorListsAllDecodingsIfNoneReadsTheBody() async throws {
        let either = Decoding<Int>.first(of: [.json, Self.sum])
        #expect(either.types?.contains("application/sum") == true)
        let request = Request("/", decoding: either)
        let wrong = try await failure { try await agentReceiving("[", "application/json").send(request) }
        #expect(wrong.code == .decoding && wrong.message.contains("2 decodings"))
        #expect((wrong.underlying as? NetError)?.code == .decoding)
        #expect(wrong.response?.bytes == Bytes(Array("[".utf8)))
        let empty = try await failure { try await agentReceiving("", "application/sum").send(request) }
        #expect((empty.underlying as? NetError)?.underlying is Refusal)
        #expect(try await failure { try await agentReceiving("1", "text/html").send(request) }.code == .contentType)
        let open = Decoding<Int>.first(of: [.json, Decoding { _ in throw Refusal() }])
        #expect(open.types == nil)
        let error = try await failure { try await agentReceiving("1", "text/html").send(Request("/", decoding: open)) }
        #expect(error.code == .decoding && (error.underlying as? NetError)?.underlying is Refusal)
        let none = Request("/", decoding: Decoding<Int>.first(of: []))
        #expect(try await failure { try await agentReceiving("1", nil).send(none) }.code == .usage)
    }

    @Test func transformCanThrow() async throws {
        let request = Request("/", decoding: Decoding<City>.json.map { _ -> Int in throw Refusal() })
        let error = try await failure { try await agentReceiving(#"{"id":7}"#, "application/json").send(request) }
        #expect(error.code == .decoding && error.underlying is Refusal)
    }
}

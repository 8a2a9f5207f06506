import NetKit
import NetKitTesting
import Testing

/// Selection of a stored response by a request's fields (RFC 9111, 4.1).
@Suite(.timeLimit(.minutes(5)))
struct VariantSelectionTests {
    private let fixture = CacheFixture(.server())

    private func reply(_ text: String, vary: String) -> StubReply {
        StubReply(headers: ["Cache-Control": "max-age=60", "Vary": vary], body: [.text(text)])
    }

    private func text(_ headers: Headers) async throws -> String? {
        try await fixture.agent.send(Request<Bytes>("/", headers: headers)).bytes.text
    }

    @Test func missingVaryFieldsOfDifferentSetsAreDistinct() async throws {
        fixture.stub.register("/", with: reply("1", vary: "B"), reply("2", vary: "A"), reply("3", vary: "A"))
        #expect(try await text(["B": "1"]) == "1")
        #expect(try await text([:]) == "2")
        #expect(try await text(["A": "1"]) == "3")
        #expect(try await text([:]) == "2")
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func additionalVaryFieldTriggersRevalidationIfMissing() async throws {
        fixture.stub.register("/", with: reply("1", vary: "A"), reply("2", vary: "A, B"), reply("3", vary: "A, B"))
        #expect(try await text(["A": "1"]) == "1")
        #expect(try await text(["A": "2"]) == "2")
        #expect(try await text(["A": "2", "B": "1"]) == "3")
        #expect(fixture.stub.requests.count == 3)
    }
}

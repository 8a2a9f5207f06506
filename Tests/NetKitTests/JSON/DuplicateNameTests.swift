import FoundationEssentials
import NetKitTesting
import Testing

@testable import NetKit

/// All readers interpret a body alike: if a name occurs several times, its last member counts.
struct DuplicateNameTests {
    private struct Who: Decodable, Sendable {
        struct Inner: Decodable, Sendable { var role: String }

        var role: String?
        var inner: Inner?
        var list: [Inner]?
        var counts: [String: Int]?
    }

    private func agent(_ text: String) -> Agent {
        let stub = StubTransport()
        stub.register("*", with: .json(text))
        return Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    private static let texts = [
        #"{"role":"user","role":"admin"}"#, #"{"role":"user","r\u006fle":"admin"}"#,
        #"{"\u0072ole":"user","role":"admin"}"#, #"{"role":"a","x":1,"role":"b","role":"admin"}"#,
        #"{"role":1,"role":"admin"}"#, #"{"role":{"role":"a","role":"b"},"role":"admin"}"#,
        "{\"role\" : null,\n\"role\" :\t\"admin\"}",
    ]

    @Test(arguments: texts)
    func typedAndTreeDecodingAgreeOnDuplicates(text: String) async throws {
        let agent = agent(text)
        #expect(try await agent.send(Request<Who>("/")).value.role == "admin")
        #expect(try await agent.send(Request<JSONValue>("/")).value["role"]?.string == "admin")
        #expect(try await agent.send(Request<Bytes>("/")).decode(by: Decoding<Who>.json).role == "admin")
    }

    @Test(arguments: [
        #"{"inner":{"role":"user","role":"admin"}}"#, #"{"inner":{"role":"x"},"inner":{"role":"admin"}}"#,
        #"{"inner":5,"inner":{"role":"user","\u0072\u006f\u006c\u0065":"admin"}}"#,
    ])
    func nestedObjectsAgreeOnDuplicates(text: String) async throws {
        let agent = agent(text)
        #expect(try await agent.send(Request<Who>("/")).value.inner?.role == "admin")
        #expect(try await agent.send(Request<JSONValue>("/")).value["inner"]?["role"]?.string == "admin")
    }

    @Test func arraysAndDictionariesAgreeOnDuplicates() async throws {
        let agent = agent(#"{"list":[{"role":"a","role":"b"},{"role":"c"}],"counts":{"a":1,"b":2,"\u0061":3}}"#)
        let value = try await agent.send(Request<Who>("/")).value
        #expect(value.list?.map(\.role) == ["b", "c"] && value.counts == ["a": 3, "b": 2])
        let plain = try await self.agent(#"{"a":1,"b":2,"a":3}"#).send(Request<[String: Int]>("/")).value
        #expect(plain == ["a": 3, "b": 2])
    }

    @Test func numbersKeepTheirDigitsBesideADuplicate() async throws {
        let agent = agent(#"{"a":1,"a":18446744073709551615,"b":0.1}"#)
        let value = try await agent.send(Request<[String: Decimal]>("/")).value
        #expect(value["a"] == Decimal(string: "18446744073709551615") && value["b"] == Decimal(string: "0.1"))
    }

    /// If the last member is null, the value is null, not an earlier one.
    @Test func lastDuplicateWinsEvenIfNull() async throws {
        var choices = JSONCoding()
        choices.removesNulls = true
        let agent = agent(#"{"role":"user","role":null}"#)
        #expect(try await agent.send(Request<Who>("/", decoding: .json(choices))).value.role == nil)
        #expect(try await agent.send(Request<Who>("/")).value.role == nil)
        #expect(try await agent.send(Request<JSONValue>("/", decoding: .json(choices))).value["role"] == nil)
        let value: JSONValue = try JSONValue(parsing: #"{"a":null,"a":1,"b":2,"b":null}"#).removingNulls
        #expect(value["a"] == 1 && value["b"] == nil)
    }

    @Test func canonicallyEquivalentNamesAreDistinct() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2,\"\u{E9}\":3}").removingNulls
        #expect(value.members?.count == 2 && value["\u{E9}"] == 3 && value["e\u{301}"] == 2)
    }

    @Test(arguments: texts)
    func duplicateNameCanBeRejected(text: String) async throws {
        var choices = JSONCoding()
        choices.rules.refusesDuplicateNames = true
        let agent = agent(text)
        let typed = try await #require(throws: NetError.self) {
            try await agent.send(Request<Who>("/", decoding: .json(choices)))
        }
        #expect(typed.code == .decoding && typed.jsonFaults.first?.found == "a duplicate name")
        await #expect(throws: NetError.self) {
            try await agent.send(Request<JSONValue>("/", decoding: .json(choices)))
        }
    }
}

extension DuplicateNameTests {
    /// Shapes and schemas are checked while the text arrives, so they apply to both members.
    @Test(arguments: zip(texts, [true, true, true, true, false, false, false]))
    func shapesAndSchemasApplyToEveryDuplicate(text: String, areAllStrings: Bool) throws {
        let shape: JSONShape = ["role": .string]
        let schema = try JSONSchema(#"{"properties": {"role": {"type": "string"}}}"#)
        #expect(try shape.check(text).isEmpty == areAllStrings)
        #expect(try (schema.check(text) == nil) == areAllStrings)
        #expect(try JSONShape.any.check(text).isEmpty && JSONSchema("true").check(text) == nil)
    }

    @Test(arguments: texts)
    func shapesAndSchemasRefuseDuplicatesOnRequest(text: String) throws {
        var rules = JSONRules()
        rules.refusesDuplicateNames = true
        let shape = try #require(throws: NetError.self) { _ = try JSONShape.any.check(text, rules: rules) }
        let schema = try #require(throws: NetError.self) { _ = try JSONSchema("true").check(text, rules: rules) }
        #expect(shape.code == .badJSON && shape.jsonFaults.first?.found == "a duplicate name")
        #expect(schema.code == .badJSON && schema.jsonFaults == shape.jsonFaults)
    }

    @Test(arguments: [
        (#"{"a":{"id":"first","id":"last"}}"#, "last"), (#"{"a":{"id":"x"},"a":{"\u0069d":"last"}}"#, "last"),
        (#"{"a":{"id":"x"},"a":5}"#, nil), (#"{"a":{"id":"x","id":null}}"#, nil), ("[]", nil), ("", nil),
    ])
    func pathResolvesToTheLastDuplicate(text: String, found: String?) {
        #expect(JSONText.read(at: ["a", "id"], of: Bytes(Array(text.utf8))) == found)
    }
}

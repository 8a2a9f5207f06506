import NetKit
import NetKitTesting
import Testing

/// Schemas of JSON Schema on texts and on responses. The C tests run the official suite.
@Suite(.timeLimit(.minutes(5)))
struct JSONSchemaTests {
    private static let person = #"{"properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}"#

    @Test func faultNamesTheValueAndTheKeyword() throws {
        let schema = try JSONSchema(Self.person)
        #expect(try schema.check(#"{"age": 1.0}"#) == nil)
        let fault = try #require(try schema.check("{\n\"age\": -1}"))
        #expect(fault.pointer == "/age" && fault.keyword == "#/properties/age/minimum")
        #expect(fault.wanted == "at least 0" && fault.found == "-1")
        #expect(fault.line == 2 && fault.column == 8 && fault.offset == 9)
        #expect("\(fault)" == "line 2, column 8: expected at least 0, found -1, at /age (#/properties/age/minimum)")
        let error = try #require(throws: NetError.self) { _ = try schema.check("{") }
        #expect(error.code == .badJSON)
    }

    @Test func invalidSchemaThrowsWithItsLocation() throws {
        let error = try #require(throws: NetError.self) { _ = try JSONSchema(#"{"pattern": "(?=a)"}"#) }
        #expect(error.code == .badShape)
        #expect(error.message.contains("#/pattern") && error.message.contains("lookahead"))
    }

    @Test func referencesLeadToTheGivenDocuments() throws {
        let text = #"{"items": {"$ref": "name"}}"#
        let uri = "https://example.com/list"
        let documents = ["https://example.com/name": #"{"type": "string", "format": "email"}"#]
        let schema = try JSONSchema(text, uri: uri, documents: documents)
        #expect(try schema.check(#"["a", 1]"#)?.keyword == "https://example.com/name#/type")
        let strict = try JSONSchema(text, uri: uri, documents: documents, assertsFormats: true)
        #expect(try strict.check(#"["a@example.com", "b"]"#)?.pointer == "/1")
        #expect(throws: NetError.self) { _ = try JSONSchema(text, uri: uri) }
    }

    @Test func bodyIsCheckedWhileItArrives() async throws {
        let server = try LoopbackServer()
        let agent = Agent()
        let schema = try JSONSchema(Self.person)
        server.script("/right", .json(#"{"age": 7}"#))
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        let start = head + #"{"age": -1, "more": ["#
        var wrong = Reply.raw(start + "and never more", ending: .stall)
        wrong.cutAfter = UInt64(start.utf8.count)
        server.script("/wrong", wrong)
        let right = try await agent.send(Request<JSONValue>(server.url("/right")).expecting(schema: schema))
        #expect(right.value["age"] == 7)
        let error = try #require(
            await #expect(throws: NetError.self) {
                _ = try await agent.send(Request<Bytes>(server.url("/wrong")).expecting(schema: schema))
            })
        #expect(error.code == .shapeMismatch)
        #expect(error.jsonFaults.first?.keyword == "#/properties/age/minimum")
    }

    @Test func expectationHasAShapeOrASchema() async throws {
        var expectation = JSONExpectation(schema: try JSONSchema("true"))
        expectation.shape = .any
        let server = try LoopbackServer()
        server.script("/", .json("1"))
        let request = Request<Bytes>(server.url("/")).expecting(expectation)
        let error = try #require(
            await #expect(throws: NetError.self) { _ = try await Agent().send(request) })
        #expect(error.code == .usage)
    }
}

import FoundationEssentials
import NetKit
import Testing

/// A `JSONValue` as a member of a type that is decoded and encoded.
struct JSONValueMemberTests {
    private struct Event: Codable, Sendable, Equatable {
        var kind: String
        var payload: JSONValue
        var more: [JSONValue]?
        var byName: [String: JSONValue]?
    }

    private let text =
        #"{"kind":"a","payload":{"z":1.50,"a":[12345678901234567890123,1e2,true,null,"x"],"b":{}},"more":[1.0,null],"#
        + #""byName":{"x":0.10}}"#

    private func decoded<Value: Decodable & Sendable>(_ text: String, by coding: JSONCoding = JSONCoding()) throws
        -> Value
    {
        try Response<Bytes>(status: 200, bytes: Bytes(Array(text.utf8))).decode(by: .json(coding))
    }

    @Test func memberKeepsDigitsAndOrder() throws {
        let event: Event = try decoded(text)
        #expect(
            event.payload
                == (try JSONValue(parsing: #"{"z":1.50,"a":[12345678901234567890123,1e2,true,null,"x"],"b":{}}"#)))
        #expect(event.more?[0].number?.text == "1.0" && event.more?[1] == .null)
        #expect(event.byName?["x"]?.number?.text == "0.10")
        #expect(try Body.json(event, style: JSONStyle(keepsSlashes: true)).bytes.text == text)
    }

    @Test func memberOfAnArrayElementKeepsDigits() throws {
        let events: [Event] = try decoded("[\(text),\(text.replacing("1.50", with: "2.50"))]")
        #expect(events[1].payload["z"]?.number?.text == "2.50")
    }

    @Test func missingMemberAndNullAreNilForAnOptional() throws {
        let event: Event = try decoded(#"{"kind":"a","payload":null,"more":null}"#)
        #expect(event.payload == .null && event.more == nil)
    }

    @Test func namesOfAMemberAreNotConverted() throws {
        struct Snake: Codable, Sendable { var eventPayload: JSONValue }
        var coding = JSONCoding()
        coding.keys = .snakeCase
        let value: Snake = try decoded(#"{"event_payload":{"user_id":1.0}}"#, by: coding)
        #expect(value.eventPayload["user_id"]?.number?.text == "1.0")
    }

    @Test func lastOfSeveralMembersWithANameCounts() throws {
        let event: Event = try decoded(#"{"kind":"a","payload":1.0,"payload":{"a":2.0,"a":3.0}}"#)
        #expect(event.payload["a"]?.number?.text == "3.0")
    }

    @Test func otherCodersReadAndWriteTheSameValue() throws {
        let event: Event = try decoded(text)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let read = try JSONDecoder().decode(Event.self, from: JSONEncoder().encode(event))
        #expect(read.kind == event.kind && read.payload["a"]?[2] == true && read.payload["a"]?[4] == "x")
        #expect(read.payload["z"]?.double == 1.5)
        #expect(read.payload["a"]?[0]?.number?.text == "12345678901234567890123")
        struct Names: Codable { var payload: JSONValue }
        let names = try encoder.encode(Names(payload: ["isOpen": 1]))
        #expect(String(decoding: names, as: UTF8.self) == #"{"payload":{"isOpen":1}}"#)
    }

    @Test func scalarsAreTopLevelValues() throws {
        for text in ["1.0", "null", "true", "\"a\"", "[]", "{}"] {
            let value: JSONValue = try decoded(text)
            #expect(try value == JSONValue(parsing: text))
        }
    }

    @Test func derivedShapeAllowsAnyMember() throws {
        struct Small: Decodable { var payload: JSONValue }
        #expect(try JSONShape(for: Small.self) == ["payload": .any])
    }
}

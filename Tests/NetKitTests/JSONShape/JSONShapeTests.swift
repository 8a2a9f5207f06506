import NetKit
import Testing

struct JSONShapeTests {
    @Test func literalsEqualTheParsedDocument() throws {
        let shape: JSONShape = ["id": .integer, "tags": [.string], "note?": .string.orNull, "more": [["x": .any]]]
        #expect(
            shape.document == #"{"id":"integer","tags":["string"],"note?":"string?","more":[{"x":"any"}]}"#)
        #expect(try shape.check(#"{"id":1,"tags":[],"more":[{"x":null}]}"#) == [])
        let faults = try shape.check(#"{"id":1,"tags":["a",2],"more":[]}"#)
        #expect(
            faults == [
                JSONFault(pointer: "/tags/1", wanted: "string", found: "number", offset: 20, line: 1, column: 21)
            ])
        let empty: JSONShape = []
        #expect(try empty.check("[1,\"a\",null]") == [])
        #expect(try empty.check("{}").first?.wanted == "array")
        let anyObject: JSONShape = [:]
        #expect(try anyObject.check(#"{"a":1}"#) == [])
        #expect(try anyObject.check("1").first?.found == "number")
    }

    @Test func severalMismatchesAreCollectedInOrder() throws {
        let shape: JSONShape = ["a": .integer, "b": .string, "c": .boolean]
        let text = #"{"a":"x","b":1}"#
        #expect(try shape.check(text).count == 1)
        #expect(try shape.check(text, maxMismatches: 10).map(\.pointer) == ["/a", "/b", "/c"])
        #expect(try shape.check(text, maxMismatches: 2).map(\.found) == ["string", "number"])
    }

    @Test(
        arguments: [
            (JSONShape.string.orNull, #""string?""#), (.any.orNull, #""any?""#), (.null.orNull, #""null""#),
            (.object(["a": .string]).orNull, #"{"$type":"object?","a":"string"}"#),
            (.array(of: .any).orNull, #"{"$type":"array?","$items":"any"}"#),
            (.array(of: .string).orNull, #"{"$type":"array?","$items":"string"}"#), (.array.orNull, #""array?""#),
            (.oneOf([1, "a"]).orNull, #"{"$enum":[1,"a",null]}"#),
            (.integer(min: 1).orNull.orNull, #"{"$type":"integer?","$min":1}"#),
            (.string.or(.number), #""string|number""#), (.string.orNull.or(.integer), #""string|integer?""#),
            (.string.or(.null), #""string?""#), (.any.or(.string), #""any""#),
            (.string.or(["a": .any]), #"{"$type":"string|object","a":"any"}"#),
            (.string(minLength: 1).or(.integer(max: 9)), #"{"$type":"string|integer","$minLength":1,"$max":9}"#),
            (.oneOf([1]).or(.oneOf([2, 1])), #"{"$enum":[1,2]}"#), (.oneOf([1]).or(.null), #"{"$enum":[1,null]}"#),
            (.object(["a": .any]).closed, #"{"$closed":true,"a":"any"}"#),
            (.object(["a": .any]).closed.closed.orNull, #"{"$type":"object?","$closed":true,"a":"any"}"#),
            (
                .array(of: .string, minItems: 1, maxItems: 2),
                #"{"$type":"array","$items":"string","$minItems":1,"$maxItems":2}"#
            ),
        ] as [(JSONShape, String)])
    func shapesCanBeCombined(shape: JSONShape, document: String) throws {
        #expect(shape.document == document)
        try shape.check()
        #expect(try JSONShape(document: document) == shape)
    }

    @Test func canonicallyEquivalentTextsStayDistinct() throws {
        let composed = "\u{e9}"
        let decomposed = "e\u{301}"
        #expect(JSONValue.string(composed) != .string(decomposed))
        #expect(JSONValue.object([.init(name: composed, value: 1)]) != .object([.init(name: decomposed, value: 1)]))
        let either = JSONShape.oneOf([.string(composed)]).or(.oneOf([.string(decomposed)]))
        #expect(try either.check("\"\(composed)\"").isEmpty)
        #expect(try either.check("\"\(decomposed)\"").isEmpty)
        let one: JSONShape = .object([composed: .integer])
        let other: JSONShape = .object([decomposed: .integer])
        #expect(one != other)
        #expect(throws: NetError.self) { try one.or(other).check() }
    }

    @Test func limitsAreEnforced() throws {
        let shape: JSONShape = [
            "n": .number(min: 0, max: 1.5), "s": .string(minLength: 2, maxLength: 3), "e": .oneOf(["a", 1, .null]),
            "l": .array(of: .integer, maxItems: 2),
        ]
        #expect(try shape.check(#"{"n":1.50,"s":"éé","e":1.0,"l":[1,2]}"#) == [])
        let faults = try shape.check(#"{"n":1.51,"s":"a","e":"b","l":[1,2,3]}"#, maxMismatches: 9)
        #expect(faults.map(\.pointer) == ["/n", "/s", "/e", "/l"])
    }

    @Test func leniencyMatchesYTKNetwork() throws {
        let shape: JSONShape = ["a": .string, "b": .number, "c": ["d": .any]]
        let text = #"{"a":null,"b":true,"c":null}"#
        #expect(try shape.check(text, maxMismatches: 9).count == 3)
        #expect(try shape.check(text, isLenient: true) == [])
        #expect(try JSONShape.array(of: .string).check("[null]", isLenient: true).count == 1)
    }

    @Test(
        arguments: [
            ["$min": .integer], [.string, .number], ["a?": .any, "a": .any], [["$nonsense": .any]],
            .integer(min: 2, max: 1), .string.closed, .oneOf([]), .integer(min: 1).or(.integer(min: 2)),
            JSONShape.array(of: .string).or([.number]), JSONShape.oneOf([1]).or(.string), ["x": .integer.closed],
            [.oneOf([])], .oneOf([["a"]]),
        ] as [JSONShape])
    func inexpressibleLiteralIsReportedOnUse(shape: JSONShape) throws {
        for _ in 0..<2 {
            let error = try #require(throws: NetError.self) { try shape.check() }
            #expect(error.code == .badShape)
            #expect(throws: NetError.self) { _ = try shape.check("1") }
            #expect(throws: NetError.self) { _ = try JSONCheck(JSONExpectation(shape)) }
        }
    }

    @Test func namesAreWrittenAsInTheDocument() throws {
        let shape: JSONShape = ["$$ref": .string, "what??": .integer, "é": .any]
        #expect(try shape.check(#"{"$ref":"a","what?":1,"\u00e9":1}"#) == [])
        #expect(try shape.check(#"{"$ref":"a","what?":1,"e\u0301":1}"#).first?.pointer == "/é")
    }

    @Test func firstUseOfAShapeIsThreadSafe() async throws {
        let shape: JSONShape = ["id": .integer(min: 1), "tags": [.string]]
        await withTaskGroup(of: Bool.self) { group in
            for id in 0..<50 {
                group.addTask { (try? shape.check("{\"id\":\(id),\"tags\":[]}").isEmpty) == (id > 0) }
            }
            for await isRight in group {
                #expect(isRight)
            }
        }
    }

    @Test func malformedJSONIsAnErrorAndNotAMismatch() throws {
        let shape: JSONShape = ["a": .integer]
        let error = try #require(throws: NetError.self) { _ = try shape.check(#"{"a":"x","b":}"#, maxMismatches: 5) }
        #expect(error.code == .badJSON)
        #expect(error.jsonFaults.map(\.pointer) == ["/a", nil])
        #expect(error.offset == 13)
    }
}

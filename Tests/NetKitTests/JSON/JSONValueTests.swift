import NetKit
import Testing

struct JSONValueTests {
    @Test func numbersKeepTheirDigits() throws {
        let text = "[9007199254740993,1e999,-0.0,1.50,12345678901234567890123456789012345678901234567890]"
        let value = try JSONValue(parsing: text)
        #expect(value.description == text)
        #expect(value[0]?.int == 9_007_199_254_740_993)
        #expect(value[1]?.double == nil)
        #expect(value[1]?.number?.text == "1e999")
        #expect(value[3]?.double == 1.5)
        #expect(value[4]?.int == nil)
    }

    @Test func membersKeepTheirOrderAndLookupReturnsTheLastDuplicate() throws {
        let value = try JSONValue(parsing: #"{"b":1,"a":2,"b":3,"":4,"A":5}"#)
        #expect(value.members?.map(\.name) == ["b", "a", "b", "", "A"])
        #expect(value["b"] == 3)
        #expect(value["a"] == 2)
        #expect(value[""] == 4)
        #expect(value["c"] == nil)
        #expect(value[0] == nil)
    }

    @Test func missingPartsOfATreeAreNil() throws {
        let tree: JSONValue? = try JSONValue(parsing: #"{"cities":[{"name":"Oslo","people":7,"area":4.5,"old":true}]}"#)
        let oslo = tree["cities"][0]
        #expect(oslo["name"].string == "Oslo" && oslo["people"].int == 7 && oslo["area"].double == 4.5)
        #expect(oslo["old"].bool == true && oslo["area"].int == nil && oslo["name"].int == nil)
        #expect(tree["cities"].array?.count == 1 && tree["cities"]["name"] == nil && tree["cities"][1]["name"] == nil)
        #expect(tree["towns"][0]["name"].string == nil && JSONValue?.none["a"][0].array == nil)
    }

    @Test func namesCompareByteByByte() throws {
        let value = try JSONValue(parsing: #"{"\u00e9":1,"a\u0000x":2,"a":3}"#)
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == nil)
        #expect(value["a\u{0}x"] == 2)
        #expect(value["a"] == 3)
    }

    @Test func escapesAreDecodedAndRewrittenIfRequired() throws {
        let value = try JSONValue(parsing: #"["\ud83d\ude00\/\"\\\b\u001f","\n\r\t"]"#)
        #expect(value[0] == "\u{1F600}/\"\\\u{8}\u{1F}")
        #expect(value.description == "[\"\u{1F600}/\\\"\\\\\\u0008\\u001f\",\"\\n\\r\\t\"]")
        #expect(try JSONValue(parsing: value.description) == value)
    }

    @Test(arguments: [
        "", " ", "[1,]", "{\"a\":1,}", "01", "1.", "+1", "nul", "\"\u{1}\"", "[1] 2", "\u{FEFF}1", "\"\\ud800\"", "'a'",
    ])
    func malformedJSONErrorContainsTheOffset(text: String) throws {
        let error = try #require(throws: NetError.self) { try JSONValue(parsing: text) }
        #expect(error.code == .badJSON)
        let fault = try #require(error.jsonFaults.first)
        #expect(fault.pointer == nil)
        #expect(error.offset == fault.offset)
        #expect(!fault.wanted.isEmpty && !fault.found.isEmpty)
    }

    @Test func nonUTF8BytesAreRejected() throws {
        // The offset is that of the first invalid byte. 0xED may begin a character, but not before 0xA0.
        let texts: [(bytes: [UInt8], offset: Int)] = [
            ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 2), ([0x22, 0xFF, 0x22], 1),
        ]
        for text in texts {
            let error = try #require(throws: NetError.self) { try JSONValue(Bytes(text.bytes)) }
            #expect(error.code == .badJSON)
            #expect(error.offset == text.offset)
        }
    }

    @Test func excessiveDepthIsRejectedWithoutRecursion() throws {
        let deep = String(repeating: "[", count: 1_000_000)
        let error = try #require(throws: NetError.self) { try JSONValue(parsing: deep) }
        #expect(error.offset == 512)
        var rules = JSONRules()
        rules.maxDepth = 1_000_000
        #expect(throws: NetError.self) { try JSONValue(parsing: deep, rules: rules) }
        let allowed = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try JSONValue(parsing: allowed).description == allowed)
    }

    @Test func rulesDetermineAcceptedExtensions() throws {
        var rules = JSONRules()
        rules.allowsLoneSurrogates = true
        rules.refusesDuplicateNames = true
        rules.maxNumberBytes = 3
        #expect(try JSONValue(parsing: #""\ud800""#, rules: rules) == "\u{FFFD}")
        #expect(throws: NetError.self) { try JSONValue(parsing: #"{"a":1,"\u0061":2}"#, rules: rules) }
        #expect(throws: NetError.self) { try JSONValue(parsing: "1234", rules: rules) }
        #expect(try JSONValue(parsing: "123", rules: rules) == 123)
    }

    @Test func nullsAreRemovedAtAnyDepthAndEmptyContainersRemain() throws {
        let value = try JSONValue(parsing: #"{"a":null,"b":[null,1,{"c":null},[null]],"d":{"e":null}}"#)
        #expect(value.removingNulls.description == #"{"b":[1,{},[]],"d":{}}"#)
        #expect(JSONValue.null.removingNulls == .null)
    }

    @Test func numbersFollowTheGrammar() {
        for text in ["0", "-0", "10", "1.5", "1e5", "1E+5", "0.0e-9", "-12.34E56"] {
            #expect(JSONNumber(text)?.text == text)
        }
        for text in ["", "-", "01", "-01", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN", "1 ", "1é", "١"] {
            #expect(JSONNumber(text) == nil, "\(text)")
        }
        #expect(JSONNumber("1.0")?.integer == 1)
        #expect(JSONNumber("1e2")?.integer == 100)
        #expect(JSONNumber("1.5")?.integer == nil)
        #expect(JSONNumber("9007199254740993.0")?.integer == 9_007_199_254_740_993)
        #expect(JSONNumber("1.00000000000000000001")?.integer == nil)
        #expect(JSONNumber("1e-400")?.integer == nil)
        #expect(JSONNumber("-0.0e-99999999999999999999")?.integer == 0)
        #expect(JSONNumber("-92233720368547758.08E+2")?.integer == Int.min)
        #expect(JSONNumber("9223372036854775808e0")?.integer == nil)
        #expect(JSONNumber("0.0000000000000000000000001200e26")?.integer == 12)
        #expect(JSONNumber("1200e-2")?.integer == 12)
        #expect(JSONNumber("1200e-3")?.integer == nil)
        #expect(JSONNumber("1e999999999999999999999")?.integer == nil)
    }

    @Test func literalsMakeATree() {
        let value: JSONValue = ["a": [1, 2.5, true, .null, "x"], "b": [:]]
        #expect(value.description == #"{"a":[1,2.5,true,null,"x"],"b":{}}"#)
    }
}

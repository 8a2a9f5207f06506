import NetKit
import Testing

struct ParametersTests {
    private func query(_ parameters: Parameters) throws -> String {
        try QueryEncoding(order: .asGiven).query(parameters)
    }

    @Test func literalsOfEveryKindKeepTheirOrder() throws {
        let name = "bang"
        let parameters: Parameters = [
            "z": "text", "y": "hello \(name)", "x": 1, "w": -2.5, "v": true, "u": nil, "t": [1, "2", [3]],
            "s": ["r": ["q": 4]],
        ]
        #expect(
            try query(parameters)
                == "z=text&y=hello%20bang&x=1&w=-2.5&v=1&u&t%5B%5D=1&t%5B%5D=2&t%5B%5D%5B%5D=3&s%5Br%5D%5Bq%5D=4")
    }

    @Test func aRepeatedNameInALiteralStays() throws {
        #expect(try query(["b": 1, "a": 2, "b": 3]) == "b=1&a=2&b=3")
    }

    @Test func variablesOfEveryKindBecomeValues() throws {
        let text: Substring = "ab".prefix(1)
        let missing: Parameters? = nil
        let parameters: Parameters = [
            "text": .init(text), "flag": .init(false), "byte": .init(UInt8.max), "big": .init(UInt64.max),
            "small": .init(Int.min), "double": .init(0.1), "float": .init(Float(0.1)), "missing": .init(missing),
            "list": .init([1, 2].lazy.map { Parameters($0) }), "bytes": .bytes([0, 0xFF]),
        ]
        #expect(
            try query(parameters)
                == "text=a&flag=0&byte=255&big=18446744073709551615&small=-9223372036854775808&double=0.1&float=0.1"
                + "&missing&list%5B%5D=1&list%5B%5D=2&bytes=%00%FF")
    }

    @Test(arguments: [Float.greatestFiniteMagnitude, .leastNonzeroMagnitude, 1 / 3, 16_777_216, 1e20, -0.0, 5])
    func aFloatReadsBackFromItsShortestForm(value: Float) throws {
        let text = try query(["f": .init(value)]).dropFirst(2)
        #expect(Float(text)?.bitPattern == value.bitPattern)
        #expect(text.utf8.count <= value.description.utf8.count + 22)
    }

    @Test func aSetRepeatsTheBareKeySortedByText() throws {
        let parameters: Parameters = ["b": .set(["x", 10, 9]), "a": .set([])]
        for order in [QueryEncoding.Order.sorted, .asGiven] {
            #expect(try QueryEncoding(order: order).query(parameters) == "b=10&b=9&b=x")
        }
    }

    @Test func fieldsAreReadAndChangedByName() {
        var parameters: Parameters = ["a": 1, "b": 2, "a": 3]
        #expect(parameters["a"] == 1)
        #expect(parameters["c"] == nil)
        parameters["a"] = "new"
        #expect(parameters == ["a": "new", "b": 2])
        parameters["b"] = nil as Parameters?
        #expect(parameters == ["a": "new"])
        parameters["c"] = .null
        parameters.append(name: "a", value: 4)
        #expect(parameters == ["a": "new", "c": nil, "a": 4])
        #expect(parameters.fields.map(\.name) == ["a", "c", "a"])
        var other: Parameters = 5
        other["x"] = 1
        #expect(other == ["x": 1])
        #expect(!other.isEmpty && Parameters.object([]).isEmpty && Parameters.array([]).isEmpty)
    }

    @Test func unencodableValueErrorContainsItsKey() throws {
        let bad: [(Parameters, String)] = [
            (["a": ["b": [.double(.nan)]]], "'a[b][]'"), (["a": .double(-.infinity)], "'a'"),
            (["n": .number("1x")], "'n'"), ([1, 2], "not an object"), ("text", "not an object"),
        ]
        for (parameters, said) in bad {
            let error = #expect(throws: NetError.self) { try query(parameters) }
            #expect(error?.code == .badParameter)
            #expect(error?.message.contains(said) == true, "\(String(describing: error))")
        }
    }

    @Test func depthLimitIsEnforced() throws {
        func nested(_ depth: Int) -> Parameters {
            (1..<depth).reduce(into: ["v": 1]) { inner, _ in inner = ["k": inner] }
        }
        #expect(try query(nested(256)).hasSuffix("%5Bv%5D=1"))
        let error = #expect(throws: NetError.self) { try query(nested(257)) }
        #expect(error?.code == .tooLarge)
    }

    @Test func jsonPreservesDigitsNULOrderAndRepeatedNames() throws {
        let parameters = try Parameters(
            json: #"{"b":12345678901234567890.10,"a\u0000":"\u0000\ud83d\ude00","b":[null,true,{}]}"#)
        #expect(
            parameters == [
                "b": .number("12345678901234567890.10"), "a\u{0}": "\u{0}😀", "b": [nil, true, [:]],
            ])
        #expect(try Parameters(json: Bytes(Array("[1]".utf8))) == [.number("1")])
    }

    @Test(arguments: [("{\"a\":\"\\ud800\"}", 12), ("{\"a\":1,}", 7), ("", 0), ("7", 0), ("[1", 2)])
    func malformedJSONErrorContainsTheByteOffset(text: String, offset: Int) {
        let error = #expect(throws: NetError.self) { try Parameters(json: text) }
        #expect(error?.code == .badJSON)
        #expect(error?.offset == offset)
    }

    @Test func escapingLeavesUnreservedCharacters() {
        let all = String(String.UnicodeScalarView((0..<128).compactMap { UnicodeScalar($0) }))
        let unescaped = QueryEncoding().escape(all).replacing(/%[0-9A-F]{2}/, with: "")
        #expect(unescaped == "-./0123456789?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~")
        #expect(QueryEncoding().escape("a ä") == "a%20%C3%A4")
        #expect(QueryEncoding(spaces: .plus).escape("a +") == "a+%2B")
        #expect(QueryEncoding().escape("") == "")
    }
}

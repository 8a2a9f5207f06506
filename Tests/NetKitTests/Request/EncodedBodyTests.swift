import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Bodies that are encoded from parameters and values.
struct EncodedBodyTests {
    private struct Point: Codable, Equatable {
        var x: Double
        var names: [String]
        var inner: [String: Double]?
    }

    private func text(_ body: Body?) -> String? {
        body.map { String(decoding: Array($0.bytes), as: UTF8.self) }
    }

    @Test func formIsAQueryWithAContentTypeEvenIfEmpty() throws {
        let body = try Body.form(["b": "x y&ü", "a": ["k": [1, 2]], "n": .null])
        #expect(text(body) == "a%5Bk%5D%5B%5D=1&a%5Bk%5D%5B%5D=2&b=x%20y%26%C3%BC&n")
        #expect(body.contentType == "application/x-www-form-urlencoded")
        let empty = try Body.form(nil)
        #expect(empty.bytes.isEmpty && empty.contentType == "application/x-www-form-urlencoded")
        let error = try #require(throws: NetError.self) { try Body.form(["a": .double(.nan)]) }
        #expect(error.code == .badParameter && error.message.contains("'a'"))
    }

    @Test func jsonOfParametersPreservesOrderAndDigits() throws {
        let parameters: Parameters = ["z": 1, "a": [.number("1.10"), 12_345_678_901_234_567, true, .null, "é/\""]]
        let body = try Body.json(parameters)
        #expect(text(body) == #"{"z":1,"a":[1.10,12345678901234567,true,null,"é\/\""]}"#)
        #expect(body.contentType == "application/json")
        let sorted = try Body.json(parameters, style: JSONStyle(isSorted: true, keepsSlashes: true))
        #expect(text(sorted) == #"{"a":[1.10,12345678901234567,true,null,"é/\""],"z":1}"#)
    }

    @Test(
        arguments: [
            (["a": ["b": [1, 2, .double(.nan)]]], "'a.b[2]': the number is not finite"),
            (["a": .double(.infinity)], "'a': the number is not finite"), (["a": .bytes([1])], "'a': bytes"),
        ] as [(Parameters, String)])
    func unencodableJSONErrorContainsThePath(parameters: Parameters, message: String) throws {
        let error = try #require(throws: NetError.self) { _ = try Body.json(parameters) }
        #expect(error.code == .badParameter && error.message.contains(message))
    }

    @Test func jsonOfValuesFollowsStrategiesAndErrorsContainThePath() throws {
        let point = Point(x: 1, names: ["b/c"], inner: nil)
        let body = try Body.json(point, style: .sorted)
        #expect(text(body) == #"{"names":["b\/c"],"x":1}"#)
        let error = try #require(throws: NetError.self) {
            try Body.json(["p": [Point(x: 1, names: [], inner: ["q": .nan])]])
        }
        #expect(error.code == .encoding && error.message.contains("'p[0].inner.q'"))
    }

    @Test func textIsEncodedInACharset() throws {
        let body = try Body.text("é€", charset: "windows-1252")
        #expect(body.bytes == [0xE9, 0x80] && body.contentType == "text/plain; charset=windows-1252")
        let error = try #require(throws: NetError.self) { try Body.text("a中", charset: "ISO-8859-1") }
        #expect(error.code == .badCharset && error.offset == 1)
        #expect(throws: NetError.self) { try Body.text("a", charset: "nothing") }
    }

    @Test func jsonTextRoundTripsThroughParameters() throws {
        let json = #"{"b":[1,-0,1.0,1e2,123456789012345678901,"\u0000\ud83d\ude00",null,true],"a":{},"a":[]}"#
        let parameters = try Parameters(json: json)
        #expect(
            parameters["b"]
                == .array([
                    .number("1"), .number("-0"), .number("1.0"), .number("1e2"), .number("123456789012345678901"),
                    "\0😀", .null,
                    true,
                ]))
        let body = try Body.json(parameters)
        #expect(text(body) == #"{"b":[1,-0,1.0,1e2,123456789012345678901,"\u0000😀",null,true],"a":{},"a":[]}"#)
        let error = try #require(throws: NetError.self) { try Parameters(json: #"{"a":01}"#) }
        #expect(error.code == .badJSON && error.offset != nil)
    }
}

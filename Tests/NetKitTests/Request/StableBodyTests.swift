import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// A value has the same encoding in every process, so that a cache on disk finds the response to its POST.
struct StableBodyTests {
    private struct Search: Encodable, Sendable {
        var query = "oslo/øst"
        var page = 1
        var size: Int?
        var near = true
        var area = Area()

        struct Area: Encodable, Sendable {
            var west = -1.5
            var east = 2.0
            var limit: Decimal = Decimal(string: "12345678901234567890.5") ?? 0
        }
    }

    private struct Kinds: Encodable {
        var z = UInt64.max
        var date = Date(timeIntervalSinceReferenceDate: 12.5)
        var data = Data([1, 2, 255])
        var url = URL(string: "https://h/a?b=c")
        var float: Float = 0.1
        var tags: Set<String> = ["b", "a", "c", "d", "e"]
        var numbers: Set<Int> = [10, 9, 1, -3]
        var byName = ["b": 1, "a": 2, "c": 3]
        var byNumber = [10: "x", 9: "y"]
        var byDate = [Date(timeIntervalSinceReferenceDate: 2): "b", Date(timeIntervalSinceReferenceDate: 1): "a"]
        var nothing: [String: Int] = [:]
        var none: Int?
    }

    private func text(_ body: Body) -> String { String(decoding: Array(body.bytes), as: UTF8.self) }

    @Test func membersAreInDeclarationOrder() throws {
        #expect(
            try text(.json(Search()))
                == #"{"query":"oslo\/øst","page":1,"near":true,"area":{"west":-1.5,"east":2,"#
                + #""limit":12345678901234567890.5}}"#)
        #expect(
            try text(.json(Search.Area(), style: JSONStyle(isSorted: true, isPretty: true)))
                == "{\n  \"east\": 2,\n  \"limit\": 12345678901234567890.5,\n  \"west\": -1.5\n}")
    }

    @Test func unorderedContainersAreSorted() throws {
        #expect(
            try text(.json(Kinds(), style: JSONStyle(keepsSlashes: true)))
                == #"{"z":18446744073709551615,"date":"2001-01-01T00:00:12Z","data":"AQL/","url":"https://h/a?b=c","float":0.1,"#
                + #""tags":["a","b","c","d","e"],"numbers":[-3,1,9,10],"byName":{"a":2,"b":1,"c":3},"#
                + #""byNumber":{"10":"x","9":"y"},"byDate":["2001-01-01T00:00:01Z","a","2001-01-01T00:00:02Z","b"],"nothing":{}}"#
        )
        #expect(try text(.json(["b": 2, "a": 1])) == #"{"b":2,"a":1}"#)
        #expect(try text(.json(["b": 2, "a": "x"])) == #"{"b":2,"a":"x"}"#)
    }

    /// Apart from the order and the form of dates, the output is that of `JSONEncoder`.
    @Test func valuesReadBackAsAJSONEncoderWroteThem() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let foundations = try JSONValue(Bytes(encoder.encode(Search())))
        let own = try JSONValue(Body.json(Search(), style: .sorted).bytes)
        #expect(own == foundations)
        for value in [0, -0.5, 1e21, 1e-7, 123_456.789, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double] {
            let read = try JSONDecoder().decode([Double].self, from: Body.json([value]).bytes.data)
            #expect(read == [value])
        }
    }

    @Test func scalarsAreValidTopLevelValues() throws {
        #expect(try text(.json("a/\"")) == #""a\/\"""#)
        #expect(try text(.json(5, style: JSONStyle(isPretty: true))) == "5")
        #expect(try text(.json(Int?.none)) == "null")
        #expect(try text(.json([Int?.none, 1])) == "[null,1]")
        let error = try #require(throws: NetError.self) { try Body.json(Double.nan) }
        #expect(error.code == .encoding)
    }

    @Test func cachedPostIsFoundByItsBodyValue() async throws {
        let fixture = CacheFixture(.app(60))
        fixture.stub.register("/", with: .text("1"), .text("2"))
        for _ in 1...2 {
            var request = Request<Bytes>("/", method: .post, body: try .json(["b": 1, "a": 2, "c": 3]))
            request.caching = .app(60)
            #expect(try await fixture.agent.send(request).bytes.text == "1")
        }
    }
}

import FoundationEssentials
import NetKit
import Testing

struct ParameterEncoderTests {
    private struct Person: Encodable {
        var fullName = "bang"
        var userID = 7
        var isOpenNow = true
        var middle: String?
        var scores: [Double] = [1, 2.5]
        var tags: Set = ["x"]
        var phone = ["mobile": "1", "home": "2"]
    }

    private class Base: Encodable {
        var base = 1
    }

    private final class Derived: Base {
        enum CodingKeys: CodingKey { case own, nested, list }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(2, forKey: .own)
            try super.encode(to: container.superEncoder())
            var nested = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .nested)
            try nested.encodeNil(forKey: .own)
            try super.encode(to: nested.superEncoder(forKey: .list))
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(UInt64.max)
            try list.encodeNil()
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(Float(0.1))
            var fields = list.nestedContainer(keyedBy: CodingKeys.self)
            try fields.encode(Int8(-1), forKey: .own)
            try super.encode(to: list.superEncoder())
        }
    }

    @Test func aStructBecomesItsFieldsInOrder() throws {
        #expect(
            try Parameters(encoding: Person()) == [
                "fullName": "bang", "userID": 7, "isOpenNow": true, "scores": [1.0, 2.5], "tags": .set(["x"]),
                "phone": ["home": "2", "mobile": "1"],
            ])
    }

    @Test func dictionaryIsSortedForAnyKeyType() throws {
        enum Place: String, Encodable, CodingKeyRepresentable { case aHome, bWork, cElse }
        let numbered = Dictionary(uniqueKeysWithValues: (1...9).map { ($0, $0) })
        let fields = try Parameters(encoding: numbered).fields
        #expect(fields.map(\.name) == (1...9).map(String.init))
        let named = try Parameters(
            encoding: [Place.cElse: 3, .aHome: 1, .bWork: 2], by: ParameterEncoder(keys: .snakeCase))
        #expect(named == ["aHome": 1, "bWork": 2, "cElse": 3])
    }

    @Test func integersOfAHundredAndTwentyEightBitsKeepTheirDigits() throws {
        struct Wide: Encodable {
            var low = Int128.min
            var high: UInt128? = .max
            var list = [Int128(1), 2]
            var odd = [UInt128(3)]
        }
        #expect(
            try Parameters(encoding: Wide()) == [
                "low": .number("-170141183460469231731687303715884105728"),
                "high": .number("340282366920938463463374607431768211455"), "list": [1, 2], "odd": [3],
            ])
        #expect(try Parameters(encoding: Int128(-1)) == -1)
        #expect(try Parameters(encoding: UInt128(1)) == 1)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, 253_402_300_800, -62_135_769_601])
    func unrepresentableDateIsRejectedWithItsPath(_ seconds: Double) throws {
        struct Event: Encodable { var at: [Date] }
        let event = Event(at: [.now, Date(timeIntervalSince1970: seconds)])
        let error = #expect(throws: NetError.self) { try Parameters(encoding: event) }
        #expect(error?.code == .encoding)
        #expect(error?.message.hasPrefix("'at[1]'") == true)
    }

    @Test func theFirstAndTheLastDateOfFourDigitsAreWritten() throws {
        let dates = [-62_135_769_600, 253_402_300_799].map(Date.init(timeIntervalSince1970:))
        #expect(try Parameters(encoding: dates) == ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
    }

    @Test func keysAreRenamedExceptInDictionaries() throws {
        struct Outer: Encodable {
            var userIDText = 1
            var isHTTP2Ready = 2
            var already_snake = 3
            var inner = ["camelCase": ["deepKey": 4]]
            var person = ["p": Inner()]
        }
        struct Inner: Encodable { var aB = 5 }
        #expect(
            try Parameters(encoding: Outer(), by: ParameterEncoder(keys: .snakeCase)) == [
                "user_id_text": 1, "is_http2_ready": 2, "already_snake": 3, "inner": ["camelCase": ["deepKey": 4]],
                "person": ["p": ["a_b": 5]],
            ])
        let loud = ParameterEncoder(keys: .custom { $0.uppercased() })
        #expect(try Parameters(encoding: Inner(), by: loud) == ["AB": 5])
    }

    @Test func everyContainerShapeIsPreserved() throws {
        #expect(
            try Parameters(encoding: Derived()) == [
                "own": 2, "super": ["base": 1], "nested": ["own": nil, "list": ["base": 1]],
                "list": [.number("18446744073709551615"), nil, [0.1], ["own": -1], ["base": 1]],
            ])
    }

    @Test func datesFollowTheirStrategy() throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000.5)
        func encoded(_ strategy: ParameterEncoder.DateStrategy) throws -> Parameters? {
            try Parameters(encoding: ["d": date], by: ParameterEncoder(dates: strategy))["d"]
        }
        #expect(try encoded(.iso8601) == "2023-11-14T22:13:20Z")
        #expect(try encoded(.secondsSince1970) == 1_700_000_000.5)
        #expect(try encoded(.millisecondsSince1970) == 1_700_000_000_500)
        #expect(try encoded(.deferred) == .double(date.timeIntervalSinceReferenceDate))
        #expect(try encoded(.custom { _ in "today" }) == "today")
    }

    @Test func dataFollowsItsStrategy() throws {
        func encoded(_ strategy: ParameterEncoder.DataStrategy) throws -> Parameters? {
            try Parameters(encoding: ["d": Data([0, 0xFF])], by: ParameterEncoder(data: strategy))["d"]
        }
        #expect(try encoded(.base64) == "AP8=")
        #expect(try encoded(.bytes) == .bytes([0, 0xFF]))
        #expect(try encoded(.deferred) == [0, 255])
        #expect(try encoded(.custom { .init($0.count) }) == 2)
    }

    @Test func booleansFollowTheirStrategy() throws {
        func encoded(_ strategy: ParameterEncoder.BooleanStrategy) throws -> Parameters {
            try Parameters(encoding: [true, false], by: ParameterEncoder(booleans: strategy))
        }
        #expect(try encoded(.booleans) == [true, false])
        #expect(try encoded(.numbers) == [1, 0])
        #expect(try encoded(.text(true: "yes", false: "no")) == ["yes", "no"])
    }

    @Test func numbersAndURLsKeepTheirText() throws {
        struct Values: Encodable {
            var decimal = Decimal(string: "12345678901234567890.12")
            var url = URL(string: "http://a/b?c=d")
            var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        }
        #expect(
            try Parameters(encoding: Values()) == [
                "decimal": .number("12345678901234567890.12"), "url": "http://a/b?c=d",
                "id": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
            ])
        #expect(try Parameters(encoding: "text") == "text")
        #expect(try Parameters(encoding: [String]()) == [])
        struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
        #expect(try Parameters(encoding: Nothing()) == [:])
    }

    @Test func encodingErrorContainsThePath() {
        struct Refusing: Encodable {
            func encode(to encoder: any Encoder) throws {
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "never")
                throw EncodingError.invalidValue(0, context)
            }
        }
        let error = #expect(throws: NetError.self) { try Parameters(encoding: ["a": ["b": [Refusing()]]]) }
        #expect(error?.code == .encoding)
        #expect(error?.message == "'a[b][0]': never")
        struct Odd: Error {}
        let dates = ParameterEncoder(dates: .custom { _ in throw Odd() })
        let other = #expect(throws: NetError.self) { try Parameters(encoding: [Date()], by: dates) }
        #expect(other?.code == .encoding)
        #expect(other?.underlying is Odd)
    }
}

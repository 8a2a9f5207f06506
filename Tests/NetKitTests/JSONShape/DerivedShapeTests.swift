import FoundationEssentials
import NetKit
import Testing

/// Shapes that are derived from the calls a type makes while it decodes.
struct DerivedShapeTests {
    struct Place: Codable, Sendable {
        var x: Double
        var y: Float?
    }

    struct City: Codable, Sendable {
        enum Kind: String, Codable, CaseIterable { case town, village }
        enum CodingKeys: String, CodingKey {
            case id, name, kind, place, twins, tags, founded, home
            case isCapital = "is?capital"
        }

        var id: Int
        var name: String
        var kind: Kind
        var place: Place?
        var twins: [City]
        var tags: Set<String>
        var founded: Date
        var home: URL?
        var isCapital: Bool
    }

    /// Checks that a type's shape accepts each text that the type decodes.
    private func agree<Value: Decodable>(
        _ type: Value.Type, document: String, _ texts: [String], decoder: JSONDecoder = JSONDecoder()
    ) throws {
        let shape = try JSONShape(for: type, decoder: decoder)
        #expect(shape.document == document)
        try shape.check()
        for text in texts {
            let isDecoded = (try? decoder.decode(type, from: Data(text.utf8))) != nil
            let fits = try shape.check(text).isEmpty
            #expect(fits || !isDecoded, "\(text) is refused by the shape and decoded by \(type)")
        }
    }

    @Test func shapeIsDerivedFromATypicalStructure() throws {
        try agree(
            City.self,
            document: #"{"id":"integer","name":"string","kind":{"$enum":["town","village"]},"#
                + #""place?":{"$type":"object?","x":"number","y?":"number?"},"twins":["any"],"tags":["string"],"#
                + #""founded":"number","home?":"string?","is??capital":"boolean"}"#,
            [#"{"id":1,"name":"a","kind":"town","twins":[],"tags":["x"],"founded":0,"is?capital":true}"#])
        let shape = try JSONShape(for: City.self)
        let text = #"{"id":1,"name":"a","kind":"city","twins":[],"tags":[1],"founded":0}"#
        #expect(
            try shape.check(text, maxMismatches: 9).map(\.pointer) == ["/kind", "/tags/0", "/founded", "/is?capital"])
    }

    @Test func shapeIsDerivedFromScalarsAndContainers() throws {
        #expect(try JSONShape(for: Int.self) == .integer)
        #expect(try JSONShape(for: [Int?].self) == .array(of: .integer.orNull).listed)
        #expect(try JSONShape(for: [[String]].self).document == #"[["string"]]"#)
        #expect(try JSONShape(for: [String: Int].self) == .object)
        #expect(try JSONShape(for: Bool?.self) == .boolean.orNull)
        #expect(try JSONShape(for: UInt8.self) == .integer(min: 0))
        #expect(try JSONShape(for: Decimal.self) == .number)
        #expect(try JSONShape(for: UUID.self) == .string)
        #expect(try JSONShape(for: Data.self) == .string)
    }

    @Test func integersOfAHundredAndTwentyEightBitsAreIntegers() throws {
        struct Wide: Codable, Sendable {
            var low: Int128
            var high: UInt128?
            var list: [Int128]
        }
        try agree(Int128.self, document: "\"integer\"", ["-170141183460469231731687303715884105728", "1.5", "\"1\""])
        try agree(
            Wide.self, document: #"{"low":"integer","high?":{"$type":"integer?","$min":0},"list":["integer"]}"#,
            [#"{"low":1,"list":[2]}"#, #"{"low":1,"high":340282366920938463463374607431768211455,"list":[]}"#])
    }

    @Test func datesAndDataFollowTheDecoderStrategies() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try JSONShape(for: Date.self, decoder: decoder) == .string)
        decoder.dateDecodingStrategy = .custom { _ in Date() }
        #expect(try JSONShape(for: Date.self, decoder: decoder) == .any)
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(throws: NetError.self) { try JSONShape(for: Date.self, decoder: decoder) }
    }

    /// Decodes even if some members are missing or have other types, so the shape must accept that too.
    struct Tolerant: Decodable {
        enum CodingKeys: CodingKey { case count, label, level, mark }
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            _ = (try? members.decode(Int.self, forKey: .count)) ?? 0
            if members.contains(.label) {
                _ = try members.decode(String.self, forKey: .label)
            }
            do {
                _ = try members.decode(Int.self, forKey: .level)
            } catch DecodingError.typeMismatch {
                _ = try members.decode(String.self, forKey: .level)
            }
            _ = try members.decode(Bool.self, forKey: .mark)
        }
    }

    @Test func shapeAllowsWhateverTheTypeDecodes() throws {
        try agree(
            Tolerant.self, document: #"{"count?":"any","label?":"string","level":"any","mark":"boolean"}"#,
            [
                #"{"mark":true,"level":1}"#, #"{"mark":true,"level":"1","count":"x"}"#, #"{"mark":1,"level":1}"#,
                #"{"mark":true,"level":1,"label":"a"}"#, #"{"mark":true}"#,
            ])
    }

    /// Reads some members through nested containers and decoders, which do not determine the type of a value.
    struct Layered: Decodable {
        enum CodingKeys: CodingKey { case meta, rows, note, id, label }
        enum MetaKeys: CodingKey { case version }
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            let meta = try members.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
            _ = try meta.decode(Int.self, forKey: .version)
            _ = try? members.nestedUnkeyedContainer(forKey: .rows)
            _ = try members.superDecoder()
            if try !members.decodeNil(forKey: .note) {
                _ = try members.decode(String.self, forKey: .note)
            }
            _ = try members.decode(Int.self, forKey: .id)
            _ = (try? members.decode(String.self, forKey: .label)) ?? ""
        }
    }

    @Test func nestedContainersAreDistinguishedFromMembers() throws {
        try agree(
            Layered.self,
            document: #"{"meta":"object","rows?":"any","super?":"any","note":"string?","id":"integer","label?":"any"}"#,
            [
                #"{"meta":{"version":1},"rows":[],"note":"a","id":1,"label":"b"}"#,
                #"{"meta":{"version":1},"note":null,"id":1}"#, #"{"meta":{"version":1},"rows":1,"note":"a","id":1}"#,
                #"{"meta":{"version":1},"note":"a","label":"b"}"#, #"{"note":"a","id":1}"#, #"{"meta":{},"id":1}"#,
            ])
        let shape = try JSONShape(for: Layered.self)
        #expect(try shape.check(#"{"note":"a"}"#, maxMismatches: 9).map(\.pointer) == ["/meta", "/id"])
    }

    /// A number or a string.
    enum Either: Decodable {
        case number(Int)
        case text(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }
    }

    struct Wrapper: Decodable {
        var text: String
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }
    }

    /// An object, or only a string.
    struct Short: Decodable {
        enum CodingKeys: CodingKey { case name }
        var name: String
        init(from decoder: any Decoder) throws {
            if let members = try? decoder.container(keyedBy: CodingKeys.self) {
                name = try members.decode(String.self, forKey: .name)
            } else {
                name = try decoder.singleValueContainer().decode(String.self)
            }
        }
    }

    struct Holder: Decodable {
        var either: Either
        var wrapper: Wrapper
        var short: Short
    }

    @Test func typeThatTriesAlternativesAcceptsAnything() throws {
        try agree(
            Holder.self, document: #"{"either":"any","wrapper":"string","short":"any"}"#,
            [
                #"{"either":1,"wrapper":"a","short":"b"}"#, #"{"either":"1","wrapper":"a","short":{"name":"x"}}"#,
                #"{"either":1,"wrapper":1,"short":"b"}"#,
            ])
    }

    final class Node: Decodable {
        var next: Node?
        var children: [Node]
        var named: [String: Node]
    }

    @Test func recursiveMemberAcceptsAnything() throws {
        try agree(
            Node.self, document: #"{"next?":"any","children":["any"],"named":"object"}"#,
            [#"{"children":[],"named":{}}"#, #"{"next":{"children":[],"named":{}},"children":[],"named":{}}"#])
    }

    enum Unlisted: String, Decodable { case a, b }
    struct Holding: Decodable { var one: Unlisted; var other: Int }
    enum Loaded: Decodable { case number(Int), none }
    struct Picky: Decodable {
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard text.hasPrefix("picky") else { throw NetError(.usage, "not picky") }
        }
    }

    @Test func typeWithoutASampleCannotBeDerived() throws {
        for derive in [
            { try JSONShape(for: Holding.self) }, { try JSONShape(for: Loaded.self) },
            { try JSONShape(for: Picky.self) },
        ] as [() throws -> JSONShape] {
            let error = try #require(throws: NetError.self) { _ = try derive() }
            #expect(error.code == .badShape)
        }
        #expect(
            try JSONShape(for: Holding.self, samples: [Unlisted.a]).document == #"{"one":"string","other":"integer"}"#)
        #expect(try JSONShape(for: Unlisted?.self) == .string.orNull)
    }

    /// Decodes an unknown raw value as one of its own cases.
    enum Forgiving: String, Decodable, CaseIterable {
        case a, b, unknown
        init(from decoder: any Decoder) throws {
            self = Forgiving(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    enum Numbered: UInt64, Decodable, CaseIterable { case small = 0, large = 18_446_744_073_709_551_615 }

    @Test func lenientEnumerationHasItsRawType() throws {
        #expect(try JSONShape(for: Forgiving.self) == .string)
        #expect(try JSONShape(for: [Numbered].self).document == #"[{"$enum":[0,18446744073709551615]}]"#)
        #expect(try JSONShape(for: Numbered.self).check("18446744073709551615") == [])
    }

    /// Deeply nested types. Each is examined once.
    struct A: Decodable { var a: Place; var b: Place; var c: Place; var d: Place; var e: Place; var f: Place? }
    struct B: Decodable { var a: A; var b: A; var c: A; var d: A; var e: A; var f: A? }
    struct C: Decodable { var a: B; var b: B; var c: B; var d: B; var e: B; var f: [B] }

    @Test func deeplyNestedTypesAreDerived() throws {
        let shape = try JSONShape(for: C.self)
        #expect(shape.document.utf8.count > 1000)
        try shape.check()
    }
}

extension JSONShape {
    /// Replaces `{"$type":"array","$items":S}` by `[S]`.
    fileprivate var listed: JSONShape {
        guard let items = try? JSONValue(parsing: document)["$items"] else { return self }
        return (try? JSONShape(document: "[\(items)]")) ?? self
    }
}

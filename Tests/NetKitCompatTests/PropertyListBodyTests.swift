import FoundationEssentials
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Property lists as the bodies of requests.
struct PropertyListBodyTests {
    private struct Point: Codable, Equatable {
        var x: Double
        var names: [String]
        var inner: [String: Double]?
    }

    private func sent(_ request: Request<Bytes>) async throws -> StubRequest {
        let stub = StubTransport()
        stub.register("*", with: .status(200))
        _ = try await Agent(.init(baseURL: "http://stub"), transport: stub).send(request)
        return try #require(stub.requests.first)
    }

    @Test(arguments: [PropertyListFormat.xml, .binary])
    func parametersBecomeAPropertyList(format: PropertyListFormat) async throws {
        var request = Request<Bytes>("/", method: .put, parameters: ["a": [1, "é"]])
        request.serializer = PropertyListSerializer(format: format)
        let made = try await sent(request)
        #expect(made.headers["Content-Type"] == "application/x-plist")
        struct Sent: Decodable, Equatable {
            struct Values: Decodable, Equatable {
                var first: Int
                var second: String

                init(from decoder: any Decoder) throws {
                    var values = try decoder.unkeyedContainer()
                    first = try values.decode(Int.self)
                    second = try values.decode(String.self)
                }
            }
            var a: Values
        }
        let read = try Response(status: 200, bytes: made.body).decode(by: Decoding<Sent>.propertyList)
        #expect(read.a.first == 1 && read.a.second == "é")
    }

    @Test func errorThrownByTheSerializerFailsTheRequest() async throws {
        var request = Request<Bytes>("/", method: .post, parameters: ["a": .null])
        request.serializer = PropertyListSerializer()
        let error = try #require(await #expect(throws: NetError.self) { _ = try await sent(request) })
        #expect(error.code == .encoding && error.message.contains("'a'"))
    }

    @Test(arguments: [PropertyListFormat.xml, .binary])
    func propertyListsRoundTrip(format: PropertyListFormat) throws {
        let point = Point(x: 1.5, names: ["é", "<&>"], inner: ["k": -2])
        let fromValue = try Body.propertyList(point, format: format)
        let fromParameters = try Body.propertyList(
            ["x": 1.5, "names": ["é", "<&>"], "inner": ["k": -2.0]], format: format)
        for body in [fromValue, fromParameters] {
            #expect(body.contentType == "application/x-plist")
            #expect(body.bytes.starts(with: (format == .xml ? "<?xml" : "bplist00").utf8))
            #expect(try PropertyListDecoder().decode(Point.self, from: body.bytes.data) == point)
        }
    }

    @Test(
        arguments: [
            (["a": [1, .null]], "'a[1]'"), (["a": .set([1])], "'a'"), (["a": .number("1e999")], "'a'"),
            (.object([.init(name: "k", value: 1), .init(name: "k", value: 2)]), "'k' occurs twice"), ("text", "root"),
        ] as [(Parameters, String)])
    func unencodablePropertyListErrorContainsThePath(parameters: Parameters, message: String) throws {
        let error = try #require(throws: NetError.self) { _ = try Body.propertyList(parameters) }
        #expect(error.code == .encoding && error.message.contains(message))
    }

    private struct Settings: Codable, Equatable {
        var b = "x <&>\nline"
        var a = [1, 2, 300]
        var c = ["z": Data([1, 2, 3]), "y": Data()]
        var when = Date(timeIntervalSinceReferenceDate: 5)
        var yes = true
        var half = 0.5
        var inner = Inner()
        var many = Dictionary(uniqueKeysWithValues: (0..<300).map { ("k\($0)é", $0) })

        struct Inner: Codable, Equatable {
            var é = "ü"
            var empty: [String: Int] = [:]
            var list: [[String: String]] = [["q": "1", "p": "2"], [:]]
        }
    }

    @Test(arguments: [PropertyListFormat.xml, .binary])
    func propertyListIsSortedByNameAndReadsBack(format: PropertyListFormat) throws {
        let body = try Body.propertyList(Settings(), format: format)
        #expect(try PropertyListDecoder().decode(Settings.self, from: body.bytes.data) == Settings())
        let names = ["a", "b", "c", "half", "inner", "many", "when", "yes"]
        let bytes = Array(body.bytes)
        let written = names.map { name in
            format == .xml ? Array("<key>\(name)</key>".utf8) : [0x50 + UInt8(name.utf8.count)] + Array(name.utf8)
        }
        let offsets = written.map { name in bytes.indices.first { bytes[$0...].starts(with: name) } ?? -1 }
        #expect(offsets == offsets.sorted() && !offsets.contains(-1))
        #expect(
            try Body.propertyList(["b": 1, "a": 2], format: format).bytes
                == Body.propertyList(["a": 2, "b": 1], format: format).bytes)
    }

    /// The decoder of a caller takes the place of Foundation's default.
    @Test func decoderOfTheCallerIsUsed() throws {
        struct City: Decodable, Sendable {
            var mayor: String

            init(from decoder: any Decoder) throws {
                mayor = try #require(CodingUserInfoKey.mayor.flatMap { decoder.userInfo[$0] as? String })
            }
        }
        let decoding = Decoding<City>.propertyList {
            let decoder = PropertyListDecoder()
            CodingUserInfoKey.mayor.map { decoder.userInfo[$0] = "Ada" }
            return decoder
        }
        let body = try Body.propertyList(["city": "Oslo"])
        #expect(try Response(status: 200, bytes: body.bytes).decode(by: decoding).mayor == "Ada")
    }
}

extension CodingUserInfoKey {
    fileprivate static var mayor: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "mayor") }
}

import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

@testable import NetKitCompat

struct PropertyListTests {
    private struct City: Codable, Sendable, Equatable {
        var name: String
        var population: [Int]
        var founded: Date
        var seal: Data
    }

    /// Decodes any list at any depth.
    private struct Anything: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            guard var values = try? decoder.unkeyedContainer() else { return }
            while !values.isAtEnd {
                _ = try values.decode(Anything.self)
            }
        }
    }

    private func agent(_ bytes: [UInt8], _ type: String = "application/x-plist") -> Agent {
        let stub = StubTransport()
        stub.register("*", with: .bytes(Bytes(bytes), contentType: type))
        return Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    /// Catches the error itself, since `#expect(throws:)` prints each byte of the error's response, and some are large.
    private func failure(_ bytes: [UInt8]) async throws -> NetError {
        struct NothingWasRefused: Error {}
        do throws(NetError) {
            _ = try await agent(bytes).send(Request("/", decoding: Decoding<Anything>.propertyList))
        } catch {
            return error
        }
        throw NothingWasRefused()
    }

    @Test(arguments: [PropertyListDecoder.PropertyListFormat.xml, .binary])
    func propertyListReadsBack(format: PropertyListDecoder.PropertyListFormat) async throws {
        let city = City(
            name: "<Köln>", population: [1, -2, .max], founded: Date(timeIntervalSince1970: -61_000_000_000),
            seal: Data([0, 255]))
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let bytes = Array(try encoder.encode(city))
        let request = Request("/", decoding: Decoding<City>.propertyList)
        #expect(try await agent(bytes).send(request).value == city)
        let error = try #require(
            await #expect(throws: NetError.self) { _ = try await agent(bytes, "text/html").send(request) })
        #expect(error.code == .contentType)
    }

    @Test func emptyBodyIsNotAPropertyList() async throws {
        #expect(try await agent([]).send(Request("/", decoding: Decoding<City?>.propertyList)).value == nil)
        #expect(try await failure([]).code == .decoding)
    }

    @Test(arguments: ["hello", "{ a = (1); }", "(((((((((", "bplist", "bplist00", "<plist><array>", "<a>"])
    func malformedPropertyListIsAnError(text: String) async throws {
        #expect(try await failure(Array(text.utf8)).code == .decoding)
    }

    private func nested(_ depth: Int, _ open: String = "<array>") -> [UInt8] {
        Array(
            ("<?xml version=\"1.0\"?><plist version=\"1.0\">" + String(repeating: open, count: depth)
                + String(repeating: "</array>", count: depth) + "</plist>").utf8)
    }

    @Test func excessiveDepthIsRejectedWithoutRecursion() async throws {
        let request = Request("/", decoding: Decoding<Anything>.propertyList)
        _ = try await agent(nested(120)).send(request)
        for open in ["<array>", "<array ><!--</array>-->", "<array><?x </array>?>", "<!--><array>"] {
            let error = try await failure(nested(1_000, open))
            #expect(error.code == .decoding && error.message.contains("deep"))
        }
        for open in ["<array a=\"/></array>\">", "<array><![CDATA[</array>]]>", "<!DOCTYPE array [</array>]><array>"] {
            #expect(try await failure(nested(300, open)).code == .decoding)
        }
        // Many siblings are not deep.
        let row = Array(
            ("<plist><array>" + String(repeating: "<array/><array></array>", count: 100)
                + "<!-- <array> --><string><![CDATA[<p><p>]]></string></array></plist>").utf8)
        _ = try await agent(row).send(request)
    }

    @Test func bothFormatsHaveTheSameLimits() async throws {
        let request = Request("/", decoding: Decoding<Anything>.propertyList)
        _ = try await agent(nested(128)).send(request)
        _ = try await agent(nested(127, "<array><string>x</string>")).send(request)
        #expect(try await failure(nested(129)).message.contains("128 levels deep"))
        #expect(try await failure(nested(128, "<array><true/>")).message.contains("128 levels deep"))
        let five = Bytes(Array("<plist><array><true/><x></x><true/><true/></array></plist>".utf8))
        try PropertyListMeasure.check(five, maxValues: 5)
        let shared = Bytes(binary([[1, 1, 1, 1], []]))
        try PropertyListMeasure.check(shared, maxValues: 5)
        for list in [five, shared] {
            let error = try #require(
                #expect(throws: NetError.self) { try PropertyListMeasure.check(list, maxValues: 4) })
            #expect(error.message.contains("4 values"))
        }
    }

    /// Returns a binary list of arrays that refer to each other: `arrays[n]` has the indices that array n holds.
    private func binary(_ arrays: [[Int]]) -> [UInt8] {
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for array in arrays {
            offsets.append(bytes.count)
            bytes.append(0xA0 | UInt8(array.count))
            bytes += array.flatMap { big($0, 3) }
        }
        let table = bytes.count
        bytes += offsets.flatMap { big($0, 4) } + [0, 0, 0, 0, 0, 0, 4, 3]
        return bytes + big(arrays.count, 8) + big(0, 8) + big(table, 8)
    }

    @Test func recursiveOrOversizedBinaryListsAreRejected() async throws {
        let request = Request("/", decoding: Decoding<Anything>.propertyList)
        let chain = { (count: Int) in self.binary((0..<count).map { $0 + 1 < count ? [$0 + 1] : [] }) }
        _ = try await agent(chain(128)).send(request)
        #expect(try await failure(chain(129)).message.contains("deep"))
        #expect(try await failure(chain(3_000)).message.contains("deep"))
        #expect(try await failure(binary([[0]])).message.contains("itself"))
        #expect(try await failure(binary([[1], [2], [0]])).message.contains("itself"))
        // Each array holds the next one twice, so 61 objects expand to 2^60 values.
        let doubled = (0...60).map { $0 < 60 ? [$0 + 1, $0 + 1] : [] }
        #expect(try await failure(binary(doubled)).message.contains("values"))
        #expect(try await failure(binary([[7]])).message.contains("malformed"))
        _ = try await agent(binary([[1, 1, 1], []])).send(request)
    }

    @Test(arguments: [(0x4, 1), (0x5, 1), (0x6, 2)])
    func repeatedReferencesCountTowardsTheLimit(kind: Int, unit: Int) async throws {
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
        }
        /// Returns a list with one string or data object, which an array holds `count` times.
        func list(_ bytes: Int, count: Int) -> [UInt8] {
            var list = Array("bplist00".utf8) + [0xAF, 0x12] + big(count, 4)
            list += [UInt8](repeating: 1, count: count)
            let shared = list.count
            list += [UInt8(kind << 4 | 0xF), 0x12] + big(bytes / unit, 4) + [UInt8](repeating: 0x41, count: bytes)
            let table = list.count
            list += big(8, 4) + big(shared, 4) + [0, 0, 0, 0, 0, 0, 4, 1]
            return list + big(2, 8) + big(0, 8) + big(table, 8)
        }
        // 2^28 bytes and one more. A body of 400 KB would become 54 GB.
        try PropertyListMeasure.check(Bytes(list(1 << 14, count: 1 << 14)))
        for hostile in [list(1 << 14, count: 1 + 1 << 14), list(1 << 16, count: 900_000)] {
            let error = try await failure(hostile)
            #expect(error.code == .decoding && error.message.contains("268435456 bytes"))
        }
        _ = try await agent(list(1 << 10, count: 100)).send(Request("/", decoding: Decoding<Anything>.propertyList))
    }

    @Test func corruptBinaryListsAreReadSafely() async throws {
        let whole = binary([[1, 2], [2], []])
        var refused = 0
        for index in whole.indices {
            for value in [UInt8(0), 0x7F, 0xFF] {
                var bytes = whole
                bytes[index] = value
                do {
                    _ = try Response(status: 200, bytes: Bytes(bytes)).decode(by: Decoding<Anything>.propertyList)
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > 50)
        for count in 0..<whole.count {
            #expect(throws: NetError.self) {
                try Response(status: 200, bytes: Bytes(Array(whole[..<count])))
                    .decode(by: Decoding<Anything>.propertyList)
            }
        }
    }
}

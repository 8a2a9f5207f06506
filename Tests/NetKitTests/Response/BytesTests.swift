import FoundationEssentials
import NetKit
import Testing

struct BytesTests {
    private static func received(_ length: UInt64 = 1000) async throws -> Bytes {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: length))
        return try await Agent().send(Request<Bytes>(server.url("/"))).bytes
    }

    @Test func bytesAreACollectionOfThemselves() {
        let bytes: Bytes = [3, 1, 2]
        #expect(bytes.count == 3)
        #expect(bytes[1] == 1)
        #expect(Array(bytes.reversed()) == [2, 1, 3])
        #expect(Array(bytes.dropFirst()) == [1, 2])
        #expect(bytes.firstIndex(of: 2) == 2)
        #expect(bytes.sorted() == [1, 2, 3])
        #expect(bytes.index(after: 0) == 1)
        #expect(Bytes().isEmpty)
    }

    @Test func receivedBytesAreACollectionOfThemselves() async throws {
        let bytes = try await Self.received()
        let expected = pattern(1000)
        #expect(bytes.count == 1000)
        #expect(Array(bytes) == expected)
        #expect(bytes[999] == expected[999])
        #expect(bytes.last == expected.last)
        #expect(Array(bytes.reversed()) == expected.reversed())
        #expect(String(decoding: bytes.prefix(3), as: UTF8.self) == "abc")
    }

    @Test func slicesKeepTheirIndices() async throws {
        let bytes = try await Self.received()
        let slice = bytes[26..<30]
        #expect(slice.startIndex == 26)
        #expect(slice[27] == UInt8(ascii: "b"))
        #expect(Array(slice) == Array("abcd".utf8))
        #expect(slice.dropFirst(2).first == UInt8(ascii: "c"))
    }

    @Test func equalityComparesEveryByteOfAnyStorage() async throws {
        let bytes = try await Self.received()
        var other = pattern(1000)
        #expect(bytes == Bytes(other))
        #expect(Bytes(other) == bytes)
        let again = try await Self.received()
        #expect(bytes == again)
        other[999] ^= 1
        #expect(bytes != Bytes(other))
        #expect(bytes != Bytes(other.dropLast()))
        #expect(bytes != [])
    }

    @Test func spanContainsEveryByte() async throws {
        let bytes = try await Self.received(100)
        let sum = bytes.withSpan { span in span.indices.reduce(0) { $0 + Int(span[$1]) } }
        #expect(sum == pattern(100).reduce(0) { $0 + Int($1) })
        #expect(Bytes([4, 5]).withSpan { $0[1] } == 5)
        #expect(Bytes().withSpan { $0.count } == 0)
    }

    @Test func errorThrownInASpanPropagates() {
        struct Stop: Error, Equatable {}
        #expect(throws: Stop()) { try Bytes([1]).withSpan { _ throws(Stop) in throw Stop() } }
    }

    @Test(arguments: [0, 1, 14, 15, 1000, 100_000])
    func conversionToDataRoundTrips(length: Int) async throws {
        let expected = pattern(length)
        let bytes = try await Self.received(UInt64(length))
        #expect(Array(bytes.data) == (length == 0 ? [] : expected))
        #expect(Bytes(bytes.data) == bytes)
        #expect(Bytes(expected).data == bytes.data)
    }

    @Test func changingTheDataDoesNotAffectTheBytes() async throws {
        let bytes = try await Self.received(1000)
        var data = bytes.data
        data[0] = 0
        data.append(contentsOf: [1, 2, 3])
        data.changeEveryByte { $0 = 0xEE }
        #expect(Array(bytes) == pattern(1000))
        #expect(data.count == 1003)
        #expect(data.allSatisfy { $0 == 0xEE })
    }

    @Test func arraysAcceptBytesOfAnyStorage() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000))
        let received = try await Agent().send(Request<Bytes>(server.url("/"))).bytes
        for bytes in [received, Bytes(pattern(100_000))] {
            var array: [UInt8] = Array(bytes)
            #expect(array == pattern(100_000))
            array.append(contentsOf: bytes)
            array.append(contentsOf: Bytes())
            #expect(array == pattern(100_000) + pattern(100_000))
        }
        #expect([UInt8](Bytes()).isEmpty)
    }

    @Test func bytesOutliveResponseAgentAndServer() async throws {
        // The agent, the response and the server are deallocated when the function above returns.
        let bytes = try await Self.received(200_000)
        let slice = bytes.dropFirst(100_000)
        #expect(Array(bytes) == pattern(200_000))
        #expect(slice.count == 100_000)
    }

    @Test func dataOutlivesTheBytes() async throws {
        let data = try await Self.received(200_000).data
        let copy = Array(data)
        #expect(copy == pattern(200_000))
    }

    @Test func bytesCanBeReadConcurrently() async throws {
        let bytes = try await Self.received(10_000)
        let expected = pattern(10_000)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { Array(bytes) == expected && Array(bytes.data) == expected }
            }
            for await isSame in group {
                #expect(isSame)
            }
        }
    }
}

extension Data {
    /// Changes every byte, in place if possible.
    fileprivate mutating func changeEveryByte(_ change: (inout UInt8) -> Void) {
        for index in indices {
            change(&self[index])
        }
    }
}

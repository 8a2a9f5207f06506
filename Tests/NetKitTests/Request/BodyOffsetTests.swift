import NetKit
import NetKitTesting
import Testing

/// Bodies that begin at an offset, as for a resumed upload.
@Suite(.timeLimit(.minutes(5)))
struct BodyOffsetTests {
    private static let length = 300_000
    private static let offsets = [0, 1, 65_536, 299_999, 300_000]

    /// The content in pieces of 10,000 bytes, from an offset on.
    private static func pieces(from offset: Int) -> Pieces<Bytes> {
        Pieces { index in
            let start = offset + index * 10_000
            return start < length ? Bytes(pattern(min(10_000, length - start), from: start)) : nil
        }
    }

    private static func reader(from offset: Int) -> Body.Reader {
        var position = offset
        return { span in
            let count = min(span.count, length - position, 10_000)
            let bytes = pattern(count, from: position)
            for index in 0..<count {
                span[index] = bytes[index]
            }
            position += count
            return count
        }
    }

    private func expectSuffix(of body: Body, from offset: Int, at server: LoopbackServer) async throws {
        let rest = try body.suffix(from: offset)
        let request = Request<Bytes>(server.url("/"), method: .put, body: rest)
        let response = try await Agent().send(request)
        #expect(Array(response.bytes) == pattern(Self.length - offset, from: offset))
        var read: [UInt8] = []
        try await rest.forEachPiece { read += Array($0) }
        #expect(read == pattern(Self.length - offset, from: offset))
    }

    @Test(arguments: offsets)
    func suffixOfABodyIsSent(offset: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/echo", status: 307))
        server.script("/echo", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(Self.length), to: "file")
        let bodies: [Body] = [
            Body(Bytes(pattern(Self.length))), .file(folder.file("file")),
            .stream(length: Self.length) { offset in Self.pieces(from: offset) },
            .stream(length: Self.length) { Self.pieces(from: 0) }, .stream { Self.pieces(from: 0) },
            .pull(length: Self.length) { offset in Self.reader(from: offset) },
            .pull(length: Self.length) { Self.reader(from: 0) },
        ]
        for body in bodies {
            try await expectSuffix(of: body, from: offset, at: server)
        }
        #expect(server.received().values(named: "Content-Length") == ["\(Self.length - offset)"])
    }

    @Test func producerThatCanBeginAtAnOffsetProducesNothingBeforeIt() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let (offsets, offset) = AsyncStream.makeStream(of: Int.self)
        let body = Body.stream(length: Self.length) { first in
            offset.yield(first)
            return Self.pieces(from: first)
        }
        let rest = try body.suffix(from: 100).suffix(from: 20)
        let response = try await Agent().send(Request<Bytes>(server.url("/"), method: .put, body: rest))
        #expect(Array(response.bytes) == pattern(Self.length - 120, from: 120))
        for await first in offsets {
            #expect(first == 120)
            break
        }
    }

    @Test func bodyThatIsReadOnceCanBeginAtAnOffset() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = try Body.once(length: Self.length, Self.pieces(from: 0)).suffix(from: 10_001)
        let response = try await Agent().send(Request<Bytes>(server.url("/"), method: .put, body: body))
        #expect(Array(response.bytes) == pattern(Self.length - 10_001, from: 10_001))
    }

    @Test func offsetBeyondTheEndFails() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(10), to: "file")
        for body in [Body(Bytes(pattern(10))), .stream(length: 10) { Pieces([pattern(10)]) }] {
            #expect(throws: NetError.self) { try body.suffix(from: 11) }
            #expect(throws: NetError.self) { try body.suffix(from: -1) }
        }
        #expect(throws: NetError.self) { try Body.multipart(MultipartBody()).suffix(from: 0) }
        let late: [(Body, NetError.Code)] = [
            (try Body.file(folder.file("file")).suffix(from: 11), .usage),
            (try Body.stream { Pieces([pattern(10)]) }.suffix(from: 11), .bodySource),
        ]
        for (body, code) in late {
            let error = await #expect(throws: NetError.self) {
                try await Agent().send(Request<Bytes>(server.url("/"), method: .put, body: body))
            }
            #expect(error?.code == code)
        }
        #expect(server.requestCount == 0)
    }

    @Test func curlCommandOfASuffixReadsTheFileFromThere() throws {
        let body = try Body.file("/data/a b").suffix(from: 40)
        let request = Request<Bytes>("http://a.example/", method: .put, body: body)
        #expect(request.curl.hasPrefix("tail -c +41 '/data/a b' | curl"))
    }

    @Test func gzippedSuffixHasOnlyTheSuffix() async throws {
        let folder = try TemporaryFolder()
        try folder.write(pattern(100), to: "file")
        let body = try Body.file(folder.file("file")).suffix(from: 40).gzipped()
        var packed: [UInt8] = []
        try await body.forEachPiece { packed += Array($0) }
        var direct: [UInt8] = []
        try await Body(Bytes(pattern(60, from: 40))).gzipped().forEachPiece { direct += Array($0) }
        #expect(packed == direct)
    }
}

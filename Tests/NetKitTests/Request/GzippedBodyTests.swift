import NetKit
import Testing

/// Bodies that are compressed while they are sent. The server echoes them with Content-Encoding: gzip.
@Suite(.timeLimit(.minutes(5)))
struct GzippedBodyTests {
    private static let length = 1_000_003

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        var reply = Reply.echo
        reply.headers = ["Content-Encoding: gzip"]
        server.script("/", reply)
        return server
    }

    private func expectPattern(of body: Body, _ length: Int, from server: LoopbackServer) async throws {
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let response = try await Agent().send(request)
        var check = PatternCheck()
        check.take(response.bytes)
        #expect(check.count == length && check.isPattern)
        #expect(server.received().values(named: "Content-Encoding") == ["gzip"])
    }

    @Test(arguments: [0, 1, 100_000])
    func bytesAreCompressedAndTheirLengthIsKnown(length: Int) async throws {
        let server = try server()
        let body = try Body(Bytes(pattern(length)), contentType: "text/plain").gzipped()
        try await expectPattern(of: body, length, from: server)
        let received = server.received()
        #expect(received.values(named: "Content-Length") == ["\(received.body.count)"])
        #expect(received.values(named: "Content-Type") == ["text/plain"])
        #expect(received.values(named: "Transfer-Encoding").isEmpty)
        #expect(received.body.count < length / 50 + 30)
    }

    @Test(arguments: [1, 6, 9])
    func sequenceIsCompressedIncrementally(level: Int) async throws {
        let server = try server()
        let pieces = Pieces { index in index < 10 ? Bytes(pattern(10_000, from: index * 10_000)) : nil }
        let body = try Body.stream(length: 100_000) { pieces }.gzipped(level: level)
        #expect(body.isRepeatable)
        try await expectPattern(of: body, 100_000, from: server)
        #expect(server.received().values(named: "Content-Length").isEmpty)
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
        let once = try Body.once(pieces).gzipped()
        #expect(!once.isRepeatable)
        server.forgetRequests()
        try await expectPattern(of: once, 100_000, from: server)
    }

    @Test func readerIsCompressedIncrementally() async throws {
        let server = try server()
        let body = try Body.pull {
            var sent = 0
            return { buffer in
                let count = min(buffer.count, 50_000 - sent)
                for (index, byte) in pattern(count, from: sent).enumerated() {
                    buffer[index] = byte
                }
                sent += count
                return count
            }
        }.gzipped()
        try await expectPattern(of: body, 50_000, from: server)
    }

    @Test func compressedFileIsResentAfterARedirect() async throws {
        let folder = try TemporaryFolder()
        try folder.write(pattern(Self.length), to: "body")
        let server = try server()
        server.script("/from", .redirect(to: "/", status: 307))
        let body = try Body.file(folder.file("body")).gzipped()
        let request = Request<Bytes>(server.url("/from"), method: .post, body: body)
        let response = try await Agent().send(request)
        var check = PatternCheck()
        check.take(response.bytes)
        #expect(check.count == Self.length && check.isPattern)
    }

    @Test func missingFileFailsTheRequest() async throws {
        let server = try server()
        let body = try Body.file("/nonexistent/body").gzipped()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let error = try #require(await failure { try await Agent().send(request) })
        #expect(error.code == .bodySource)
        #expect((error.underlying as? NetError)?.code == .file)
        #expect(error.message.contains("'/nonexistent/body' cannot be opened: No such file or directory"))
    }

    @Test func readerWithAnInvalidCountIsReportedOnce() async throws {
        let server = try server()
        let body = try Body.pull { { _ in -1 } }.gzipped()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let error = try #require(await failure { try await Agent().send(request) })
        #expect(error.code == .bodySource)
        #expect(error.message == "the reader of the body returned -1, not 0 to 16384 bytes")
    }

    @Test func errorThrownByAReaderReachesTheCaller() async throws {
        struct Broken: Error {}
        let server = try server()
        let body = try Body.pull { { _ in throw Broken() } }.gzipped()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let error = try #require(await failure { try await Agent().send(request) })
        #expect(error.underlying is Broken)
        #expect(error.message == "reading the request body failed: Broken()")
    }

    /// For the operating system, a path ends at the first NUL.
    @Test func pathWithANULIsRejected() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("not asked for".utf8), to: "body")
        let server = try server()
        let body = try Body.file(folder.file("body") + "\0.txt").gzipped()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let error = try #require(await failure { try await Agent().send(request) })
        #expect((error.underlying as? NetError)?.code == .usage)
    }

    @Test func sequenceOfAnotherLengthFailsTheRequest() async throws {
        let server = try server()
        let pieces = Pieces([pattern(10)])
        let body = try Body.stream(length: 11) { pieces }.gzipped()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let error = try #require(await failure { try await Agent().send(request) })
        #expect((error.underlying as? NetError)?.code == .bodyLength)
    }

    @Test func otherLevelsAreRefused() throws {
        for level in [0, 10, -1] {
            let error = try #require(throws: NetError.self) { try Body.text("a").gzipped(level: level) }
            #expect(error.code == .usage)
        }
    }

    @Test func alreadyEncodedBodyListsBothCodings() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        var packed = Body.text("a")
        packed.contentEncoding = "br"
        let codings = ["br, gzip", "br, gzip, gzip"]
        for (index, body) in [packed, try packed.gzipped()].enumerated() {
            let sent = try body.gzipped()
            _ = try await Agent().send(Request<Bytes>(server.url("/"), method: .post, body: sent))
            #expect(server.received(index).values(named: "Content-Encoding") == [codings[index]])
        }
    }

    @Test func requestContentEncodingTakesPrecedence() async throws {
        let server = try server()
        let body = try Body.text("a").gzipped()
        let headers: Headers = ["content-encoding": "x-gzip"]
        _ = try await Agent().send(Request<Bytes>(server.url("/"), method: .post, headers: headers, body: body))
        #expect(server.received().values(named: "Content-Encoding") == ["x-gzip"])
    }

    private func failure<Value>(_ work: () async throws -> Value) async -> NetError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? NetError
        }
    }
}

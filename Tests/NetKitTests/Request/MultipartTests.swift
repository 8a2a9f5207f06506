import FoundationEssentials
import Glibc
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Multipart forms, from the request to what a server receives.
@Suite(.timeLimit(.minutes(5)))
struct MultipartTests {
    private static let boundary = "Boundary+0123456789ABCDEF"

    private func bytes(of body: Body) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await body.forEachPiece { piece in bytes += piece }
        return bytes
    }

    private func frame(_ name: String, _ value: String, more: String = "") -> String {
        "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\(more)\r\n\r\n\(value)\r\n"
    }

    private var end: String { "--\(Self.boundary)--\r\n" }

    // MARK: Vectors

    private struct Vector: Decodable {
        struct Part: Decodable {
            var name: String?
            var name_base64: Data?
            var value: String?
            var value_base64: Data?
            var filename: String?
            var type: String?
            var headers: [[String]]?
        }

        var `case`: String
        var boundary: String
        var parts: [Part]
        var length: Int
        var body_base64: Data
    }

    private func append(_ part: Vector.Part, to form: inout MultipartBody) {
        let value = Bytes(part.value_base64.map { Array($0) } ?? Array((part.value ?? "").utf8))
        let name = part.name ?? ""
        if part.filename == nil && part.type == nil && part.headers == nil {
            form.append(value, name: name)
            return
        }
        let headers = Headers((part.headers ?? []).map { .init(name: $0[0], value: $0[1]) })
        form.append(Body(value, contentType: part.type), name: name, filename: part.filename, headers: headers)
    }

    @Test func bytesCanHaveAFileNameAndAType() async throws {
        var (short, long) = (MultipartBody(boundary: Self.boundary), MultipartBody(boundary: Self.boundary))
        let content: [UInt8] = [1, 2, 3]
        short.append(content, name: "a", filename: "a.png", contentType: "image/webp")
        short.append(content, name: "b", filename: "b.png")
        short.append(content, name: "c", contentType: "text/x")
        short.append(content, name: "d")
        short.append(.data(content, contentType: "text/x"), name: "e", filename: "e.bin", contentType: "text/y")
        long.append(.data(content, contentType: "image/webp"), name: "a", filename: "a.png")
        long.append(.data(content), name: "b", filename: "b.png")
        long.append(.data(content, contentType: "text/x"), name: "c")
        long.append(Bytes(content), name: "d")
        long.append(.data(content, contentType: "text/y"), name: "e", filename: "e.bin")
        #expect(try await bytes(of: .multipart(short)) == bytes(of: .multipart(long)))
        let text = String(decoding: try await bytes(of: .multipart(short)), as: UTF8.self)
        #expect(
            text.contains("filename=\"a.png\"\r\nContent-Type: image/webp") && text.contains("Content-Type: text/x"))
    }

    @Test(arguments: ["multipart.json", "multipart_own.json"])
    func theVectorsAreWrittenByteForByte(file: String) async throws {
        // Rows whose names are not UTF-8 run only in the C tests, because no Swift string can hold such a name.
        let rows = try vectors(file, of: Vector.self).filter { row in row.parts.allSatisfy { $0.name_base64 == nil } }
        #expect(rows.count >= 3)
        for row in rows {
            var form = MultipartBody(boundary: row.boundary)
            row.parts.forEach { append($0, to: &form) }
            let written = try await bytes(of: .multipart(form))
            #expect(written == Array(row.body_base64), "\(row.case)")
            #expect(written.count == row.length, "\(row.case)")
        }
    }

    // MARK: On the wire

    @Test func fieldsFilesAndSequencesArriveInOrder() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(100_000), to: "a.txt")
        var form = MultipartBody(boundary: Self.boundary)
        form.append("Lisbon", name: "city")
        form.append(["a": [1, true], "b": nil], encoding: QueryEncoding(booleans: .words))
        form.append(.file(folder.file("a.txt")), name: "file")
        form.append(.stream(length: 6) { Pieces([Array("str".utf8), Array("eam".utf8)]) }, name: "s")
        form.append(.once(length: 4, Pieces([Array("once".utf8)])), name: "o", filename: "o.bin")
        form.append(headers: ["X-Bare": "1"], bytes: Bytes(Array("bare".utf8)))
        let expected =
            frame("city", "Lisbon") + frame("a[]", "1") + frame("a[]", "true") + frame("b", "")
            + frame(
                "file", String(decoding: pattern(100_000), as: UTF8.self),
                more: "; filename=\"a.txt\"\r\nContent-Type: text/plain")
            + frame("s", "stream")
            + frame("o", "once", more: "; filename=\"o.bin\"\r\nContent-Type: application/octet-stream")
            + "--\(Self.boundary)\r\nX-Bare: 1\r\n\r\nbare\r\n" + end
        let request = Request<Bytes>(
            server.url("/"), method: .post, headers: ["Content-Type": "text/wrong"], body: try .multipart(form))
        let response = try await Agent().send(request)
        #expect(Array(response.bytes) == Array(expected.utf8))
        let received = server.received()
        #expect(received.values(named: "Content-Length") == ["\(expected.utf8.count)"])
        #expect(received.values(named: "Content-Type") == ["multipart/form-data; boundary=\(Self.boundary)"])
    }

    @Test func partHasAContentTransferEncoding() async throws {
        var form = MultipartBody(boundary: Self.boundary)
        var coded = Body(Bytes(Array("coded".utf8)))
        coded.contentEncoding = "gzip"
        form.append(coded, name: "a")
        form.append(coded, name: "b", headers: ["content-encoding": "x-gzip", "X-More": "1"])
        let written = try await bytes(of: .multipart(form))
        let expected =
            frame("a", "coded", more: "\r\nContent-Encoding: gzip")
            + frame("b", "coded", more: "\r\ncontent-encoding: x-gzip\r\nX-More: 1") + end
        #expect(written == Array(expected.utf8))
    }

    @Test func requestParametersAreTheFirstParts() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        var form = MultipartBody(boundary: Self.boundary)
        form.append("1", name: "z")
        var request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        request.parameters = ["a": ["b": "c d"]]
        let response = try await Agent().send(request)
        #expect(Array(response.bytes) == Array((frame("a[b]", "c d") + frame("z", "1") + end).utf8))
    }

    @Test func aFormWithoutALengthIsChunked() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        var form = MultipartBody(boundary: Self.boundary)
        form.append(.stream { Pieces([Array("ab".utf8)]) }, name: "a")
        form.append(.stream { Pieces([Array("cd".utf8)]) }, name: "b")
        let request = Request<Bytes>(server.url("/"), method: .put, body: try .multipart(form))
        let response = try await Agent().send(request)
        #expect(Array(response.bytes) == Array((frame("a", "ab") + frame("b", "cd") + end).utf8))
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
        #expect(try await bytes(of: .multipart(form)) == Array(response.bytes))
    }

    @Test func aFormWithoutPartsIsAnEmptyURLEncodedBody() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = try Body.multipart(MultipartBody())
        #expect(body.contentType == "application/x-www-form-urlencoded")
        let response = try await Agent().send(Request<Bytes>(server.url("/"), method: .post, body: body))
        #expect(response.bytes.isEmpty)
        #expect(server.received().values(named: "Content-Length") == ["0"])
    }

    @Test func eachFormHasItsOwnBoundary() throws {
        var form = MultipartBody()
        form.append("1", name: "a")
        let types = try (0..<2).map { _ in try Body.multipart(form).contentType }
        #expect(types[0]?.hasPrefix("multipart/form-data; boundary=Boundary+") == true)
        #expect(types[0] != types[1])
    }

    @Test func aRedirectSendsTheFormAgain() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/echo", status: 307))
        server.script("/echo", .echo)
        var form = MultipartBody(boundary: Self.boundary)
        form.append("1", name: "a")
        form.append(.stream(length: 4) { Pieces([Array("pump".utf8)]) }, name: "p")
        var request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        for _ in 0..<2 {
            let response = try await Agent().send(request)
            #expect(Array(response.bytes) == Array((frame("a", "1") + frame("p", "pump") + end).utf8))
        }
        form.append(.once(length: 4, Pieces([Array("once".utf8)])), name: "o")
        request.body = try .multipart(form)
        #expect(request.body?.isRepeatable == false)
        #expect(await ending(of: request, from: Agent()) == .failed(.notRewindable))
    }

    @Test func aThrottledFormArrivesWhole() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        var form = MultipartBody(boundary: Self.boundary)
        form.throttle = (packetBytes: 1000, delay: .milliseconds(1))
        form.append(Bytes(pattern(20_000)), name: "a")
        let request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        let response = try await Agent().send(request)
        #expect(
            Array(response.bytes) == Array((frame("a", String(decoding: pattern(20_000), as: UTF8.self)) + end).utf8))
        #expect(MultipartBody.throttleFor3G == (packetBytes: 16384, delay: .milliseconds(200)))
    }

    @Test func progressReportsTheCurrentPart() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let reported = Collected<TransferProgress>()
        var form = MultipartBody()
        form.append("1", name: "a")
        form.append(.stream(length: 1_000_000) { Pieces([pattern(1_000_000)]) }, name: "b")
        var request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        request.progress = { reported.append($0) }
        _ = try await Agent().send(request)
        let parts = reported.values.compactMap(\.part)
        #expect(parts.allSatisfy { $0.count == 2 && $0.index < 2 })
        #expect(parts.last?.index == 1)
        #expect(parts.last?.sent == 1_000_000)
        #expect(parts.last?.total == 1_000_000)
    }

    // MARK: Failures

    @Test func invalidPartIsReportedImmediately() throws {
        let folder = try TemporaryFolder()
        func code(_ fill: (inout MultipartBody) -> Void) -> NetError.Code? {
            var form = MultipartBody()
            fill(&form)
            do throws(NetError) {
                _ = try Body.multipart(form)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code { $0.append(Body([], contentType: "a/b\r\nX: y"), name: "a") } == .badPart)
        #expect(code { $0.append(Body([]), name: "a", headers: ["A": "b\nc"]) } == .badPart)
        #expect(code { $0.append(Body([]), name: "a", headers: ["Content-Type": "a/b"]) } == .badPart)
        #expect(code { $0.append(.file(folder.file("gone")), name: "a") } == .file)
        #expect(code { $0.append(.file(""), name: "a") } == .badPart)
        #expect(code { $0.append(["a": .double(.nan)]) } == .badParameter)
        #expect(code { $0.boundary = "a\"b" } == .usage)
        #expect(code { $0.append((try? Body.multipart(MultipartBody())) ?? Body([]), name: "a") } == .badPart)
        #expect(code { $0.append("\r\n\"", name: "\r\n\"") } == nil)
    }

    @Test(arguments: [Method.get, .head])
    func getAndHeadCarryNoForm(method: Method) async throws {
        let request = Request<Bytes>("http://127.0.0.1:1/", method: method, body: try .multipart(MultipartBody()))
        #expect(await ending(of: request, from: Agent()) == .failed(.usage))
    }

    @Test(arguments: [(3, 4), (5, 4)])
    func aSequenceOfAnotherLengthThanAnnouncedFails(announced: Int, given: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        var form = MultipartBody()
        form.append(.stream(length: announced) { Pieces([pattern(given)]) }, name: "a")
        let request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        #expect(await ending(of: request, from: Agent()) == .failed(.bodyLength))
        #expect(server.requestCount == 0)
    }

    @Test func errorThrownByASequencePropagates() async throws {
        struct Cause: Error {}
        let server = try LoopbackServer()
        server.script("/", .echo)
        var form = MultipartBody()
        form.append(.stream { Pieces<[UInt8]> { _ in throw Cause() } }, name: "a")
        let request = Request<Bytes>(server.url("/"), method: .post, body: try .multipart(form))
        let error = await #expect(throws: NetError.self) { try await Agent().send(request) }
        #expect(error?.code == .bodySource)
        #expect(error?.underlying is Cause)
    }

    // MARK: To a file, and by other transports

    @Test func aFormIsWrittenToAFileWhole() async throws {
        let folder = try TemporaryFolder()
        var form = MultipartBody(boundary: Self.boundary)
        form.append("1", name: "a")
        form.append(.stream { Pieces([Array("pump".utf8)]) }, name: "p")
        let type = try await form.write(toFile: folder.file("form"))
        #expect(type == "multipart/form-data; boundary=\(Self.boundary)")
        #expect(folder.contents(of: "form") == Array((frame("a", "1") + frame("p", "pump") + end).utf8))
        #expect(folder.names == ["form"])
    }

    @Test func aFormThatCannotBeWrittenLeavesNothingBehind() async throws {
        struct Cause: Error {}
        let folder = try TemporaryFolder()
        var form = MultipartBody()
        form.append("1", name: "a")
        await #expect(throws: NetError.self) { try await form.write(toFile: folder.file("no/folder")) }
        await #expect(throws: NetError.self) { try await form.write(toFile: "") }
        form.append(.stream { Pieces<[UInt8]> { _ in throw Cause() } }, name: "p")
        await #expect(throws: NetError.self) { try await form.write(toFile: folder.file("form")) }
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: ["x", "ü", "👩‍👩‍👧‍👦"])
    func formFileNameCanBeAsLongAsAny(letter: String) async throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: letter, count: 255 / letter.utf8.count)
        var form = MultipartBody()
        form.append("1", name: "a")
        try await form.write(toFile: folder.file(name))
        #expect(folder.names == [name])
    }

    @Test func formDoesNotReplaceAPipe() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        var form = MultipartBody()
        form.append("1", name: "a")
        let error = await #expect(throws: NetError.self) { try await form.write(toFile: pipe) }
        #expect(error?.code == .file)
        #expect(error?.nativeCode == Int(ESPIPE))
        #expect(folder.names == ["pipe"])
    }

    @Test func anotherTransportGetsTheSameBytes() async throws {
        let stub = StubTransport()
        stub.register("/", with: .status(200))
        var form = MultipartBody(boundary: Self.boundary)
        form.append("1", name: "a")
        form.append(.stream { Pieces([Array("pump".utf8)]) }, name: "p")
        let request = Request<Bytes>("http://stub.test/", method: .post, body: try .multipart(form))
        _ = try await Agent(transport: stub).send(request)
        #expect(stub.requests.first?.body == Bytes(Array((frame("a", "1") + frame("p", "pump") + end).utf8)))
    }
}

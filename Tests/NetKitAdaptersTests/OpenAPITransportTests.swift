#if OpenAPITransport
import FoundationEssentials
import HTTPTypes
import NetKit
import NetKitAdapters
import NetKitTesting
import OpenAPIRuntime
import Testing

/// `AgentTransport` with a real server and the real runtime of Swift OpenAPI Generator.
@Suite(.timeLimit(.minutes(5)))
struct OpenAPITransportTests {
    private let server: MockServer
    private let agent = Agent()

    init() throws {
        server = try MockServer()
    }

    private func send(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", fields: HTTPFields = [:], body: HTTPBody? = nil
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
        let base = try #require(URL(string: server.url))
        return try await AgentTransport(agent).send(request, body: body, baseURL: base, operationID: "o")
    }

    private func length(_ reply: StubReply) async throws -> HTTPBody.Length {
        try server.register("/", with: reply)
        let body = try #require(try await send().1)
        let length = body.length
        let count = try await [UInt8](collecting: body, upTo: 1 << 20).count
        if case .known(let known) = length {
            #expect(known == count)
        }
        return length
    }

    @Test func contentLengthIsTheBodysLength() async throws {
        #expect(try await length(.text("hello")) == .known(5))
        #expect(try await length(.status(200)) == .known(0))
        #expect(try await length(.text("no", status: 404)) == .known(2))
    }

    @Test func bodyLengthIsUnknownWithoutContentLength() async throws {
        var delimited = StubReply.text("hello")
        delimited.isCloseDelimited = true
        #expect(try await length(delimited) == .unknown)
        var chunked = StubReply.text("hello")
        chunked.trailers = ["X-End": "1"]
        #expect(try await length(chunked) == .unknown)
    }

    @Test func theLengthOfADecodedBodyIsUnknown() async throws {
        let text = String(repeating: "hello ", count: 1000)
        let packed = try Body.text(text).gzipped().bytes
        var coded = StubReply.bytes(packed, contentType: "text/plain")
        coded.headers["Content-Encoding"] = "gzip"
        try server.register("/", with: coded)
        let body = try #require(try await send().1)
        #expect(body.length == .unknown)
        #expect(try await String(collecting: body, upTo: 1 << 20) == text)
    }

    @Test(arguments: [204, 304])
    func statusesWithoutABodyReturnNoBody(status: Int) async throws {
        try server.register("/", with: StubReply(status: status, headers: ["X-A": "1"]))
        let (head, body) = try await send()
        #expect(head.status.code == status && body == nil)
        #expect(head.headerFields[try #require(HTTPField.Name("X-A"))] == "1")
    }

    @Test func aHeadRequestHasNoBodyAndItsConnectionIsReused() async throws {
        try server.register("/", with: .text("hello"))
        for _ in 0..<3 {
            let (head, body) = try await send(.head)
            #expect(head.status == .ok && body == nil)
            #expect(head.headerFields[.contentLength] == "5")
        }
        #expect(server.connectionCount == 1)
    }

    @Test func nonUTF8BytesSurviveInBothDirections() async throws {
        let name = try #require(HTTPField.Name("X-Name"))
        let bytes: [UInt8] = [0x4B, 0xF6, 0x6C, 0x6E]
        try server.register("/", with: StubReply(headers: Headers([.init(name: "X-Name", bytes: Bytes(bytes))])))
        let (head, _) = try await send(fields: HTTPFields([HTTPField(name: name, value: bytes)]))
        #expect(Array(try #require(server.requests.first?.headers.bytes("X-Name"))) == bytes)
        #expect(Array(try #require(Headers(head.headerFields).bytes("X-Name"))) == bytes)
    }

    @Test(arguments: [IterationBehavior.single, .multiple])
    func aRequestsBodyIsSent(behavior: IterationBehavior) async throws {
        try server.register("/", with: .text("ok"))
        let body = HTTPBody([UInt8]("hello".utf8), length: .known(5), iterationBehavior: behavior)
        let (_, answer) = try await send(.post, body: body)
        #expect(try await String(collecting: try #require(answer), upTo: 10) == "ok")
        let received = try #require(server.requests.first)
        #expect(received.method == "POST" && Array(received.body) == Array("hello".utf8))
        #expect(received.headers["Content-Length"] == "5")
    }

    @Test func httpTypesHeadConvertsToRequestAndResponse() async throws {
        try server.register("/a", with: .text("ok", status: 202))
        let authority = "127.0.0.1:\(server.port)"
        let httpRequest = HTTPRequest(
            method: .put, scheme: "http", authority: authority, path: "/a?b=1", headerFields: [.accept: "text/plain"])
        let head = HTTPResponse(try await agent.send(Request(httpRequest, body: .text("x"))))
        #expect(head.status == .accepted && head.headerFields[.contentLength] == "2")
        let received = try #require(server.requests.first)
        #expect(received.target == "/a?b=1" && received.headers["Accept"] == "text/plain")
    }
}
#endif

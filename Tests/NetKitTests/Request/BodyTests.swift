import FoundationEssentials
import NetKit
import Testing

struct BodyTests {
    private struct Login: Codable {
        var name: String
    }

    @Test func textIsSentInUTF8() async throws {
        let received = try await receivedOf(.text("héllo\r\n世界"))
        #expect(received.body == Array("héllo\r\n世界".utf8))
        #expect(received.values(named: "Content-Type") == ["text/plain; charset=utf-8"])
        #expect(received.values(named: "Content-Length") == ["\("héllo\r\n世界".utf8.count)"])
        #expect(received.values(named: "Transfer-Encoding").isEmpty)
    }

    @Test func jsonIsSentAsTheEncoderWritesIt() async throws {
        let received = try await receivedOf(.json(Login(name: "é\"")))
        #expect(received.body == Array(#"{"name":"é\""}"#.utf8))
        #expect(received.values(named: "Content-Type") == ["application/json"])
    }

    @Test func everyByteValueArrives() async throws {
        let received = try await receivedOf(Body(Bytes(Array(0...255))))
        #expect(received.body == Array(0...255))
    }

    @Test func aBodyWithoutATypeSendsNone() async throws {
        let received = try await receivedOf(Body([1, 2]))
        #expect(received.values(named: "Content-Type").isEmpty)
    }

    @Test(arguments: ["Content-Type", "content-type"])
    func requestContentTypeOverridesTheBodys(name: String) async throws {
        let received = try await receivedOf(.text("a"), headers: Headers([.init(name: name, value: "text/csv")]))
        #expect(received.values(named: "Content-Type") == ["text/csv"])
    }

    @Test func agentContentTypeOverridesTheBodys() async throws {
        let received = try await receivedOf(.text("a"), agent: Agent(.init(headers: ["Content-Type": "text/csv"])))
        #expect(received.values(named: "Content-Type") == ["text/csv"])
    }

    @Test func anEmptyBodyAnnouncesItsLength() async throws {
        let received = try await receivedOf(Body([]))
        #expect(received.body.isEmpty)
        #expect(received.values(named: "Content-Length") == ["0"])
    }

    @Test func aLargeBodyArrivesWhole() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let bytes = Bytes(Array(repeatElement(Array(0...250) as [UInt8], count: 10_000).joined()))
        let response = try await Agent().send(Request<Bytes>(server.url("/"), method: .post, body: Body(bytes)))
        #expect(response.bytes == bytes)
    }

    @Test func responseBodyIsForwardedWithoutACopy() async throws {
        let server = try LoopbackServer()
        server.script("/from", Reply(patternLength: 100_000))
        server.script("/to", .echo)
        let agent = Agent()
        let bytes = try await agent.send(Request<Bytes>(server.url("/from"))).bytes
        let echoed = try await agent.send(Request<Bytes>(server.url("/to"), method: .put, body: Body(bytes))).bytes
        #expect(echoed == bytes)
        #expect(echoed.count == 100_000)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func valueThatJSONCannotRepresentIsUnencodable(number: Double) throws {
        let error = try #require(throws: NetError.self) { try Body.json([number]) }
        #expect(error.code == .encoding)
        #expect(error.underlying is EncodingError)
        let named = try #require(throws: NetError.self) { try Body.json(["number": number]) }
        #expect(named.code == .encoding && named.message.contains("'number'"))
        #expect(!error.isRetryable)
        #expect(!error.description.contains("\n"))
    }

    private func receivedOf(
        _ body: Body, headers: Headers = [:], agent: Agent = Agent()
    ) async throws -> ReceivedRequest {
        let server = try LoopbackServer()
        server.script("/", Reply())
        _ = try await agent.send(Request<Void>(server.url("/"), method: .post, headers: headers, body: body))
        return server.received()
    }
}

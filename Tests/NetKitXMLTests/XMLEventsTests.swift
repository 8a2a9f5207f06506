#if XML
import NetKit
import NetKitTesting
import NetKitXML
import Testing

struct XMLEventsTests {
    private let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func answer(_ steps: [StubReply.Step], type: String = "text/xml", status: Int = 200) {
        stub.register("*", with: StubReply(status: status, headers: ["Content-Type": type], body: steps))
    }

    private func failure(_ body: () async throws -> some Any) async throws -> NetError {
        try #require(await #expect(throws: NetError.self) { _ = try await body() })
    }

    @Test func eventsComeBeforeTheBodyHasEnded() async throws {
        let gate = StubGate()
        answer([.text("<a><b>one</b>"), .wait(gate), .text("</a>")])
        var received: [XMLEvent] = []
        for try await event in try await agent.xmlEvents(Request<[XMLEvent]>("/")) {
            received.append(event)
            if event == .end(XMLName("b")) {
                // The server sends the rest only after this.
                gate.open()
            }
        }
        #expect(
            received == [
                .start(XMLName("a"), attributes: [], namespaces: []),
                .start(XMLName("b"), attributes: [], namespaces: []),
                .text("one"), .end(XMLName("b")), .end(XMLName("a")),
            ])
    }

    @Test func chunkBoundariesDoNotChangeTheResult() async throws {
        let text = "<a x='é'>t&amp;<![CDATA[u]]><!--c--><?go on?></a>"
        let whole = try XMLParser().feed(Bytes(Array(text.utf8)))
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            answer([.bytes(Bytes(Array(bytes[..<cut]))), .bytes(Bytes(Array(bytes[cut...])))])
            var received: [XMLEvent] = []
            for try await event in try await agent.xmlEvents(Request<[XMLEvent]>("/")) {
                received.append(event)
            }
            #expect(received == whole)
        }
    }

    @Test func syntaxErrorFollowsTheEventsBeforeIt() async throws {
        answer([.text("<a><b/>"), .text("<c></d>")])
        var received: [XMLEvent] = []
        let error = try await failure {
            for try await event in try await agent.xmlEvents(Request<[XMLEvent]>("/")) {
                received.append(event)
            }
        }
        #expect(error.code == .badXML)
        #expect(received.map(\.self).last == .start(XMLName("c"), attributes: [], namespaces: []))
    }

    @Test func lostConnectionIsNotAnEndOfDocument() async throws {
        answer([.text("<a>"), .fail(NetError(.reset, "lost"))])
        let events = try await agent.xmlEvents(Request<[XMLEvent]>("/"))
        let error = try await failure { for try await _ in events {} }
        #expect(error.code == .reset)
    }

    @Test func truncatedDocumentIsAnError() async throws {
        answer([.text("<a><b></b>")])
        let events = try await agent.xmlEvents(Request<[XMLEvent]>("/"))
        let error = try await failure { for try await _ in events {} }
        #expect(error.code == .badXML)
    }

    @Test func statusAndTypeAreCheckedBeforeTheBody() async throws {
        answer([.text("<a/>")], status: 404)
        let status = try await failure { try await agent.xmlEvents(Request<[XMLEvent]>("/")) }
        #expect(status.code == .status && status.response?.status == 404)
        answer([.text("<a/>")], type: "text/html")
        let type = try await failure { try await agent.xmlEvents(Request<[XMLEvent]>("/")) }
        #expect(type.code == .contentType)
        var request = Request<[XMLEvent]>("/")
        request.acceptedTypes = ["text/html"]
        var count = 0
        for try await _ in try await agent.xmlEvents(request) {
            count += 1
        }
        #expect(count == 2)
    }

    @Test func aParserThatFailedStaysFailed() throws {
        let parser = try XMLParser()
        _ = try parser.feed(Bytes(Array("<a><b/>".utf8)))
        #expect(throws: NetError.self) { try parser.feed(Bytes(Array("</x>".utf8))) }
        #expect(throws: NetError.self) { try parser.feed(Bytes(Array("</a>".utf8))) }
        #expect(throws: NetError.self) { try parser.finish() }
        #expect(throws: NetError.self) { try XMLParser(charset: "no-such") }
    }
}
#endif

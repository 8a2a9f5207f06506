#if XML
import NetKit
import NetKitTesting
import NetKitXML
import Testing

struct XMLDecodingTests {
    private static let feed = """
        <?xml version="1.0" encoding="utf-8"?>
        <feed xmlns="u:atom" xmlns:x="u:x"><title x:lang="de">Städte &amp; mehr</title>
        <entry id="1"><title>Köln</title></entry><entry id="2"><title><![CDATA[<Bonn>]]></title></entry>
        <!-- end --></feed>
        """

    private func agent(_ reply: StubReply) -> Agent {
        let stub = StubTransport()
        stub.register("*", with: reply)
        return Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    private func reply(_ text: String, _ type: String = "application/xml", status: Int = 200) -> StubReply {
        .text(text, contentType: type, status: status)
    }

    private func failure(_ body: () async throws -> some Any) async throws -> NetError {
        try #require(await #expect(throws: NetError.self) { _ = try await body() })
    }

    @Test(arguments: ["application/xml", "text/xml; charset=utf-8", "Application/Atom+XML", "image/svg+xml"])
    func xmlContentTypesAreAccepted(type: String) async throws {
        let document = try await agent(reply(Self.feed, type)).send(Request<XMLDocument>("/")).value
        #expect(document.root.name == XMLName("feed", namespace: "u:atom"))
        #expect(document.root.namespaces.map(\.prefix) == [nil, "x"])
        #expect(document.root.element(named: "title")?.text == "Städte & mehr")
        #expect(document.root.element(named: "title")?.attribute("lang", namespace: "u:x") == "de")
        let entries = document.root.elements(named: "entry", namespace: "u:atom")
        #expect(entries.compactMap { $0.attribute("id") } == ["1", "2"])
        #expect(entries.map(\.text) == ["Köln", "<Bonn>"])
        #expect(document.root.elements(named: "entry", namespace: "u:other").isEmpty)
        #expect(document.root.children.contains(.comment(" end ")))
        let events = try await agent(reply(Self.feed, type)).send(Request<[XMLEvent]>("/")).value
        #expect(events.count { if case .start = $0 { true } else { false } } == 6)
        #expect(events.last == .end(XMLName("feed", namespace: "u:atom")))
    }

    @Test func escapedQueryInAnAttributeIsUnescaped() async throws {
        let text = "<links><a href=\"/cities?n=10&amp;q=K&#xF6;ln\"/></links>"
        let document = try await agent(reply(text)).send(Request<XMLDocument>("/")).value
        #expect(document.root.element(named: "a")?.attribute("href") == "/cities?n=10&q=Köln")
    }

    @Test func requestWithABodyReturnsXML() async throws {
        let stub = StubTransport()
        stub.register("*", method: .post, with: reply("<answer/>"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let question = Body.text("<question/>", contentType: "application/xml")
        let document = try await agent.send(Request<XMLDocument>("/", method: .post, body: question)).value
        #expect(document.root.name == XMLName("answer"))
        #expect(try await agent.send(Request<[XMLEvent]>("/", method: .post, body: question)).value.count == 2)
        #expect(stub.requests.map(\.body) == [question.bytes, question.bytes])
    }

    @Test(arguments: ["application/json", "text/html", "application/xmlx", "text/plain"])
    func unacceptedTypeIsAnErrorEvenForAnEmptyBody(type: String) async throws {
        for text in [Self.feed, ""] {
            let error = try await failure { try await agent(reply(text, type)).send(Request<XMLDocument>("/")) }
            #expect(error.code == .contentType)
            #expect(error.response?.bytes.count == text.utf8.count)
        }
    }

    @Test func statusIsCheckedBeforeTheTypeAndTheErrorHasTheBody() async throws {
        let error = try await failure {
            try await agent(reply("<e/>", "text/html", status: 500)).send(Request<XMLDocument>("/"))
        }
        #expect(error.code == .status)
        #expect(error.response?.bytes == Bytes(Array("<e/>".utf8)))
    }

    @Test func syntaxErrorContainsLineAndColumn() async throws {
        let text = "<a>\n <b>\n  </c>\n</a>"
        let error = try await failure { try await agent(reply(text)).send(Request<XMLDocument>("/")) }
        #expect(error.code == .badXML)
        let fault = try #require(error.underlying as? XMLFault)
        #expect(fault.line == 3 && (3...7).contains(fault.column))
        #expect(error.message.hasPrefix("line 3, column \(fault.column): "))
        #expect(error.response?.bytes == Bytes(Array(text.utf8)))
        #expect(!error.isRetryable)
    }

    @Test(arguments: ["", " ", "no xml", "<a>", "{}", "<a/><b/>", "<a>\u{1}</a>", "<a>&nbsp;</a>"])
    func malformedXMLNeverSucceeds(text: String) async throws {
        for _ in 0..<2 {
            let error = try await failure { try await agent(reply(text)).send(Request<XMLDocument>("/")) }
            #expect(error.code == .badXML)
            let other = try await failure { try await agent(reply(text)).send(Request<[XMLEvent]>("/")) }
            #expect(other.code == .badXML)
        }
    }

    @Test func externalEntitiesAreNotLoadedAndEntitiesAreNotExpanded() async throws {
        let text = "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>"
        let error = try await failure { try await agent(reply(text)).send(Request<XMLDocument>("/")) }
        #expect(error.code == .badXML)
        #expect(error.message.hasSuffix("entity \"e\" is not expanded"))
        let unused = "<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd' [<!ENTITY e 'x'>]><a>t</a>"
        let document = try XMLDocument(Bytes(Array(unused.utf8)))
        #expect(document.root.text == "t")
        #expect(document.documentType?.systemID == "http://127.0.0.1:1/a.dtd")
        #expect(document.documentType?.publicID == nil)
    }

    @Test func contentTypeCharsetTakesPrecedence() async throws {
        var reply = StubReply(headers: ["Content-Type": "text/xml; charset=\"ISO-8859-1\""])
        reply.body = [
            .bytes(Bytes(Array("<?xml version='1.0' encoding='utf-8'?><a>".utf8) + [0xE9] + Array("</a>".utf8)))
        ]
        #expect(try await agent(reply).send(Request<XMLDocument>("/")).value.root.text == "é")
        let error = try await failure {
            try await agent(self.reply("<a/>", "text/xml; charset=no-such")).send(Request<XMLDocument>("/"))
        }
        #expect(error.code == .badCharset)
    }

    @Test func xmlRulesAreEnforced() throws {
        func code(_ text: String, _ change: (inout XMLRules) -> Void) throws -> NetError.Code? {
            var rules = XMLRules()
            change(&rules)
            do throws(NetError) {
                _ = try XMLDocument(Bytes(Array(text.utf8)), rules: rules)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code("<a><b/></a>") { $0.maxDepth = 2 } == nil)
        #expect(try code("<a><b/></a>") { $0.maxDepth = 1 } == .tooLarge)
        #expect(try code("<a><b/></a>") { $0.maxBytes = 10 } == .tooLarge)
        #expect(try code("<a><b x='1'/>t</a>") { $0.maxNodes = 4 } == nil)
        #expect(try code("<a><b x='1'/>t</a>") { $0.maxNodes = 3 } == .tooLarge)
        #expect(try code("<a/>") { $0.maxDepth = 257 } == .usage)
        #expect(try code("<a/>") { $0.maxBytes = 0 } == .usage)
    }

    @Test func longTextIsOneNode() throws {
        let text = String(repeating: "0123456789é", count: 20_000)
        let document = try XMLDocument(Bytes(Array("<a>\(text)<b/>\(text)</a>".utf8)))
        #expect(document.root.children.count == 3)
        #expect(document.root.children.first == .text(text))
    }
}
#endif

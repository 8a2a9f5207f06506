import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

struct JSONDecodingTests {
    private struct City: Codable, Sendable, Equatable {
        var id: Int
        var name: String?
    }

    private struct Problem: Decodable, Sendable, Equatable {
        var title: String
    }

    private func agent(_ reply: StubReply) -> Agent {
        let stub = StubTransport()
        stub.register("*", with: reply)
        return Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    private func reply(_ text: String, _ type: String, status: Int = 200) -> StubReply {
        .text(text, contentType: type, status: status)
    }

    @Test(arguments: [
        "application/json", "Application/JSON ; charset=UTF-8", "text/json", "text/javascript",
        "application/problem+json",
        "application/vnd.api+json;profile=\"x\"", "application/json; charset=\"utf-8\"", "text/json;charset=us-ascii",
    ])
    func jsonContentTypesAreAccepted(type: String) async throws {
        #expect(try await agent(reply("[1]", type)).send(Request<[Int]>("/")).value == [1])
        #expect(try await agent(reply("[1]", type)).send(Request<JSONValue>("/")).value == [1])
    }

    @Test func treeRequestSendsParameters() async throws {
        let stub = StubTransport()
        stub.register("*", with: .json("[1]"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        #expect(try await agent.send(Request<JSONValue>("/a", parameters: ["n": 1])).value == [1])
        #expect(try await agent.send(Request<JSONValue?>("/b", method: .post, parameters: ["n": 1])).value == [1])
        #expect(stub.requests.map { $0.query ?? "" } == ["n=1", ""])
        #expect(stub.requests.last?.body == Bytes(Array("n=1".utf8)))
    }

    @Test(arguments: ["text/html", "application/jsonp", "text/plain; charset=utf-8", "application/xml+json2", "json"])
    func unacceptedTypeIsReportedWithTheBody(type: String) async throws {
        let error = try await failure { try await agent(reply("[1]", type)).send(Request<[Int]>("/")) }
        #expect(error.code == .contentType)
        #expect(error.message.contains(type))
        #expect(error.response?.bytes == Bytes(Array("[1]".utf8)))
        #expect(!error.isRetryable)
    }

    @Test func unacceptedTypeIsAnErrorEvenForAnEmptyBody() async throws {
        let error = try await failure { try await agent(reply("", "text/html")).send(Request<[Int]?>("/")) }
        #expect(error.code == .contentType)
    }

    @Test func acceptedTypesAreSetByTheRequest() async throws {
        var request = Request<[Int]>("/")
        request.acceptedTypes = ["text/*", "application/x-json"]
        #expect(try await agent(reply("[1]", "text/html")).send(request).value == [1])
        #expect(try await agent(reply("[1]", "application/X-JSON")).send(request).value == [1])
        let error = try await failure { try await agent(.json("[1]")).send(request) }
        #expect(error.code == .contentType)
        request.acceptedTypes = ["*/*"]
        #expect(try await agent(reply("[1]", "anything/else")).send(request).value == [1])
        var text = Request<String>("/")
        text.acceptedTypes = ["text/plain"]
        #expect(try await failure { try await agent(.json("[1]")).send(text) }.code == .contentType)
    }

    @Test(arguments: ["application/json; charset=utf-8", " Application/JSON ", "application/*; q=1", "*/*;q=0.1"])
    func parametersOfAcceptedTypesAreIgnored(accepted: String) async throws {
        var request = Request<[Int]>("/")
        request.acceptedTypes = ["text/html", accepted]
        for type in ["application/json", "application/json;charset=UTF-8"] {
            #expect(try await agent(reply("[1]", type)).send(request).value == [1])
        }
    }

    @Test func loneSurrogatesAreReadIfAllowed() throws {
        var choices = JSONCoding()
        func cities(_ text: String) throws -> [City] {
            try Response(status: 200, bytes: Bytes(Array(text.utf8))).decode(by: .json(choices))
        }
        let text = #"[{"id":9007199254740993,"name":"\ud800x\udc00\ud83d\ude00","\udfff":1e2}]"#
        #expect(throws: NetError.self) { try cities(text) }
        choices.rules.allowsLoneSurrogates = true
        #expect(try cities(text) == [City(id: 9_007_199_254_740_993, name: "\u{FFFD}x\u{FFFD}\u{1F600}")])
        #expect(try cities(#"[{"id":1,"name":"\ud83d\ude00"}]"#) == [City(id: 1, name: "\u{1F600}")])
        #expect(throws: NetError.self) { try cities(#"[{"id":1,]"#) }
    }

    @Test func bodyWithoutATypeIsParsedByItsContent() async throws {
        let bare = StubReply(body: [.text("[1]")])
        #expect(try await agent(bare).send(Request<[Int]>("/")).value == [1])
        let html = StubReply(body: [.text("<html>")])
        #expect(try await failure { try await agent(html).send(Request<[Int]>("/")) }.code == .decoding)
    }

    @Test(arguments: ["iso-8859-1", "windows-1252", "\"ISO-8859-1\"", "'utf-8'", "none", "shift_jis", "utf-16", ""])
    func aCharsetHasNoEffectOnJSONThatIsUTF8(charset: String) async throws {
        let type = "application/json; charset=\(charset)"
        #expect(try await agent(reply("[\"é\"]", type)).send(Request<[String]>("/")).value == ["é"])
        #expect(try await agent(reply("[1]", type)).send(Request<JSONValue>("/")).value == [1])
        #expect(try await agent(reply("", type)).send(Request<[Int]?>("/")).value == nil)
        let checked = Request<[Int]>("/").expecting([.integer])
        #expect(try await agent(reply("[1]", type)).send(checked).value == [1])
    }

    @Test(
        arguments: [
            ("iso-8859-1", Bytes([0x5B, 0x22, 0xE9, 0x22, 0x5D])), ("\"UTF-16\"", Bytes([0x5B, 0, 0x31, 0, 0x5D, 0])),
            ("utf-16le", Bytes([0xFF, 0xFE, 0x5B, 0, 0x5D, 0])), ("gbk", Bytes([0x5B, 0x22, 0xC4, 0xE3, 0x22, 0x5D])),
        ])
    func nonUTF8ErrorMentionsTheCharset(charset: String, body: Bytes) async throws {
        let answer = StubReply.bytes(body, contentType: "application/json; charset=\(charset)")
        let error = try await failure { try await agent(answer).send(Request<[String]>("/")) }
        #expect(error.code == .badCharset && error.response?.status == 200)
        #expect(error.message.contains(charset.filter { $0 != "\"" }))
        let tree = try await failure { try await agent(answer).send(Request<JSONValue>("/")) }
        #expect(tree.code == .badCharset)
        let checked = try await failure {
            try await agent(answer).send(Request<Bytes>("/").expecting(JSONExpectation()))
        }
        #expect(checked.code == .badCharset)
    }

    @Test func syntaxErrorDoesNotMentionTheCharset() async throws {
        let type = "application/json; charset=iso-8859-1"
        let error = try await failure { try await agent(reply("[1", type)).send(Request<[Int]>("/")) }
        #expect(error.code == .decoding)
    }

    @Test(arguments: [200, 204])
    func emptyBodyIsAnError(status: Int) async throws {
        for text in ["", " ", " \n\t\r"] {
            let empty = reply(text, "application/json", status: status)
            #expect(try await agent(empty).send(Request<City?>("/")).value == nil)
            #expect(try await agent(empty).send(Request<JSONValue?>("/")).value == nil)
            for code in [
                try await failure { try await agent(empty).send(Request<City>("/")) }.code,
                try await failure { try await agent(empty).send(Request<JSONValue>("/")) }.code,
            ] {
                #expect(code == .decoding)
            }
        }
        #expect(try await agent(.json("null")).send(Request<City?>("/")).value == nil)
        #expect(try await agent(.json(#"{"id":1}"#)).send(Request<City?>("/")).value == City(id: 1))
    }

    @Test(arguments: [
        "[1,2", "[01]", "[1] x", "{\"id\":1,}", "\u{FEFF}[1]", "[\"\u{1}\"]", "[NaN]", "[1,]", "// x\n[1]",
    ])
    func malformedJSONIsReportedWithItsOffsetBeforeDecoding(text: String) async throws {
        let error = try await failure { try await agent(.json(text)).send(Request<[Int]>("/")) }
        #expect(error.code == .decoding)
        #expect((error.underlying as? NetError)?.code == .badJSON)
        #expect(error.jsonFaults.count == 1)
        #expect(error.offset == error.jsonFaults.first?.offset)
        #expect(error.response?.bytes == Bytes(Array(text.utf8)))
    }

    @Test func largeBodyIsDecodedOffTheCallersExecutorWithTheSameResult() async throws {
        let text = "[\(Array(repeating: "1", count: 50_000).joined(separator: ","))]"
        #expect(try await agent(.json(text)).send(Request<[Int]>("/")).value.count == 50_000)
        #expect(try await agent(.json(text)).send(Request<JSONValue>("/")).value.array?.count == 50_000)
        let error = try await failure { try await agent(.json(text + "]")).send(Request<JSONValue>("/")) }
        #expect(error.offset == text.utf8.count)
    }

    @Test func nullsAreRemovedBeforeDecoding() async throws {
        var choices = JSONCoding()
        choices.removesNulls = true
        let text = #"[{"id":1,"name":null},null,{"id":2,"name":"b"}]"#
        let request = Request<[City]>("/", decoding: .json(choices))
        #expect(try await agent(.json(text)).send(request).value == [City(id: 1), City(id: 2, name: "b")])
        let tree = Request<JSONValue>("/", decoding: .json(choices))
        #expect(
            try await agent(.json(text)).send(tree).value.description == #"[{"id":1},{"id":2,"name":"b"}]"#)
        #expect(try await agent(.json("null")).send(tree).value == .null)
    }

    @Test func rulesAreSetByTheDecoding() async throws {
        var choices = JSONCoding()
        choices.rules.refusesDuplicateNames = true
        let request = Request<City>("/", decoding: .json(choices))
        let error = try await failure { try await agent(.json(#"{"id":1,"id":2}"#)).send(request) }
        #expect(error.code == .decoding)
        #expect(error.offset == 8)
    }

    @Test func errorBodyOfAnUnacceptedStatusIsDecodable() async throws {
        let problem = reply(#"{"title":"gone"}"#, "application/problem+json", status: 410)
        let error = try await failure { try await agent(problem).send(Request<City>("/")) }
        #expect(error.code == .status)
        #expect(error.decodedBody(as: Problem.self) == Problem(title: "gone"))
        #expect(error.decodedBody(as: City.self) == nil)
        #expect(error.decodedBody(as: JSONValue.self)?["title"] == "gone")
        #expect(try error.response?.decode(Problem.self).title == "gone")
        for other in [
            reply("<html>", "text/html", status: 410), reply(#"{"title":"x"}"#, "text/html", status: 410),
            reply("", "application/json", status: 410), reply("{", "application/json", status: 410),
        ] {
            let error = try await failure { try await agent(other).send(Request<City>("/")) }
            #expect(error.code == .status)
            #expect(error.decodedBody(as: Problem.self) == nil)
            #expect(error.decodedBody(as: JSONValue.self) == nil)
        }
    }

    @Test func statusIsCheckedBeforeTheType() async throws {
        let error = try await failure {
            try await agent(reply("gone", "text/html", status: 404)).send(Request<City>("/"))
        }
        #expect(error.code == .status)
        #expect(error.response?.bytes == Bytes(Array("gone".utf8)))
    }

    @Test func treePreservesDetailsThatADecoderLoses() async throws {
        let text = #"{"b":9007199254740993,"a":1e400,"b":1}"#
        let value = try await agent(.json(text)).send(Request<JSONValue>("/")).value
        #expect(value.description == text)
    }
}

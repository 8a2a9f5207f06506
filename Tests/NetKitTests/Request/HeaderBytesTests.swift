import FoundationEssentials
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Values of header fields that are not UTF-8: GBK, ISO-8859-1, Shift_JIS.
@Suite(.timeLimit(.minutes(5)))
struct HeaderBytesTests {
    private static let gbk: Bytes = [0xC4, 0xE3, 0xBA, 0xC3]
    private static let latin: Bytes = [0x22, 0xE9, 0x22]
    private static let otherLatin: Bytes = [0x22, 0xE8, 0x22]

    private func field(_ name: String, _ bytes: Bytes) -> Headers.Field { Headers.Field(name: name, bytes: bytes) }

    @Test func fieldHasBytesAndADisplayString() {
        let headers = Headers([field("X", Self.latin), .init(name: "Y", value: "é")])
        #expect(headers["x"] == "\"\u{FFFD}\"" && headers.bytes("x") == Self.latin)
        #expect(headers["Y"] == "é" && headers.bytes("Y") == [0xC3, 0xA9])
        #expect(headers[0].isUTF8 == false && headers[1].isUTF8)
        #expect(headers.bytes("Z") == nil && headers.allBytes("X") == [Self.latin])
    }

    @Test func valuesWithDifferentBytesAreNotEqual() {
        let shown = Headers.Field(name: "X", value: "\"\u{FFFD}\"")
        #expect(field("X", Self.latin) != field("X", Self.otherLatin) && field("X", Self.latin) != shown)
        #expect(Headers([field("X", Self.latin)]) != Headers([field("x", Self.otherLatin)]))
        #expect(Headers([field("X", Self.latin)]) == Headers([field("x", Self.latin)]))
        #expect(Set([field("X", Self.latin), field("X", Self.otherLatin), shown]).count == 3)
        // `String` treats the two spellings of one accent as equal. To a server they are different bytes.
        #expect(Headers.Field(name: "X", value: "e\u{301}") != Headers.Field(name: "X", value: "\u{E9}"))
    }

    @Test func settingTheTextReplacesTheBytes() {
        var headers = Headers([field("X", Self.latin), field("X", Self.gbk)])
        headers.set(field("x", Self.otherLatin))
        #expect(headers.count == 1 && headers.bytes("X") == Self.otherLatin)
        headers["X"] = "plain"
        #expect(headers.bytes("X") == Bytes(Array("plain".utf8)))
        headers.append(field("X", Self.gbk))
        #expect(headers.allBytes("X") == [Bytes(Array("plain".utf8)), Self.gbk])
    }

    @Test func fieldBytesAreSentAndReceivedUnchanged() async throws {
        let server = try MockServer()
        try server.register("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
        let agent = Agent(.init(baseURL: server.url))
        var request = Request<Bytes>("/")
        request.headers.append(field("X-Asked", Self.latin))
        let response = try await agent.send(request)
        #expect(response.headers.bytes("X-Name") == Self.gbk)
        #expect(response.headers.first { $0.name == "X-Name" }?.bytes == Self.gbk)
        #expect(server.requests.first?.headers.bytes("X-Asked") == Self.latin)
        let stream = try await agent.stream(request)
        #expect(stream.headers.bytes("X-Name") == Self.gbk)
        await agent.shutdown()
    }

    /// Whether the engine or a hook follows the redirect, the next URL is the same.
    @Test(arguments: [false, true])
    func redirectFollowsTheBytesOfItsLocation(isHooked: Bool) async throws {
        let server = try MockServer()
        let location = Bytes(Array("/caf".utf8) + [0xE9, 0x20] + Array("x?q=".utf8) + Array(Self.gbk))
        try server.register("/a", with: StubReply(status: 302, headers: Headers([field("Location", location)])))
        try server.register("*", with: .text("there"))
        var configuration = Agent.Configuration(baseURL: server.url)
        if isHooked {
            configuration.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        }
        let agent = Agent(configuration)
        let response = try await agent.send(Request<Bytes>("/a"))
        #expect(server.requests.last?.target == "/caf%E9%20x?q=%C4%E3%BA%C3")
        #expect(response.url.hasSuffix("/caf%E9%20x?q=%C4%E3%BA%C3"))
        await agent.shutdown()
    }

    @Test func stubFollowsTheBytesOfALocation() async throws {
        let stub = StubTransport()
        let location = Headers([field("Location", [0x2F, 0xE9])])
        stub.register("/a", with: StubReply(status: 302, headers: location))
        stub.register("/%E9", with: .text("there"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        #expect(try await agent.send(Request<String>("/a")).value == "there")
    }

    @Test func linkTargetPreservesItsBytes() throws {
        let link = Bytes(Array("<http://h/caf".utf8) + [0xE9] + Array(">; rel=next, </é>; rel=prev".utf8))
        let response = Response<Bytes>(status: 200, headers: Headers([field("Link", link)]))
        #expect(try response.link("next") == "http://h/caf%E9")
        let plain = Response<Bytes>(status: 200, headers: ["Link": "</é>; rel=next; title=é"])
        #expect(plain.links.first?.target == "/é" && plain.links.first?.parameters["title"] == "é")
    }

    @Test(arguments: [CacheRules.server(), .app(60)])
    func validatorIsSentBackUnchanged(rules: CacheRules) async throws {
        let fixture = CacheFixture(rules)
        let tag = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("ETag", Self.latin)])
        let other = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("ETag", Self.otherLatin)])
        fixture.stub.register(
            "/", with: StubReply(headers: tag, body: [.text("1")]), StubReply(status: 304, headers: tag),
            StubReply(status: 304, headers: other), StubReply(headers: other, body: [.text("2")]))
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        fixture.pass(61)
        let held = try await fixture.agent.send(Request<Bytes>("/"))
        #expect(fixture.stub.requests.last?.headers.bytes("If-None-Match") == Self.latin)
        #expect(held.bytes.text == "1" && held.headers.bytes("ETag") == Self.latin)
        fixture.pass(61)
        // A 304 with another tag confirms another version, even if both tags look the same as text.
        #expect(try await fixture.agent.send(Request<Bytes>("/")).bytes.text == "2")
    }

    @Test func diskEntryPreservesFieldBytes() async throws {
        let folder = try TemporaryFolder()
        let headers = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("X-Name", Self.gbk)])
        for isFirst in [true, false] {
            let fixture = CacheFixture(.server(), store: DiskCacheStore(directory: folder.file("cache")))
            fixture.stub.register("/", with: StubReply(headers: headers, body: [.text("1")]))
            let response = try await fixture.agent.send(Request<Bytes>("/"))
            #expect(response.cache?.isHit == !isFirst && response.headers.bytes("X-Name") == Self.gbk)
        }
    }

    @Test(arguments: ["Cookie", "Authorization", "X-Choice"])
    func identitiesThatDifferInOneByteShareNoEntry(name: String) async throws {
        let fixture = CacheFixture(.server())
        let reply = { (text: String) in
            StubReply(headers: ["Cache-Control": "max-age=60", "Vary": "X-Choice"], body: [.text(text)])
        }
        fixture.stub.register("/", with: reply("1"), reply("2"), reply("3"))
        func responseText(_ bytes: Bytes) async throws -> String {
            var request = Request<Bytes>("/")
            request.headers.append(field(name, bytes))
            return try await fixture.agent.send(request).bytes.text
        }
        #expect(try await responseText(Self.latin) == "1")
        #expect(try await responseText(Self.otherLatin) == "2")
        #expect(try await responseText(Bytes(Array("\"\u{FFFD}\"".utf8))) == "3")
        // For requests with a Cookie field, only the last response is stored. Here it belongs to another user, so the
        // request is sent again.
        #expect(try await responseText(Self.latin) == (name == "Cookie" ? "3" : "1"))
    }

    @Test func cookieBytesSurviveAReset() async throws {
        let server = try MockServer()
        let cookie = Bytes(Array("name=".utf8) + Array(Self.gbk) + Array("; Path=/".utf8))
        try server.register("/set", with: StubReply(headers: Headers([field("Set-Cookie", cookie)])))
        try server.register("*", with: .text("1"))
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.cookies = .memory
        let agent = Agent(configuration)
        let set = try await agent.send(Request<Bytes>("/set"))
        #expect(set.headers.bytes("Set-Cookie") == cookie)
        let kept = try #require(try await agent.cookies.all().first)
        #expect(kept.valueBytes == Self.gbk && kept.name == "name")
        await agent.reset()
        _ = try await agent.send(Request<Bytes>("/get"))
        let expected = Bytes(Array("name=".utf8) + Array(Self.gbk))
        #expect(server.requests.last?.headers.bytes("Cookie") == expected)
        try agent.cookies.set([kept])
        _ = try await agent.send(Request<Bytes>("/get"))
        #expect(server.requests.last?.headers.bytes("Cookie") == expected)
        await agent.shutdown()
    }

    @Test func cookieLinePreservesItsBytes() throws {
        let line = Bytes(Array("h.test\tFALSE\t/\tFALSE\t0\tn\t".utf8) + Array(Self.gbk))
        let cookie = try #require(Cookie(netscapeLineBytes: line))
        #expect(try cookie.netscapeLineBytes == line && cookie.valueBytes == Self.gbk)
        #expect(Cookie(netscapeLine: "h.test\tFALSE\t/\tFALSE\t0\té\t中")?.value == "中")
        var other = cookie
        other.valueBytes = [0xC4, 0xE3, 0xBA, 0xC4]
        #expect(other != cookie && other.value == cookie.value)
    }

    @Test func recordingReplaysFieldBytes() async throws {
        let recorder = Recorder()
        let stub = StubTransport()
        stub.register("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("/"))
        let folder = try TemporaryFolder()
        try recorder.recording.write(to: folder.file("r.json"))
        let replay = Agent(
            .init(baseURL: "http://stub"), transport: try ReplayTransport(contentsOf: folder.file("r.json")))
        #expect(try await replay.send(Request<Bytes>("/")).headers.bytes("X-Name") == Self.gbk)
    }

    @Test func signatureCoversFieldBytes() async throws {
        var signing = RequestSigning(keyID: "k", key: [1], time: StubTime().source)
        signing.fields = ["x-name"]
        let stub = StubTransport()
        stub.register("*", with: .text("1"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [signing]
        let agent = Agent(configuration, transport: stub)
        for bytes in [Self.latin, Self.otherLatin] {
            var request = Request<Bytes>("/")
            request.headers.append(field("X-Name", bytes))
            _ = try await agent.send(request)
        }
        let signatures = Set(stub.requests.map { $0.headers["X-Signature"] })
        #expect(signatures.count == 2)
    }

    @Test func archiveContainsBytesAndText() async throws {
        let recorder = HARRecorder()
        let stub = StubTransport()
        stub.register("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [recorder]
        let agent = Agent(configuration, transport: stub)
        _ = try await agent.send(Request<Bytes>("/"))
        await agent.shutdown()
        #expect(try recorder.archive().text.contains("Base64 of the value's bytes: xOO6ww=="))
    }
}

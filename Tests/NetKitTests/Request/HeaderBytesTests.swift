import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Values of header fields that are not UTF-8: GBK, ISO-8859-1, Shift_JIS.
@Suite(.timeLimit(.minutes(5)))
struct HeaderBytesTests {
    private static let gbk: Bytes = [0xC4, 0xE3, 0xBA, 0xC3]
    private static let latin: Bytes = [0x22, 0xE9, 0x22]
    private static let otherLatin: Bytes = [0x22, 0xE8, 0x22]

    private func field(_ name: String, _ bytes: Bytes) -> Headers.Field { Headers.Field(name: name, bytes: bytes) }

    @Test func aFieldHasItsBytesAndAStringForDisplay() {
        let headers = Headers([field("X", Self.latin), .init(name: "Y", value: "é")])
        #expect(headers["x"] == "\"\u{FFFD}\"" && headers.bytes("x") == Self.latin)
        #expect(headers["Y"] == "é" && headers.bytes("Y") == [0xC3, 0xA9])
        #expect(headers[0].isUTF8 == false && headers[1].isUTF8)
        #expect(headers.bytes("Z") == nil && headers.allBytes("X") == [Self.latin])
    }

    @Test func valuesThatDifferInBytesAloneAreNotEqual() {
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

    @Test func theWireCarriesTheBytesBothWays() async throws {
        let server = try MockServer()
        try server.answer("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
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

    /// If a hook only follows the redirect, the URL is the one that the engine would request.
    @Test(arguments: [false, true])
    func aRedirectLeadsToTheBytesOfItsLocation(isHooked: Bool) async throws {
        let server = try MockServer()
        let place = Bytes(Array("/caf".utf8) + [0xE9, 0x20] + Array("x?q=".utf8) + Array(Self.gbk))
        try server.answer("/a", with: StubReply(status: 302, headers: Headers([field("Location", place)])))
        try server.answer("*", with: .text("there"))
        var configuration = Agent.Configuration(baseURL: server.url)
        if isHooked {
            configuration.transferHooks.redirect = { _ in .follow }
        }
        let agent = Agent(configuration)
        let response = try await agent.send(Request<Bytes>("/a"))
        #expect(server.requests.last?.target == "/caf%E9%20x?q=%C4%E3%BA%C3")
        #expect(response.url.hasSuffix("/caf%E9%20x?q=%C4%E3%BA%C3"))
        await agent.shutdown()
    }

    @Test func aStubFollowsTheBytesOfALocationToo() async throws {
        let stub = StubTransport()
        let place = Headers([field("Location", [0x2F, 0xE9])])
        stub.answer("/a", with: StubReply(status: 302, headers: place))
        stub.answer("/%E9", with: .text("there"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        #expect(try await agent.send(Request<String>("/a")).value == "there")
    }

    @Test func aLinkLeadsToItsBytes() throws {
        let link = Bytes(Array("<http://h/caf".utf8) + [0xE9] + Array(">; rel=next, </é>; rel=prev".utf8))
        let response = Response<Bytes>(status: 200, headers: Headers([field("Link", link)]))
        #expect(try response.link("next") == "http://h/caf%E9")
        let plain = Response<Bytes>(status: 200, headers: ["Link": "</é>; rel=next; title=é"])
        #expect(plain.links.first?.target == "/é" && plain.links.first?.parameters["title"] == "é")
    }

    @Test(arguments: [CacheRules.server(), .app(60)])
    func aValidatorGoesBackAsItCame(rules: CacheRules) async throws {
        let scene = CacheScene(rules)
        let tag = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("ETag", Self.latin)])
        let other = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("ETag", Self.otherLatin)])
        scene.stub.answer(
            "/", with: StubReply(headers: tag, body: [.text("1")]), StubReply(status: 304, headers: tag),
            StubReply(status: 304, headers: other), StubReply(headers: other, body: [.text("2")]))
        _ = try await scene.agent.send(Request<Bytes>("/"))
        scene.pass(61)
        let held = try await scene.agent.send(Request<Bytes>("/"))
        #expect(scene.stub.requests.last?.headers.bytes("If-None-Match") == Self.latin)
        #expect(held.bytes.text == "1" && held.headers.bytes("ETag") == Self.latin)
        scene.pass(61)
        // A 304 with another tag confirms another version, even if both tags look the same as text.
        #expect(try await scene.agent.send(Request<Bytes>("/")).bytes.text == "2")
    }

    @Test func anEntryOnDiskKeepsTheBytes() async throws {
        let folder = try TemporaryFolder()
        let headers = Headers([.init(name: "Cache-Control", value: "max-age=60"), field("X-Name", Self.gbk)])
        for isFirst in [true, false] {
            let scene = CacheScene(.server(), store: DiskCacheStore(directory: folder.file("cache")))
            scene.stub.answer("/", with: StubReply(headers: headers, body: [.text("1")]))
            let response = try await scene.agent.send(Request<Bytes>("/"))
            #expect(response.cache?.isHit == !isFirst && response.headers.bytes("X-Name") == Self.gbk)
        }
    }

    @Test(arguments: ["Cookie", "Authorization", "X-Choice"])
    func usersWhoDifferInOneByteShareNothing(name: String) async throws {
        let scene = CacheScene(.server())
        let reply = { (text: String) in
            StubReply(headers: ["Cache-Control": "max-age=60", "Vary": "X-Choice"], body: [.text(text)])
        }
        scene.stub.answer("/", with: reply("1"), reply("2"), reply("3"))
        func asked(_ bytes: Bytes) async throws -> String {
            var request = Request<Bytes>("/")
            request.headers.append(field(name, bytes))
            return try await scene.agent.send(request).bytes.text
        }
        #expect(try await asked(Self.latin) == "1")
        #expect(try await asked(Self.otherLatin) == "2")
        #expect(try await asked(Bytes(Array("\"\u{FFFD}\"".utf8))) == "3")
        // Of responses to cookies only the last one is stored, and it belongs to another user.
        #expect(try await asked(Self.latin) == (name == "Cookie" ? "3" : "1"))
    }

    @Test func aJarsCookiesSurviveAResetAsBytes() async throws {
        let server = try MockServer()
        let cookie = Bytes(Array("name=".utf8) + Array(Self.gbk) + Array("; Path=/".utf8))
        try server.answer("/set", with: StubReply(headers: Headers([field("Set-Cookie", cookie)])))
        try server.answer("*", with: .text("1"))
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.cookies = .memory
        let agent = Agent(configuration)
        let set = try await agent.send(Request<Bytes>("/set"))
        #expect(set.headers.bytes("Set-Cookie") == cookie)
        let kept = try #require(try await agent.cookies().first)
        #expect(kept.valueBytes == Self.gbk && kept.name == "name")
        await agent.reset()
        _ = try await agent.send(Request<Bytes>("/get"))
        let expected = Bytes(Array("name=".utf8) + Array(Self.gbk))
        #expect(server.requests.last?.headers.bytes("Cookie") == expected)
        try agent.setCookies([kept])
        _ = try await agent.send(Request<Bytes>("/get"))
        #expect(server.requests.last?.headers.bytes("Cookie") == expected)
        await agent.shutdown()
    }

    @Test func aLineOfCookiesKeepsItsBytes() throws {
        let line = Bytes(Array("h.test\tFALSE\t/\tFALSE\t0\tn\t".utf8) + Array(Self.gbk))
        let cookie = try #require(Cookie(netscapeLineBytes: line))
        #expect(try cookie.netscapeLineBytes == line && cookie.valueBytes == Self.gbk)
        #expect(Cookie(netscapeLine: "h.test\tFALSE\t/\tFALSE\t0\té\t中")?.value == "中")
        var other = cookie
        other.valueBytes = [0xC4, 0xE3, 0xBA, 0xC4]
        #expect(other != cookie && other.value == cookie.value)
    }

    @Test func aRecordingReplaysTheBytes() async throws {
        let recorder = Recorder()
        let stub = StubTransport()
        stub.answer("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("/"))
        let folder = try TemporaryFolder()
        try recorder.recording.write(to: folder.file("r.json"))
        let replay = Agent(
            .init(baseURL: "http://stub"), transport: try ReplayTransport(contentsOf: folder.file("r.json")))
        #expect(try await replay.send(Request<Bytes>("/")).headers.bytes("X-Name") == Self.gbk)
    }

    @Test func aSignatureIsOfTheBytes() async throws {
        var signing = RequestSigning(keyID: "k", key: [1])
        signing.fields = ["x-name"]
        let stub = StubTransport()
        stub.answer("*", with: .text("1"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        let time = StubTime()
        signing.time = time.source
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

    @Test func anArchiveShowsTheBytesBesideTheText() async throws {
        let recorder = HARRecorder()
        let stub = StubTransport()
        stub.answer("/", with: StubReply(headers: Headers([field("X-Name", Self.gbk)]), body: [.text("1")]))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [recorder]
        let agent = Agent(configuration, transport: stub)
        _ = try await agent.send(Request<Bytes>("/"))
        await agent.shutdown()
        #expect(try recorder.archive().text.contains("Base64 of the value's bytes: xOO6ww=="))
    }
}

import Testing

@testable import NetKitCLI

/// Options that shape the whole command line: -K and --next, and those about ETags.
@Suite(.timeLimit(.minutes(5)))
struct ConfigOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
        folder = try TemporaryFolder()
    }

    @Test func configFileHasOneOptionPerLine() async throws {
        let text = """
            # a comment
            url = "\(server.url("/a"))"
            header: "X-One: a \\"b\\"\\tc"

            -A agent/1
            --request=PATCH
              silent
            -d x=1
            """
        try folder.write(Array(text.utf8), to: "options")
        let outcome = try await nk("-K", folder.file("options"))
        #expect(outcome.code == 0 && outcome.text == "ok")
        let request = server.received()
        #expect(request.requestLine == "PATCH /a HTTP/1.1")
        #expect(request.values(named: "X-One") == ["a \"b\"\tc"] && request.values(named: "User-Agent") == ["agent/1"])
        #expect(request.body == Array("x=1".utf8))
    }

    @Test func configCanComeFromStandardInput() async throws {
        let input = Array("user = \"me:hush\"\r\nurl = \(server.url("/"))\r\n".utf8)
        #expect(try await nk("-K", "-", input: input).text == "ok")
        #expect(server.received().values(named: "Authorization") == ["Basic bWU6aHVzaA=="])
    }

    @Test(arguments: [
        ("usr = me:hush", "unknown option --usr"), ("silent = hush", "--silent in line 1 takes no value"),
        ("user = \"me:hush", "line 1 has no closing quote"), ("= hush", "line 1 has no option's name"),
        ("\nuser", "needs a value"),
    ])
    func wrongLineIsNamedWithoutItsValue(text: String, message: String) async throws {
        try folder.write(Array(text.utf8), to: "options")
        let outcome = try await nk("-K", folder.file("options"), server.url("/"))
        #expect(outcome.code == 2 && outcome.errors.contains(message) && outcome.errors.contains("-K "))
        #expect(!outcome.errors.contains("hush") && server.requestCount == 0)
    }

    @Test func missingConfigFileAndOneThatNamesItselfAreErrors() async throws {
        let missing = try await nk("-K", folder.file("none"), server.url("/"))
        #expect(missing.code == 26 && missing.errors.contains("none"))
        try folder.write(Array("config = \(folder.file("loop"))".utf8), to: "loop")
        let loop = try await nk("-K", folder.file("loop"), server.url("/"))
        #expect(loop.code == 2 && loop.errors.contains("too many files name each other"))
    }

    @Test func nextBeginsARequestWithOptionsOfItsOwn() async throws {
        let outcome = try await nk(
            "-d", "a=1", "-H", "X-One: 1", server.url("/one"), "--next", "-u", "me:x", server.url("/two"), "-:",
            server.url("/three"))
        #expect(outcome.code == 0 && outcome.text == "okokok")
        #expect(server.received(0).requestLine.hasPrefix("POST /one"))
        let second = server.received(1)
        #expect(second.requestLine.hasPrefix("GET /two") && second.values(named: "X-One").isEmpty)
        #expect(second.values(named: "Authorization") == ["Basic bWU6eA=="])
        #expect(server.received(2).values(named: "Authorization").isEmpty)
    }

    @Test func firstFailureOfSeveralOperationsDeterminesTheExitCode() async throws {
        server.script("/bad", Reply(status: 404))
        let outcome = try await nk("-f", server.url("/bad"), "--next", server.url("/good"))
        #expect(outcome.code == 22 && outcome.text == "ok")
        #expect(try await nk(server.url("/"), "--next").code == 2)
        #expect(try await nk("-d", "--next", server.url("/")).code == 0)
        #expect(server.received(server.requestCount - 1).body == Array("--next".utf8))
    }

    @Test func etagIsSavedAndCompared() async throws {
        server.script(
            "/page", [Reply(headers: ["ETag: W/\"v1\""], body: Array("one".utf8)), Reply(status: 304)])
        let tag = folder.file("tag")
        let words = ["--etag-compare", tag, "--etag-save", tag, "-o", folder.file("page"), server.url("/page")]
        #expect(try await nk(words).code == 0)
        #expect(folder.contents(of: "tag").map { String(decoding: $0, as: UTF8.self) } == "W/\"v1\"\n")
        #expect(server.received(0).values(named: "If-None-Match") == ["\"\""])
        #expect(try await nk(words).code == 0)
        #expect(server.received(1).values(named: "If-None-Match") == ["W/\"v1\""])
        #expect(folder.contents(of: "page").map { String(decoding: $0, as: UTF8.self) } == "one")
        #expect(folder.contents(of: "tag").map { String(decoding: $0, as: UTF8.self) } == "W/\"v1\"\n")
        #expect(try await nk("--etag-save", tag, server.url("/a"), server.url("/b")).code == 2)
    }

    @Test func anyauthWaitsForTheChallenge() async throws {
        let digest = "WWW-Authenticate: Digest realm=\"here\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"
        server.script("/d", [Reply(status: 401, headers: [digest]), .text("in")])
        #expect(try await nk("--anyauth", "-u", "me:hush", server.url("/d")).text == "in")
        #expect(server.received(0).values(named: "Authorization").isEmpty)
        #expect(server.received(1).values(named: "Authorization").first?.hasPrefix("Digest ") == true)
        server.script("/b", [Reply(status: 401, headers: ["WWW-Authenticate: Basic realm=\"x\""]), .text("in")])
        #expect(try await nk("--anyauth", "-u", "me:hush", server.url("/b")).text == "in")
        #expect(server.received(3).values(named: "Authorization") == ["Basic bWU6aHVzaA=="])
    }

    @Test func optionalNetrcYieldsToALoginOfTheCommandLine() async throws {
        try folder.write(Array("machine 127.0.0.1 login file password hush\n".utf8), to: ".netrc", mode: 0o600)
        let home = folder.path
        #expect(try await nk(["--netrc-optional", server.url("/")], home: home).code == 0)
        #expect(server.received(0).values(named: "Authorization") == ["Basic ZmlsZTpodXNo"])
        #expect(try await nk(["--netrc-optional", "-u", "me:x", server.url("/")], home: home).code == 0)
        #expect(server.received(1).values(named: "Authorization") == ["Basic bWU6eA=="])
        #expect(try await nk(["--netrc-optional", server.url("/", userinfo: "me:x")], home: home).code == 0)
        #expect(server.received(2).values(named: "Authorization") == ["Basic bWU6eA=="])
        #expect(try await nk(["--netrc-optional", server.url("/")], home: folder.file("nowhere")).code == 0)
    }
}

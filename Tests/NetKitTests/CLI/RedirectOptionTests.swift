import Testing

@Suite(.timeLimit(.minutes(5)))
struct RedirectOptionTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/old", Reply(status: 302, body: Array("moved".utf8), location: "/new"))
        server.script("/new", .text("arrived"))
        server.script("/loop", .redirect(to: "/loop"))
    }

    @Test func redirectIsNotFollowedWithoutLocation() async throws {
        let outcome = try await nk(server.url("/old"))
        #expect(outcome.code == 0 && outcome.text == "moved")
        #expect(server.requestCount == 1)
    }

    @Test(arguments: ["-L", "--location"])
    func locationFollowsRedirects(option: String) async throws {
        let outcome = try await nk(option, "-d", "a=1", server.url("/old"))
        #expect(outcome.code == 0 && outcome.text == "arrived")
        #expect(server.received(0).requestLine == "POST /old HTTP/1.1")
        #expect(server.received(1).requestLine == "GET /new HTTP/1.1")
    }

    @Test(arguments: [(["--max-redirs", "3"], 4), (["--max-redirs", "0"], 1), ([], 51)])
    func tooManyRedirectsExitWith47(words: [String], requests: Int) async throws {
        let outcome = try await nk(["-L"] + words + [server.url("/loop")])
        #expect(outcome.code == 47 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("redirected more than \(requests - 1) times"))
        #expect(server.requestCount == requests)
    }

    @Test func headsOfRedirectsAreWrittenAlthoughTheLastHopFails() async throws {
        let folder = try TemporaryFolder()
        server.script("/first", .redirect(to: "/second"))
        server.script("/second", .redirect(to: "/cut"))
        server.script("/cut", Reply(cutAfter: 0, ending: .close))
        let words = ["-iLv", "-D", folder.file("heads")]
        let outcome = try await nk(words + [server.url("/first")])
        #expect(outcome.code == 52)
        let places = ["Location: /second", "Location: /cut"]
        #expect(outcome.lines.filter { $0.hasPrefix("Location:") } == places)
        #expect(outcome.errorLines.filter { $0.hasPrefix("< Location:") } == places.map { "< " + $0 })
        #expect(folder.contents(of: "heads") == outcome.bytes)
        let loop = try await nk(words + ["--max-redirs", "2", server.url("/loop")])
        #expect(loop.code == 47 && loop.lines.count { $0 == "Location: /loop" } == 3)
        #expect(folder.contents(of: "heads") == loop.bytes)
    }

    @Test func redirectsUpToTheLimitAreFollowed() async throws {
        #expect(try await nk("-L", "--max-redirs", "1", server.url("/old")).text == "arrived")
        #expect(try await nk("-L", "--max-redirs", "-1", server.url("/old")).text == "arrived")
    }

    @Test func aRedirectToAnotherSchemeIsRefused() async throws {
        server.script("/ftp", .redirect(to: "ftp://127.0.0.1/"))
        let outcome = try await nk("-L", server.url("/ftp"))
        #expect(outcome.code == 1)
        #expect(outcome.errorLines == ["nk: (1) redirect to the scheme 'ftp' is refused"])
    }

    @Test func aRedirectFromHTTPSToHTTPIsRefused() async throws {
        let secure = try LoopbackServer(.valid)
        secure.script("/", .redirect(to: server.url("/new")))
        let outcome = try await nk("-kL", secure.url("/"))
        #expect(outcome.code == 1)
        #expect(outcome.errorLines == ["nk: (1) redirect from https to http://127.0.0.1 is refused"])
        #expect(server.requestCount == 0)
    }
}

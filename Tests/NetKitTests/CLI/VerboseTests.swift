import Testing

/// What -v tells on standard error.
@Suite(.timeLimit(.minutes(5)))
struct VerboseTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/", Reply(headers: ["X-Reply: yes", "Set-Cookie: id=hush"], body: Array("body".utf8)))
        server.script("/old", .redirect(to: "/"))
    }

    @Test(arguments: ["-v", "--verbose"])
    func theQuestionTheAnswerAndTheConnectionAreTold(option: String) async throws {
        let outcome = try await nk(option, "-H", "X-Ask: 1", "-d", "abc", server.url("/?q=1"))
        #expect(outcome.code == 0 && outcome.text == "body")
        let told = outcome.errorLines.filter { !$0.hasPrefix("* ") }
        #expect(
            told == [
                "> POST /?q=1 HTTP/1.1", "> Host: 127.0.0.1:\(server.port)", "> User-Agent: nk/0.1.0", "> Accept: */*",
                "> Content-Type: application/x-www-form-urlencoded", "> X-Ask: 1", "> Content-Length: 3",
                "< HTTP/1.1 200", "< X-Reply: yes", "< Set-Cookie: [hidden]", "< Content-Length: 4",
            ])
        #expect(outcome.errorLines.first?.hasPrefix("* connected to 127.0.0.1:\(server.port) (") == true)
        #expect(outcome.errorLines.last?.contains("body 4") == true)
    }

    @Test func eachHopIsTold() async throws {
        let outcome = try await nk("-vL", "-d", "a", server.url("/old"))
        let marks = ["> POST", "> GET", "< HTTP"]
        let told = outcome.errorLines.filter { line in marks.contains { line.hasPrefix($0) } }
        #expect(told == ["> POST /old HTTP/1.1", "< HTTP/1.1 302", "> GET / HTTP/1.1", "< HTTP/1.1 200"])
        #expect(outcome.errorLines.contains("* connection to 127.0.0.1:\(server.port) is used again"))
    }

    @Test func secretsAreHidden() async throws {
        let names = [
            "Authorization", "proxy-authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Client-Secret", "X-Auth",
        ]
        let words = names.flatMap { ["-H", "\($0): hush"] }
        let outcome = try await nk(["-v"] + words + [server.url("/", userinfo: "hush:hush")])
        #expect(outcome.code == 0)
        #expect(!outcome.errors.contains("hush"))
        for name in names {
            #expect(outcome.errorLines.contains("> \(name): [hidden]"))
        }
        #expect(server.received().values(named: "X-Api-Key") == ["hush"])
    }

    @Test func aFailureTellsNoSecretEither() async throws {
        let port = try ReservedPort(acceptsConnections: false).number
        let outcome = try await nk("-v", "http://hush:hush@127.0.0.1:\(port)/")
        #expect(outcome.code == 7)
        #expect(!outcome.errors.contains("hush"))
        #expect(outcome.errorLines.count == 2)
    }

    @Test func whatATerminalWouldObeyIsNotRepeated() async throws {
        server.script("/escape", Reply(headers: ["X-Evil: \u{1b}[31mred"]))
        let outcome = try await nk("-v", server.url("/escape"))
        #expect(outcome.errorLines.contains("< X-Evil: ?[31mred"))
    }
}

import Testing

/// Output of -v on standard error.
@Suite(.timeLimit(.minutes(5)))
struct VerboseTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/", Reply(headers: ["X-Reply: yes", "Set-Cookie: id=hush"], body: Array("body".utf8)))
        server.script("/old", .redirect(to: "/"))
    }

    @Test(arguments: ["-v", "--verbose"])
    func requestResponseAndConnectionArePrinted(option: String) async throws {
        let outcome = try await nk(option, "-H", "X-Ask: 1", "-d", "abc", server.url("/?q=1"))
        #expect(outcome.code == 0 && outcome.text == "body")
        let printed = outcome.errorLines.filter { !$0.hasPrefix("* ") }
        #expect(
            printed == [
                "> POST /?q=1 HTTP/1.1", "> Host: 127.0.0.1:\(server.port)", "> User-Agent: nk/0.1.0", "> Accept: */*",
                "> Content-Type: application/x-www-form-urlencoded", "> X-Ask: 1", "> Content-Length: 3",
                "< HTTP/1.1 200", "< X-Reply: yes", "< Set-Cookie: [hidden]", "< Content-Length: 4",
            ])
        #expect(outcome.errorLines.first?.hasPrefix("* connected to 127.0.0.1:\(server.port) (") == true)
        #expect(outcome.errorLines.last?.contains("body 4") == true)
    }

    @Test func theParametersOfANewTLSConnectionAreWritten() async throws {
        let secure = try LoopbackServer(.valid)
        secure.script("/", Reply(body: Array("body".utf8)))
        secure.script("/old", .redirect(to: "/"))
        let outcome = try await nk(
            "-vkL", "-w", "%{tls_version} / %{tls_cipher} / %{tls_group}", secure.url("/old"))
        let lines = outcome.errorLines.filter { $0.contains("TLSv1") }
        #expect(outcome.code == 0 && lines.count == 1)
        #expect(lines.first == "* SSL connection using \(outcome.text.dropFirst("body".count))")
        #expect(["x25519", "X25519MLKEM768"].contains { outcome.text.hasSuffix(" / \($0)") })
        let clear = try await nk("-v", "-w", "[%{tls_group}]", server.url("/"))
        #expect(clear.text == "body[]" && !clear.errorLines.contains { $0.contains("SSL") })
    }

    @Test func malformedFieldsThatWereDroppedAreCounted() async throws {
        server.script(
            "/odd", Reply(headers: ["X Foo: bar", "X-Fine: yes", "PHP Warning: odd"], body: Array("body".utf8)))
        server.script("/smuggled", Reply(headers: ["Content-Length : 9"], body: Array("body".utf8)))
        let outcome = try await nk("-v", server.url("/odd"))
        #expect(outcome.code == 0 && outcome.text == "body")
        #expect(outcome.errorLines.contains("< X-Fine: yes"))
        #expect(outcome.errorLines.contains("* ignored 2 fields with an invalid name"))
        let refused = try await nk(server.url("/smuggled"))
        #expect(refused.code == 8 && refused.text.isEmpty)
    }

    @Test func eachHopIsPrinted() async throws {
        let outcome = try await nk("-vL", "-d", "a", server.url("/old"))
        let marks = ["> POST", "> GET", "< HTTP"]
        let printed = outcome.errorLines.filter { line in marks.contains { line.hasPrefix($0) } }
        #expect(printed == ["> POST /old HTTP/1.1", "< HTTP/1.1 302", "> GET / HTTP/1.1", "< HTTP/1.1 200"])
        #expect(outcome.errorLines.contains("* connection to 127.0.0.1:\(server.port) is reused"))
    }

    @Test func proxyRequestHasAnAbsoluteURL() async throws {
        let proxy = try ProxyServer()
        for (words, isWhole) in [([], true), (["-p"], false), (["--noproxy", "127.0.0.0/8"], false)] {
            let outcome = try await nk(["-v", "-x", proxy.url] + words + [server.url("?q=1#f", userinfo: "a:b")])
            let target = isWhole ? server.url("/?q=1") : "/?q=1"
            #expect(outcome.code == 0 && outcome.errorLines.contains("> GET \(target) HTTP/1.1"))
        }
        #expect(proxy.received(0).requestLine == "GET \(server.url("/?q=1")) HTTP/1.1")
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

    @Test func secretsInURLsAreHidden() async throws {
        server.script("/asks", .redirect(to: "/told?api_key=hush#id_token=hush"))
        server.script("/told", Reply(status: 404))
        let url = server.url("/asks?q=1&access_token=hush")
        let outcome = try await nk("-vLf", "-H", "Referer: \(url)", url)
        #expect(outcome.code == 22 && !outcome.errors.contains("hush"))
        #expect(outcome.errorLines.contains("> GET /asks?q=1&access_token=[hidden] HTTP/1.1"))
        #expect(outcome.errorLines.contains("< Location: /told?api_key=[hidden]#id_token=[hidden]"))
        #expect(outcome.errorLines.contains("> GET /told?api_key=[hidden] HTTP/1.1"))
    }

    @Test func failurePrintsNoSecret() async throws {
        let port = try ReservedPort(acceptsConnections: false).number
        let outcome = try await nk("-v", "http://hush:hush@127.0.0.1:\(port)/")
        #expect(outcome.code == 7)
        #expect(!outcome.errors.contains("hush"))
        #expect(outcome.errorLines.count == 2)
    }

    @Test func controlCharactersAreNotPrinted() async throws {
        server.script("/escape", Reply(headers: ["X-Evil: \u{1b}[31mred"]))
        let outcome = try await nk("-v", server.url("/escape"))
        #expect(outcome.errorLines.contains("< X-Evil: ?[31mred"))
    }

    /// Arguments with credentials, and the userinfo of the URL.
    private static let questions: [([String], userinfo: String?)] = [
        ([], nil), ([], "u:hush"), (["-u", "me:hush"], "u:hush"),
        (["-u", "me:hush", "-H", "Authorization: mine"], nil),
        (["-H", "authorization: mine"], "u:hush"), (["-H", "Authorization;"], "u:hush"),
        (["-H", "Authorization:", "-u", "me:hush"], nil), (["--compressed", "-H", "X-Ask: 1"], nil),
        (["--compressed", "-H", "accept-encoding: gzip"], nil), (["--compressed", "-H", "Accept-Encoding:"], nil),
        (["-u", "me:hush", "-b", "a=hush", "-T", "-", "-H", "X-Ask: 1"], nil),
        (["--compressed", "-d", "abc"], nil), (["--tr-encoding"], nil), (["--tr-encoding", "-H", "TE:"], nil),
        (["--tr-encoding", "--compressed", "-d", "abc"], nil), (["--tr-encoding", "-d", ""], nil),
        (["--tr-encoding", "-H", "TE: trailers"], nil), (["--tr-encoding", "-H", "Connection: X-Ask"], nil),
        (["--compressed", "-F", "a=b", "-H", "X-Ask: 1"], nil), (["-F", "a=b", "-H", "Content-Type: text/plain"], nil),
        (["-F", "a=@-"], nil), (["--digest", "-u", "me:hush"], nil), (["--digest"], "me:hush"), (["-d", ""], nil),
        (["-X", "POST"], nil), (["-I", "-r", "0-1"], nil), (["--json", "{}", "-A", "", "-H", "Accept:"], nil),
    ]

    @Test(arguments: questions)
    func printedFieldsMatchThoseSentInOrder(words: [String], userinfo: String?) async throws {
        let outcome = try await nk(["-v"] + words + [server.url("/", userinfo: userinfo)], input: [1, 2])
        #expect(outcome.code == 0 && !outcome.errors.contains("hush"))
        let printed = outcome.errorLines.filter { $0.hasPrefix("> ") }.dropFirst()
        let sent = server.received().fields.map { field in
            let isSecret = ["authorization", "cookie"].contains(field.name.lowercased())
            return "> \(field.name): \(isSecret ? "[hidden]" : field.value)"
        }
        #expect(Array(printed) == sent)
    }

    @Test func downloadRequestsNoCoding() async throws {
        let folder = try TemporaryFolder()
        let words = ["-v", "--compressed", "-C", "-", "-o", folder.file("out"), "-H", "Accept-Encoding: br"]
        let outcome = try await nk(words + [server.url("/")])
        let printed = outcome.errorLines.filter { $0.lowercased().hasPrefix("> accept-encoding") }
        #expect(outcome.code == 0 && printed == ["> Accept-Encoding: identity"])
        #expect(server.received().values(named: "Accept-Encoding") == ["identity"])
    }
}

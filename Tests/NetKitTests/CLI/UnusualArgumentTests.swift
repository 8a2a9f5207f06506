#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Testing

/// Unusual arguments, files and streams.
@Suite(.timeLimit(.minutes(5)))
struct UnusualArgumentTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
        folder = try TemporaryFolder()
    }

    private var host: String { "127.0.0.1:\(server.port)" }

    // MARK: Streams

    @Test(arguments: [("<&- >&-", 23), ("<&- 2>&-", 0), ("<&- >&- 2>&-", 23)] as [(String, Int32)])
    func closedStandardStreamsAreNotReused(streams: String, code: Int32) async throws {
        let line = "exec \"$0\" \"$@\" \(streams)"
        #expect(try await nk(line: line, server.url("/")).code == code)
        #expect(try await nk(line: line, "http://127.0.0.1:1/").code == 7)
    }

    @Test(arguments: [
        (["-d", "@-"], "hello"), (["--json", "@-"], "hello"), (["--data-urlencode", "a@-"], "a=hello"),
        (["-Z", "-d", "@-"], "hello"), (["-d", "@/dev/stdin"], "hello"),
    ])
    func inputIsReadOnceAndSentToEachURL(words: [String], body: String) async throws {
        let outcome = try await nk(words + [server.url("/1"), server.url("/2")], input: Array("hello".utf8))
        #expect(outcome.code == 0)
        for index in 0...1 {
            #expect(String(decoding: server.received(index).body, as: UTF8.self) == body)
        }
    }

    @Test func inputIsAddedToEachQuery() async throws {
        #expect(
            try await nk(["-G", "-d", "@-", server.url("/1"), server.url("/1")], input: Array("a=1".utf8)).code == 0)
        for index in 0...1 {
            #expect(server.received(index).requestLine == "GET /1?a=1 HTTP/1.1")
        }
    }

    @Test func fieldsAreReadOnceAndSentToEachURL() async throws {
        let fields = Array("X-A: 1\r\n\nX-B;\n".utf8)
        #expect(try await nk(["-H", "@/dev/stdin", server.url("/1"), server.url("/2")], input: fields).code == 0)
        for index in 0...1 {
            let request = server.received(index)
            #expect(request.values(named: "X-A") == ["1"] && request.values(named: "X-B") == [""])
        }
    }

    // MARK: Arguments

    @Test(arguments: ["\u{301}a=1", "\u{200D}", "\u{FE0F}"])
    func valueCanStartWithACombiningCharacter(value: String) async throws {
        let outcome = try await nk("-d\(value)", server.url("/"))
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(String(decoding: server.received().body, as: UTF8.self) == value)
    }

    @Test func accentDoesNotTurnAnOptionIntoAURL() async throws {
        let outcome = try await nk("-\u{301}", server.url("/"))
        #expect(outcome.code == 2 && server.requestCount == 0)
    }

    // MARK: URLs

    @Test func schemeIsRecognizedOnlyAtTheStart() async throws {
        for rest in ["/login?next=https://x/", "/#a://b", "?u=a://b"] {
            #expect(try await nk(host + rest).code == 0)
        }
        #expect(server.received().requestLine == "GET /login?next=https://x/ HTTP/1.1")
    }

    @Test(arguments: [
        "user:s3cret@127.0.0.1:1/?next=http://x", "http:/user:s3cret@127.0.0.1:1/", "http:///user:s3cret@127.0.0.1:1/",
        "http://user:s3cret@127.0.0.1:1/", "http://user:s3cret\u{301}@127.0.0.1:1/\u{301}x@y",
    ])
    func passwordInAURLIsNotPrinted(url: String) async throws {
        let outcome = try await nk("-v", "-w", "%{url} %{url_effective}", url)
        #expect(outcome.code != 0)
        #expect(!outcome.errors.contains("s3cret") && !outcome.text.contains("s3cret"))
    }

    @Test(arguments: [
        "http://me:s3/cret@127.0.0.1:1/", "http://me:s3#cret@127.0.0.1:1/x", "me:s3?cret@127.0.0.1:1",
        "http://:s3/c@ret@127.0.0.1:1/", "https://me:4s3/cret@127.0.0.1:1/",
    ])
    func passwordThatEndsTheHostIsNotPrinted(url: String) async throws {
        for words in [[], ["-v"], ["-O"], ["--resume", "-O"]] {
            let outcome = try await nk(words + ["-w", "%{url} %{url_effective}", url])
            #expect(outcome.code == 3 && outcome.errors.contains("%2F"))
            #expect(!outcome.errors.contains("s3") && !outcome.errors.contains("cret"))
            #expect(outcome.text.contains("127.0.0.1:1") && !outcome.text.contains("cret"))
        }
    }

    @Test(arguments: [
        ["-F", "s3cret"], ["-F", "a=s3cret;s3cret"], ["-F", "a=s3cret;type=s3cret"], ["-F", "a=s3cret;headers=s3cret"],
        ["-F", "a=s3cret;headers=s3cret:"], ["--form-string", "s3cret"], ["-H", "s3cret"],
        ["-H", "Cookie a=s3cret; b"],
        ["-H", "Authorization s3cret"], ["--proxy-header", "s3cret"], ["--user=me:s3cret"], ["--data=s3cret"],
        ["--nonesuch=s3cret"],
    ])
    func unreadableURLIsNotPrinted(words: [String]) async throws {
        let outcome = try await nk(words + [server.url("/")])
        #expect(outcome.code == 2 && outcome.errorLines.count == 1 && server.requestCount == 0)
        let option = String(words[0].prefix { $0 != "=" })
        #expect(!outcome.errors.contains("s3cret") && outcome.errors.contains(option))
    }

    @Test(arguments: ["s3cret", "hush,s3cret", "hush s3cret", "hush, @s3cret", "s3cret:@"])
    func passwordInARedirectIsNotPrinted(password: String) async throws {
        let headers = [
            "Location: http://user:\(password)@\(host)/there", "Refresh: 5; url=//user:\(password)@x/",
            "Link: <https://user:\(password)@x/>; rel=next, <http://y/a@b>; rel=prev",
            "Content-Location: http:/user:\(password)@x/",
        ]
        server.script("/r", Reply(status: 302, headers: headers))
        let words = ["-H", "Referer: http://user:\(password)@y/"]
        let outcome = try await nk(["-v"] + words + [server.url("/r")])
        #expect(!outcome.errors.contains("s3cret") && !outcome.errors.contains("hush"))
        #expect(outcome.errorLines.contains("> Referer: http://y/"))
        #expect(outcome.errorLines.contains("< Refresh: 5; url=//x/"))
        #expect(outcome.errorLines.contains("< Location: http://\(host)/there"))
        #expect(outcome.errorLines.contains("< Link: <https://x/>; rel=next, <http://y/a@b>; rel=prev"))
    }

    /// The pin applies to the host that `nk` connects to, for every spelling of a URL that seems to name another host.
    @Test(arguments: [
        "https://good.example\\@127.0.0.1:PORT/", "https://127.0.0.1:PORT/\u{301}x@good.example/",
        "https://127.0.0.1:PORT?\u{301}x@good.example/", "https://127.0.0.1:PORT/",
        "https:/127.0.0.1:PORT/@good.example",
    ])
    func everySpellingOfAURLIsPinned(url: String) async throws {
        let secure = try LoopbackServer(.valid)
        secure.script("*", .text("ok"))
        let words = ["-k", "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        let urlWithPort = url.split(separator: "PORT", omittingEmptySubsequences: false).joined(
            separator: "\(secure.port)")
        let outcome = try await nk(words + [urlWithPort])
        #expect(outcome.code != 0 && outcome.bytes == [])
        #expect(secure.requestCount == 0)
    }

    @Test func uploadToAFolderAppendsTheNameBeforeTheFragment() async throws {
        try folder.write(Array("x".utf8), to: "f")
        for (index, (urlWithPort, line)) in [
            ("/d/#x", "PUT /d/f HTTP/1.1"), ("/d/", "PUT /d/f HTTP/1.1"), ("#x/", "PUT /f HTTP/1.1"),
        ].enumerated() {
            #expect(try await nk("-T", folder.file("f"), server.url("") + urlWithPort).code == 0)
            #expect(server.received(index).requestLine == line)
        }
        #expect(try await nk("-T", "", server.url("/d/")).code == 0)
        #expect(server.received(3).requestLine == "GET /d/ HTTP/1.1")
    }

    // MARK: Combining characters

    @Test func delimiterIsRecognizedBeforeACombiningCharacter() async throws {
        let accent = "\u{301}"
        #expect(try await nk("-u", "user:\(accent)x", server.url("/")).code == 0)
        #expect(server.received().values(named: "Authorization") == ["Basic dXNlcjrMgXg="])
        #expect(try await nk("-H", "X-A:\(accent)b", "-b", "n=\(accent)", server.url("/")).code == 0)
        let lines = server.receivedBytes(1).split(separator: 10).map { Array($0.dropLast()) }
        #expect(lines.contains(Array("X-A: \(accent)b".utf8)) && lines.contains(Array("Cookie: n=\(accent)".utf8)))
        #expect(try await nk("--data-urlencode", "q=\(accent)x", server.url("/")).code == 0)
        #expect(server.received(2).body == Array("q=%CC%81x".utf8))
        #expect(try await nk("-F", "q=\(accent)x", server.url("/")).code == 0)
        #expect(String(decoding: server.received(3).body, as: UTF8.self).contains("\r\n\r\n\(accent)x\r\n"))
    }

    @Test func remoteFileNameCannotLeaveTheFolder() async throws {
        #expect(unsafe mkdir(folder.file("d"), 0o755) == 0)
        let outcome = try await nk(["-O", server.url("/d/\u{301}x")], folder: folder.path)
        #expect(outcome.code == 0)
        #expect(folder.names == ["d", "\u{301}x"])
    }

    @Test(arguments: ["a@b=c", "@f=1"])
    func equalsSignPrecedesAnAtSign(data: String) async throws {
        #expect(try await nk("--data-urlencode", data, server.url("/")).code == 0)
        #expect(server.received().body == Array(data.utf8))
    }

    // MARK: Text

    @Test(arguments: ["-d \"$(printf 'q=\\351')\"", "-u \"$(printf 'u:\\351')\"", "\"$(printf 'http://h/\\351')\""])
    func invalidUTF8ArgumentsAreRefused(word: String) async throws {
        let outcome = try await nk(line: "exec \"$0\" \"$@\" \(word)", server.url("/"))
        #expect(outcome.code == 2 && server.requestCount == 0)
        #expect(outcome.errors.contains("is not UTF-8"))
    }

    @Test func invalidUTF8FilesAreRefusedAsText() async throws {
        try folder.write([0xE9], to: "latin")
        #expect(try await nk("-G", "-d", "@" + folder.file("latin"), server.url("/")).code == 2)
        #expect(server.requestCount == 0)
    }

    @Test func invalidFieldLineIsNotPrinted() async throws {
        try folder.write(Array("X: 1\n\nghp_s3cret\n".utf8), to: "token.txt")
        let outcome = try await nk("-H", "@" + folder.file("token.txt"), server.url("/"))
        #expect(outcome.code == 2 && server.requestCount == 0)
        #expect(
            outcome.errorLines == [
                "nk: (2) line 3 of \(folder.file("token.txt")) is not a header; use 'Name: value', 'Name;' or 'Name:'"
            ])
    }

    @Test func lineEndingsOfAFormatArePreserved() async throws {
        try folder.write(Array("code: %{http_code}\\n\r\nsize: %{size_download}\n".utf8), to: "format")
        let outcome = try await nk("-o", "/dev/null", "-w", "@" + folder.file("format"), server.url("/"))
        #expect(outcome.text == "code: 200\nsize: 2")
    }

    @Test func pinsAcceptsAProxy() async throws {
        #expect(try await nk("pins", "-x", "127.0.0.1:1", "h.example").code == 7)
    }
}

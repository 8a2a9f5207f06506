#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Testing

/// -F, --form-string and `nk multipart`.
@Suite(.timeLimit(.minutes(5)))
struct FormOptionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Array("hello".utf8), to: "a.txt")
        try folder.write(Array("x".utf8), to: "odd;,\"n.png")
    }

    private func body(_ words: [String], input: [UInt8] = []) async throws -> String {
        let outcome = try await nk(["multipart", "--boundary", "B"] + words, input: input, folder: folder.path)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let type = words.isEmpty ? "application/x-www-form-urlencoded" : "multipart/form-data; boundary=B"
        #expect(
            outcome.errorLines == ["Content-Type: \(type)", "Content-Length: \(outcome.bytes.count)"])
        return outcome.text
    }

    private func part(_ name: String, _ value: String, more: String = "") -> String {
        "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\(more)\r\n\r\n\(value)\r\n"
    }

    @Test(arguments: ["-F", "--form"])
    func fieldHasANameAndAValue(option: String) async throws {
        let text = try await body([option, "a=1", option, "b=", option, "=c", "-Fd=2"])
        #expect(text == part("a", "1") + part("b", "") + part("", "c") + part("d", "2") + "--B--\r\n")
    }

    @Test func fileIncludesItsNameAndType() async throws {
        let plain = "; filename=\"a.txt\"\r\nContent-Type: text/plain"
        #expect(try await body(["-F", "f=@a.txt"]) == part("f", "hello", more: plain) + "--B--\r\n")
        #expect(
            try await body(["-F", "f=@a.txt,a.txt"])
                == part("f", "hello", more: plain) + part("f", "hello", more: plain) + "--B--\r\n")
        let asked = "; filename=\"b;%22c.csv\"\r\nContent-Type: text/csv; charset=utf-8"
        let words = ["-F", #"f=@a.txt; type=text/csv; charset=utf-8 ; filename="b;\"c.csv""#]
        #expect(try await body(words) == part("f", "hello", more: asked) + "--B--\r\n")
        let odd = "; filename=\"odd;,%22n.png\"\r\nContent-Type: image/png"
        #expect(try await body(["-F", #"f=@"odd;,\"n.png""#]) == part("f", "x", more: odd) + "--B--\r\n")
    }

    /// A combining accent forms one `Character` with the preceding mark.
    @Test func combiningAccentDoesNotHideTheDelimiter() async throws {
        let accent = "\u{301}"
        try folder.write(Array("accented".utf8), to: accent)
        #expect(
            try await body(["-F", "f=@\(accent);type=text/x"])
                == part("f", "accented", more: "; filename=\"\(accent)\"\r\nContent-Type: text/x") + "--B--\r\n")
        #expect(try await body(["-F", "f=<\(accent)"]) == part("f", "accented") + "--B--\r\n")
        #expect(try await body(["-F", "f=\"a;\\\"\(accent)b\""]) == part("f", "a;\"\(accent)b") + "--B--\r\n")
    }

    @Test(arguments: [("up", "text/plain"), ("up.odd", "text/plain"), ("up.png", "image/png")])
    func nameWithoutATypeKeepsTheTypeOfTheFile(name: String, type: String) async throws {
        let disposition = "; filename=\"\(name)\"\r\nContent-Type: \(type)"
        #expect(
            try await body(["-F", "f=@a.txt;filename=\(name)"]) == part("f", "hello", more: disposition) + "--B--\r\n")
    }

    @Test func fieldCanHaveTheContentOfAFileOrAType() async throws {
        #expect(try await body(["-F", "f=<a.txt"]) == part("f", "hello") + "--B--\r\n")
        let typed = "\r\nContent-Type: text/html\r\nX-A: 1"
        let words = ["-F", "f=b;type=text/html;headers=\"X-A: 1\"", "-F", "g=\"a;b\""]
        #expect(try await body(words) == part("f", "b", more: typed) + part("g", "a;b") + "--B--\r\n")
    }

    @Test func formStringIsLiteral() async throws {
        let text = try await body(["--form-string", "a=@x;type=y/z", "--form-string", "b=<\"=;"])
        #expect(text == part("a", "@x;type=y/z") + part("b", "<\"=;") + "--B--\r\n")
    }

    @Test func standardInputCanBeAFileOrAField() async throws {
        let file = "; filename=\"-\"\r\nContent-Type: application/octet-stream"
        let piped = try await body(["-F", "f=@-"], input: pattern(200_000))
        let expected = String(decoding: pattern(200_000), as: UTF8.self)
        #expect(piped == part("f", expected, more: file) + "--B--\r\n")
        #expect(try await body(["-F", "f=<-"], input: Array("in".utf8)) == part("f", "in") + "--B--\r\n")
    }

    @Test func emptyFormSendsAnEmptyURLEncodedBody() async throws {
        #expect(try await body([]) == "")
    }

    @Test(arguments: [
        (["-F", "a"], 2, "-F has no '='"), (["-F", "a=1;type=x"], 2, "'a': type="),
        (["-F", "a=1;b"], 2, "'a': expected"),
        (["-F", "a=@"], 2, "'a'"), (["-F", "a=@-", "-F", "b=@-"], 2, "once"), (["-F"], 2, "-F"), (["-x"], 2, "-x"),
        (["-F", "=(;type=multipart/mixed"], 2, "=("), (["-F", "a=1;headers=x"], 2, "'a': headers="),
        (["--boundary", "a\"b"], 2, "byte 1"), (["--boundary", ""], 2, "boundary"),
        (["--boundary", "xyz", "-F", "a=.--xyz"], 2, "byte 1"), (["-F", "a=@gone"], 26, "gone"),
        (["-F", "a=<gone"], 26, "gone"), (["-F", "a=@."], 26, "."), (["-F", "a=1;type=a/b\r\nX: y"], 2, "0x0d"),
    ])
    func unreadableInputPrintsOneLine(words: [String], code: Int32, part: String) async throws {
        let outcome = try await nk(["multipart"] + words, folder: folder.path)
        #expect(outcome.code == code)
        #expect(outcome.bytes.isEmpty)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(part), "\(outcome.errors)")
    }

    @Test func aFormIsPosted() async throws {
        let server = try LoopbackServer()
        server.script("*", .echo)
        let words = ["-F", "a=1", "-F", "f=@a.txt", "-H", "Content-Type: text/wrong", "-w", "%{size_upload}"]
        let outcome = try await nk(words + [server.url("/")], folder: folder.path)
        let request = server.received()
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(request.requestLine == "POST / HTTP/1.1")
        let type = try #require(request.values(named: "Content-Type").first)
        #expect(type.hasPrefix("multipart/form-data; boundary=Boundary+"))
        let length = try #require(request.values(named: "Content-Length").first)
        #expect(outcome.text.hasSuffix("--\r\n" + length))
        #expect(outcome.text.contains("filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"))
    }

    @Test(arguments: [[], ["-Z"]])
    func fieldFromStandardInputIsSentToEveryURL(words: [String]) async throws {
        let server = try LoopbackServer()
        server.script("*", .text("ok"))
        let asked = words + ["-F", "f=<-", "-F", "g=@a.txt", server.url("/1"), server.url("/2")]
        let outcome = try await nk(asked, input: [0xFF, 0x61], folder: folder.path)
        #expect(outcome.code == 0 && outcome.text == "okok" && outcome.errors == "")
        let field = Array("name=\"f\"\r\n\r\n".utf8) + [0xFF, 0x61] + Array("\r\n--".utf8)
        for index in 0..<2 {
            let body = server.received(index).body
            #expect(body.indices.contains { body[$0...].starts(with: field) })
        }
    }

    @Test(arguments: ["f=@-", "f=@a.txt,-", "f=@pipe"])
    func singleUseFileIsSentToOneURL(form: String) async throws {
        let server = try LoopbackServer()
        server.script("*", .text("ok"))
        try #require(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        let words = ["-F", form, server.url("/1"), server.url("/2")]
        let outcome = try await nk(words, input: Array("in".utf8), folder: folder.path)
        #expect(outcome.code == 2 && outcome.bytes == [] && server.requestCount == 0)
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("to one URL only"), "\(outcome.errors)")
    }

    @Test(arguments: [["-X", "GET"], ["-d", "x"], ["--json", "1"], ["-I"], ["-T", "a.txt"]])
    func formExcludesAnyOtherBody(words: [String]) async throws {
        let outcome = try await nk(words + ["-F", "a=1", "http://127.0.0.1:1/"], folder: folder.path)
        #expect(outcome.code == 2 && outcome.errorLines.count == 1)
    }

    @Test func helpFitsAPage() async throws {
        let outcome = try await nk("multipart", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("--boundary") && outcome.errors == "")
    }
}

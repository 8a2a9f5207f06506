import Testing

/// -T, as the server receives it.
@Suite(.timeLimit(.minutes(5)))
struct UploadOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
        folder = try TemporaryFolder()
        try folder.write(Array("contents\r\n".utf8), to: "a file.txt")
    }

    @Test(arguments: ["-T", "--upload-file"])
    func fileIsUploadedUnchanged(option: String) async throws {
        let outcome = try await nk(option, folder.file("a file.txt"), server.url("/place"))
        #expect(outcome.code == 0 && outcome.text == "ok" && outcome.errors == "")
        let request = server.received()
        #expect(request.requestLine == "PUT /place HTTP/1.1")
        #expect(request.values(named: "Content-Length") == ["10"])
        #expect(request.values(named: "Content-Type").isEmpty)
        #expect(request.body == Array("contents\r\n".utf8))
    }

    @Test(arguments: [
        ("/folder/", "PUT /folder/a%20file.txt HTTP/1.1"), ("", "PUT /a%20file.txt HTTP/1.1"),
        ("/folder/?q=/", "PUT /folder/?q=/ HTTP/1.1"),
    ])
    func folderURLGetsTheNameOfTheFile(path: String, line: String) async throws {
        #expect(try await nk("-T", folder.file("a file.txt"), server.url(path)).code == 0)
        #expect(server.received().requestLine == line)
    }

    @Test func nameStartingWithACombiningMarkIsSeparatedFromThePath() async throws {
        try folder.write(Array("x".utf8), to: "\u{301}n")
        #expect(try await nk("-T", folder.file("\u{301}n"), server.url("/folder/")).code == 0)
        #expect(server.received().requestLine == "PUT /folder/%CC%81n HTTP/1.1")
        #expect(try await nk("-F", "f=@\(folder.file("\u{301}n"))", server.url("/")).code == 0)
        let form = String(decoding: server.received(1).body, as: UTF8.self)
        #expect(form.unicodeScalars.contains("\u{301}") && !form.contains(folder.path))
    }

    @Test func standardInputIsSentInChunks() async throws {
        let input = Array(repeating: UInt8(ascii: "x"), count: 300_000)
        let outcome = try await nk(["-T", "-", "-XPOST", server.url("/folder/")], input: input)
        #expect(outcome.code == 0 && outcome.errors == "")
        let request = server.received()
        #expect(request.requestLine == "POST /folder/ HTTP/1.1")
        #expect(request.values(named: "Transfer-Encoding") == ["chunked"])
        #expect(server.receivedByteCount == 300_000)
    }

    @Test(arguments: [
        ["-T", "FILE"], ["-T", "-"], ["-d", "@FILE"], ["-d", "@-"], ["--data-binary", "@FILE"], ["--json", "@FILE"],
    ])
    func chunksAreSentWhenTheFieldRequestsThem(words: [String]) async throws {
        server.script("/again", .redirect(to: "/place", status: 307))
        let words = words.map { $0.replacing("FILE", with: folder.file("a file.txt")) }
        let options = ["-H", "transfer-encoding: Chunked", "-w", "|%{size_upload}", "-v"]
        let outcome = try await nk(words + options + [server.url("/place")], input: Array("contents\r\n".utf8))
        let isStripped = words[0] == "-d"
        #expect(outcome.code == 0 && outcome.text == (isStripped ? "ok|8" : "ok|10"))
        #expect(outcome.errorLines.contains("> Transfer-Encoding: chunked"))
        let request = server.received()
        #expect(request.values(named: "Transfer-Encoding") == ["chunked"])
        #expect(request.values(named: "Content-Length").isEmpty)
        let framed = isStripped ? "8\r\ncontents" : "a\r\ncontents\r\n"
        #expect(request.body == Array((framed + "\r\n0\r\n\r\n").utf8))
        // A file can be sent again, standard input cannot.
        let led = try await nk(words + options + ["-L", server.url("/again")], input: Array("contents\r\n".utf8))
        #expect(led.code == (words == ["-T", "-"] ? 65 : 0))
    }

    @Test func emptyFileIsSentAsABody() async throws {
        try folder.write([], to: "empty")
        #expect(try await nk("-T", folder.file("empty"), server.url("/place")).code == 0)
        #expect(server.received().values(named: "Content-Length") == ["0"])
    }

    @Test func unreadableFileExitsWith26AndSendsNothing() async throws {
        for path in [folder.file("none"), folder.path] {
            let outcome = try await nk("-T", path, server.url("/"))
            #expect(outcome.code == 26)
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains("cannot read \(path): "))
        }
        #expect(server.requestCount == 0)
    }

    @Test func eachURLGetsItsOwnFile() async throws {
        try folder.write(Array("second".utf8), to: "b")
        let words = ["-T", folder.file("a file.txt"), server.url("/1"), "-T", folder.file("b"), server.url("/2")]
        #expect(try await nk(words).text == "okok")
        #expect(server.received(0).body == Array("contents\r\n".utf8))
        #expect(server.received(1).body == Array("second".utf8))
    }

    @Test func dotMeansStandardInput() async throws {
        #expect(try await nk(["-T", ".", server.url("/folder/")], input: [1, 2]).code == 0)
        #expect(server.received().requestLine == "PUT /folder/ HTTP/1.1")
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
    }

    @Test func verbosePrintsWhatIsSent() async throws {
        let file = try await nk("-v", "-T", folder.file("a file.txt"), server.url("/place"))
        #expect(file.errorLines.contains("> Content-Length: 10"))
        let input = try await nk(["-v", "-T", "-", server.url("/place")], input: [1])
        #expect(input.errorLines.contains("> Transfer-Encoding: chunked"))
    }

    @Test func theSizeOfTheUploadIsCounted() async throws {
        let format = "|%{size_upload}"
        #expect(try await nk("-w", format, "-T", folder.file("a file.txt"), server.url("/place")).text == "ok|10")
        #expect(try await nk(["-w", format, "-T", "-", server.url("/place")], input: [1, 2, 3]).text == "ok|3")
    }

    /// The count is that of the last request, also if it fails.
    @Test func uploadedBytesOfTheLastRequestAreCounted() async throws {
        let words = ["-d", "abc", "-L", "-w", "|%{size_upload}"]
        server.script("/moved", .redirect(to: "/place"))
        #expect(try await nk(words + [server.url("/moved")]).text == "ok|0")
        server.script("/gone", Reply(cutAfter: 0, ending: .close))
        let gone = try await nk(words + [server.url("/gone")])
        #expect(gone.code == 52 && gone.text == "|3")
        server.script("/large", .text("too large"))
        let refused = try await nk(words + ["--max-filesize", "3", server.url("/large")])
        #expect(refused.code == 63 && refused.text == "|3")
    }
}

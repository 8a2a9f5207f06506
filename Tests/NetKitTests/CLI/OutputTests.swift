import Testing

/// The destinations of output.
@Suite(.timeLimit(.minutes(5)))
struct OutputTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
    }

    @Test func onlyTheBodyIsWrittenToStandardOutput() async throws {
        let body = Array(UInt8.min...UInt8.max) + Array("no newline at the end".utf8)
        server.script("/", .bytes(body, contentType: "application/octet-stream"))
        let outcome = try await nk(server.url("/"))
        #expect(outcome.code == 0)
        #expect(outcome.bytes == body)
        #expect(outcome.errors == "")
    }

    @Test func largeBodyIsWrittenCompletely() async throws {
        server.script("/", Reply(patternLength: 100 << 20))
        let outcome = try await nk(server.url("/"))
        #expect(outcome.code == 0)
        #expect(outcome.bytes.count == 100 << 20)
        #expect(outcome.bytes.last == UInt8(ascii: "a") + UInt8(((100 << 20) - 1) % 26))
    }

    @Test func anEmptyBodyPrintsNothing() async throws {
        server.script("/", Reply(status: 204))
        let outcome = try await nk(server.url("/"))
        #expect(outcome.code == 0 && outcome.bytes == [] && outcome.errors == "")
    }

    @Test func anErrorStatusIsAResponse() async throws {
        server.script("/", Reply(status: 500, body: Array("broken".utf8)))
        let outcome = try await nk(server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "broken" && outcome.errors == "")
    }

    @Test func failureCanIncludeItsBody() async throws {
        server.script("/", Reply(status: 404, body: Array("none".utf8)))
        server.script("/ok", .text("fine"))
        let outcome = try await nk("--fail-with-body", server.url("/"), server.url("/ok"))
        #expect(outcome.code == 22 && outcome.text == "nonefine")
        #expect(outcome.errorLines == ["nk: (22) HTTP 404 for \(server.url("/"))"])
        let folder = try TemporaryFolder()
        #expect(try await nk("--fail-with-body", "-o", folder.file("f"), server.url("/")).code == 22)
        #expect(folder.contents(of: "f") == Array("none".utf8))
    }

    @Test func optionsForDefaultBehaviorAreAccepted() async throws {
        server.script("/", .text("here"))
        let outcome = try await nk("-q", "-#", "--disable", "--progress-bar", "--remove-on-error", server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "here" && outcome.errors == "")
    }

    @Test func urlWithoutASchemeUsesHTTP() async throws {
        server.script("/", .text("here"))
        #expect(try await nk("127.0.0.1:\(server.port)/").text == "here")
        #expect(try await nk("--", "127.0.0.1:\(server.port)").text == "here")
    }

    @Test(arguments: ["-i", "--include"])
    func includePrintsTheHeadBeforeTheBody(option: String) async throws {
        server.script("/", Reply(status: 201, headers: ["X-A: 1", "X-A: 2", "X-Empty:"], body: Array("b\n".utf8)))
        let outcome = try await nk(option, server.url("/"))
        #expect(outcome.text == "HTTP/1.1 201 \r\nX-A: 1\r\nX-A: 2\r\nX-Empty:\r\nContent-Length: 2\r\n\r\nb\n")
    }

    @Test(arguments: ["-I", "--head"])
    func headSendsHEADAndPrintsTheHead(option: String) async throws {
        server.script("/", .text("body"))
        let outcome = try await nk(option, server.url("/"))
        #expect(outcome.code == 0)
        #expect(outcome.lines.first == "HTTP/1.1 200 ")
        #expect(outcome.lines.contains("Content-Length: 4"))
        #expect(outcome.text.hasSuffix("\r\n\r\n"))
        #expect(server.received().requestLine == "HEAD / HTTP/1.1")
    }

    @Test func headWithAnotherMethodPrintsOnlyTheHead() async throws {
        server.script("/", .text("body"))
        let outcome = try await nk("-I", "-X", "GET", server.url("/"))
        #expect(outcome.text.hasSuffix("\r\n\r\n"))
        #expect(server.received().requestLine == "GET / HTTP/1.1")
    }

    @Test func aClosedPipeEndsQuietly() async throws {
        server.script("/", .text("body"))
        let outcome = try await nk(server.url("/"), output: .closedPipe)
        #expect(outcome.code == 23)
        #expect(outcome.errors == "")
        #expect(try await nk("--help", output: .closedPipe).code == 23)
        #expect(try await nk("--version", output: .closedPipe).code == 23)
        let demo = try await nk("demo", output: .closedPipe)
        #expect(demo.code == 23)
        #expect(demo.errorLines == ["nk: (23) cannot write to standard output: Broken pipe"])
    }

    @Test(arguments: ["/dev/stdout", "/dev/fd/1"])
    func closedPipeNamedByPathEndsQuietly(name: String) async throws {
        server.script("/", .text("body"))
        let outcome = try await nk("-o", name, server.url("/"), output: .closedPipe)
        #expect(outcome.code == 23 && outcome.errors == "")
        let heads = try await nk("-o", "/dev/null", "-D", name, server.url("/"), output: .closedPipe)
        #expect(heads.code == 23 && heads.errors == "")
    }

    @Test(arguments: [[], ["-o", "/dev/stdout"], ["-o", "/dev/null", "-w", "x"], ["-o", "/dev/null", "-D", "-"]])
    func aClosedStandardOutputIsAnError(words: [String]) async throws {
        server.script("/", .text("body"))
        let serverURL = server.url("/")
        let line = "exec \"$0\" \(words.joined(separator: " ")) \"$@\" >&-"
        let outcome = try await nk(line: line, serverURL)
        #expect(outcome.code == 23)
        #expect(outcome.errorLines == ["nk: (23) cannot write to standard output: Bad file descriptor"])
        #expect(try await nk(line: "exec \"$0\" -o /dev/null \"$@\" >&-", serverURL).code == 0)
    }

    @Test func aFullDeviceIsAnError() async throws {
        server.script("/", .text("body"))
        let outcome = try await nk("-o", "/dev/full", server.url("/"))
        #expect(outcome.code == 23)
        #expect(outcome.errorLines == ["nk: (23) cannot write to /dev/full: No space left on device"])
    }
}

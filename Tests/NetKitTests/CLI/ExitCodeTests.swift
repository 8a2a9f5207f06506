import Testing

/// curl's exit codes, each with one line that names the cause.
@Suite(.timeLimit(.minutes(5)))
struct ExitCodeTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
    }

    /// Expects this exit code, empty standard output, and one error line that contains this text.
    private func expect(
        _ code: Int32, naming offender: String, from words: [String], location: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == code, sourceLocation: location)
        #expect(outcome.errorLines.count == 1, sourceLocation: location)
        #expect(outcome.errors.hasPrefix("nk: (\(code)) "), sourceLocation: location)
        #expect(outcome.errors.contains(offender), sourceLocation: location)
    }

    @Test(arguments: ["http://", "http:///path", "http://a b/", "http://127.0.0.1:99999/", "http://[::1/", ""])
    func aBadURLExitsWith3(url: String) async throws {
        try await expect(3, naming: "URL", from: [url])
    }

    @Test func anUnknownSchemeExitsWith1() async throws {
        try await expect(1, naming: "'ftp'", from: ["ftp://127.0.0.1/"])
    }

    @Test func anUnknownHostExitsWith6() async throws {
        try await expect(6, naming: "nohost.invalid", from: ["http://nohost.invalid/"])
    }

    @Test func aRefusedConnectionExitsWith7() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        try await expect(7, naming: "127.0.0.1:\(port.number)", from: ["http://127.0.0.1:\(port.number)/"])
    }

    @Test func truncatedBodyExitsWith18AndPrintsWhatArrived() async throws {
        server.script("/", Reply(body: Array("half a body".utf8), cutAfter: 38 + 4 + 4, ending: .close))
        let outcome = try await nk(server.url("/"))
        #expect(outcome.code == 18)
        #expect("half a body".hasPrefix(outcome.text) && outcome.text != "")
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("127.0.0.1:\(server.port)"))
    }

    @Test(arguments: [
        ("HTTP/1.2 200 OK\r\n\r\n", 1), ("what is this\r\n\r\n", 1),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 56),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 8),
    ])
    func invalidResponseExitsWithCurlsCode(reply: String, code: Int32) async throws {
        server.script("/", .raw(reply))
        try await expect(code, naming: "127.0.0.1:\(server.port)", from: [server.url("/")])
    }

    @Test func statusOfFiveDigitsExitsWithCurlsCode() async throws {
        let isOld = try await nk("--version").text.contains("libcurl/7.")
        server.script("/", .raw("HTTP/1.1 99999 OK\r\n\r\n"))
        try await expect(isOld ? 1 : 8, naming: "127.0.0.1:\(server.port)", from: [server.url("/")])
    }

    @Test(arguments: ["-f", "--fail"])
    func failExitsWith22OnAnErrorStatus(option: String) async throws {
        server.script("/", Reply(status: 503, body: Array("sorry".utf8)))
        let outcome = try await nk(option, server.url("/"))
        #expect(outcome.code == 22 && outcome.bytes == [])
        #expect(outcome.errorLines == ["nk: (22) HTTP 503 for \(server.url("/"))"])
    }

    @Test func failIgnoresOtherStatuses() async throws {
        server.script("/", Reply(status: 304))
        #expect(try await nk("-f", server.url("/")).code == 0)
    }

    @Test func missingDataFileExitsWith26() async throws {
        try await expect(26, naming: folder.file("none"), from: ["-d", "@" + folder.file("none"), server.url("/")])
        #expect(server.requestCount == 0)
    }

    @Test(arguments: [["-m", "0.05"], ["--max-time", "0.05"]])
    func aTransferThatTakesTooLongExitsWith28(words: [String]) async throws {
        server.script("/", Reply(body: Array("late".utf8), cutAfter: 0, ending: .stall))
        try await expect(28, naming: "127.0.0.1:\(server.port)", from: words + [server.url("/")])
    }

    @Test func aConnectionThatTakesTooLongExitsWith28() async throws {
        let silent = try ReservedPort(acceptsConnections: true)
        let url = "https://127.0.0.1:\(silent.number)/"
        try await expect(28, naming: "connecting", from: ["--connect-timeout", "0.05", url])
    }

    @Test func aBrokenHandshakeExitsWith35() async throws {
        let garbage = try LoopbackServer(.garbage)
        try await expect(35, naming: "TLS", from: [garbage.url("/")])
    }

    @Test func emptyResponseExitsWith52() async throws {
        server.script("/", Reply(cutAfter: 0, ending: .close))
        try await expect(52, naming: "127.0.0.1:\(server.port)", from: [server.url("/")])
    }

    @Test func aResetExitsWith56() async throws {
        server.script("/", Reply(cutAfter: 0, ending: .reset))
        try await expect(56, naming: "127.0.0.1:\(server.port)", from: [server.url("/")])
    }

    @Test(arguments: [
        (LoopbackServer.Identity.wrongName, "name"), (.expired, "expired"), (.notYetValid, "not valid yet"),
        (.untrusted, "authority"),
    ])
    func aBadCertificateExitsWith60(identity: LoopbackServer.Identity, reason: String) async throws {
        let secure = try LoopbackServer(identity)
        secure.script("/", .text("secret"))
        try folder.write(secure.authority, to: "ca.pem")
        try await expect(60, naming: reason, from: ["--cacert", folder.file("ca.pem"), secure.url("/")])
        #expect(secure.requestCount == 0)
        #expect(try await nk("-k", secure.url("/")).text == "secret")
        #expect(try await nk("--insecure", secure.url("/")).text == "secret")
    }

    @Test func systemAuthoritiesDoNotTrustTheLoopbackServer() async throws {
        let secure = try LoopbackServer(.valid)
        secure.script("/", .text("secret"))
        try await expect(60, naming: "authority", from: [secure.url("/")])
        try folder.write(secure.authority, to: "ca.pem")
        #expect(try await nk("--cacert", folder.file("ca.pem"), secure.url("/")).text == "secret")
    }

    @Test func aMissingAuthorityFileExitsWith77() async throws {
        let secure = try LoopbackServer(.valid)
        try await expect(77, naming: folder.file("none"), from: ["--cacert", folder.file("none"), secure.url("/")])
    }

    @Test func aBrokenCodingExitsWith61() async throws {
        server.script("/", Reply(headers: ["Content-Encoding: gzip"], body: Array("no gzip".utf8)))
        try await expect(61, naming: "gzip", from: ["--compressed", server.url("/")])
    }

    @Test(arguments: [0, 100])
    func aBodyThatIsTooLargeExitsWith63(chunkBytes: Int) async throws {
        server.script("/", Reply(patternLength: 1025, chunkBytes: chunkBytes))
        for size in ["1024", "1k", "1K"] {
            let outcome = try await nk("--max-filesize", size, server.url("/"))
            // If no length is announced, the limit can only be detected as bytes arrive.
            #expect(outcome.code == 63 && outcome.bytes.count <= (chunkBytes > 0 ? 1024 : 0))
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains("1024"))
        }
        for size in ["1025", "1M", "1g", "0"] {
            #expect(try await nk("--max-filesize", size, server.url("/")).bytes.count == 1025)
        }
    }

    @Test func aHeadThatAnnouncesTooMuchExitsWith63() async throws {
        server.script("/", Reply(patternLength: 1025))
        let outcome = try await nk("-I", "--max-filesize", "1k", server.url("/"))
        #expect(outcome.code == 63 && outcome.lines.contains("Content-Length: 1025"))
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("1024"))
        #expect(try await nk("-I", "--max-filesize", "1025", server.url("/")).code == 0)
    }

    @Test(arguments: [("-s", false), ("--silent", false), ("-sS", true), ("-Ss", true), ("-S", true)])
    func silentHidesTheErrorLineUnlessItIsRequested(option: String, isShown: Bool) async throws {
        let outcome = try await nk(option, "-f", server.url("/missing"))
        #expect(outcome.code == 22)
        #expect(outcome.errorLines.count == (isShown ? 1 : 0))
        #expect(try await nk("-s", "--show-error", "-f", server.url("/missing")).errorLines.count == 1)
    }
}

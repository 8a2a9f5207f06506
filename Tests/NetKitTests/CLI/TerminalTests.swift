#if os(Linux)
import Testing

/// Output of `nk` on a terminal.
@Suite(.timeLimit(.minutes(5)))
struct TerminalTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("/", Reply(patternLength: 50_000, dripBytes: 10_000, dripMilliseconds: 60))
        folder = try TemporaryFolder()
    }

    /// Returns the drawn lines without cursor movements.
    private static func lines(of text: String) -> [String] {
        let plain = text.split(separator: "\u{1b}", omittingEmptySubsequences: false).enumerated().map { index, part in
            index == 0 ? part : part.drop { $0 != "J" && $0 != "A" }.dropFirst()
        }
        return plain.joined().split { $0 == "\r" || $0 == "\n" || $0 == "\r\n" }.map(String.init)
    }

    @Test(arguments: [20, 40, 80] as [UInt16])
    func progressStaysWithinTheWidthAndEndsWithALine(columns: UInt16) async throws {
        let terminal = try PseudoTerminal(columns: columns)
        let outcome = try await nk(["-o", folder.file("out"), server.url("/")], terminal: terminal)
        #expect(outcome.code == 0 && outcome.bytes == [])
        let text = terminal.text
        #expect(text.hasSuffix("\r\n") && text.contains(columns < 40 ? "48.8 K" : "48.8 KiB in "))
        #expect(Self.lines(of: text).allSatisfy { $0.count < Int(columns) })
    }

    @Test func binaryBodyIsPrintedToATerminalOnlyWhenRequested() async throws {
        server.script("/binary", .bytes([65, 0, 66], contentType: "text/plain"))
        server.script("/text", .text("letters"))
        let refusing = try PseudoTerminal(columns: 200)
        let outcome = try await nk(["-s", "-S", server.url("/binary")], output: .terminal, terminal: refusing)
        #expect(outcome.code == 23 && refusing.text.hasPrefix("nk: (23) the body is binary and would be shown"))
        for arguments in [["-o", "-", server.url("/binary")], [server.url("/text")]] {
            let showing = try PseudoTerminal(columns: 200)
            let outcome = try await nk(["-s", "-S"] + arguments, output: .terminal, terminal: showing)
            #expect(outcome.code == 0 && ["A\0B", "letters\r\n"].contains(showing.text))
        }
        let saved = try await nk(["-s", server.url("/binary")])
        #expect(saved.code == 0 && saved.bytes == [65, 0, 66])
    }

    @Test func progressCanBeDisabled() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let words = ["--no-progress-meter", "-o", folder.file("one"), server.url("/")]
        #expect(try await nk(words, terminal: terminal).code == 0)
        #expect(terminal.text == "" && folder.names == ["one"])
    }

    @Test func eachOfSeveralTransfersEndsWithALine() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let outputs = ["-o", folder.file("one"), "-o", folder.file("two"), "-o", folder.file("three")]
        let urls = [server.url("/"), server.url("/missing"), server.url("/")]
        let outcome = try await nk(["-Z", "-f"] + outputs + urls, terminal: terminal)
        #expect(outcome.code == 22 && folder.names == ["one", "three"])
        let ends = Self.lines(of: terminal.text)
        #expect(ends.count(where: { $0.contains("  48.8 KiB in ") }) == 2)
        #expect(ends.contains("nk: (22) HTTP 404 for \(server.url("/missing"))"))
    }

    @Test(arguments: [("-u", "the server", "Authorization"), ("-U", "the proxy", "Proxy-Authorization")])
    func missingPasswordIsPromptedForWithoutEcho(option: String, whom: String, field: String) async throws {
        server.script("/name", .text("body"))
        let terminal = try PseudoTerminal(columns: 80)
        let proxy = option == "-U" ? ["-x", server.url("")] : []
        let run = try start(["-s", option, "me"] + proxy + [server.url("/name")], asking: terminal)
        let question = await terminal.waitForText(endingIn: ": ")
        #expect(question == "Password for me at \(whom): ")
        #expect(!terminal.isEchoing)
        terminal.type("se cret")
        let outcome = await run.ended()
        #expect(outcome.code == 0 && outcome.text == "body")
        #expect(server.received().values(named: field) == ["Basic bWU6c2UgY3JldA=="])
        #expect(terminal.text == "\r\n" && terminal.isEchoing)
    }

    @Test func closedTerminalAtThePasswordPromptIsAnError() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let run = try start(["-s", "-u", "me", server.url("/")], asking: terminal)
        _ = await terminal.waitForText(endingIn: ": ")
        terminal.type("\u{4}")
        let outcome = await run.ended()
        #expect(outcome.code == 2 && terminal.isEchoing && server.requestCount == 0)
        #expect(terminal.text.contains("no password for me"))
    }

    @Test(arguments: [["-s", "-o", "FILE"], ["-sO"], []])
    func progressIsHiddenWithoutAFileOrWhenSilent(words: [String]) async throws {
        server.script("/name", .text("body"))
        let terminal = try PseudoTerminal(columns: 80)
        let words = words.map { $0 == "FILE" ? folder.file("out") : $0 } + [server.url("/name")]
        // Standard output is a regular file unless it is a device.
        let outcome = try await nk(words, output: .device, folder: folder.path, terminal: terminal)
        #expect(outcome.code == 0 && terminal.text == "")
    }
}
#endif

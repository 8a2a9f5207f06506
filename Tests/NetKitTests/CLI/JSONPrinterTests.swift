import Testing

@testable import NetKitCLI

/// JSON that is indented for a reader.
@Suite(.timeLimit(.minutes(5)))
struct JSONPrinterTests {
    private static func printed(_ text: String, pieces: Int = 1000, hasColours: Bool = false) -> String {
        var printer = JSONPrinter(hasColours: hasColours)
        var output: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            output += printer.print(bytes[start..<min(bytes.count, start + pieces)])
        }
        output += printer.end()
        return String(decoding: output, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 3, 1000])
    func membersAndElementsHaveALineEach(pieces: Int) {
        let text = #"{"a":[1, 2,{}],"b" : {"c":null,"d,{":"x\"]}"}, "e":[]}"#
        #expect(
            Self.printed(text, pieces: pieces) == """
                {
                  "a": [
                    1,
                    2,
                    {}
                  ],
                  "b": {
                    "c": null,
                    "d,{": "x\\"]}"
                  },
                  "e": []
                }

                """)
    }

    @Test(arguments: ["12", "true", #""text""#, "", "not JSON", "[1", "}}]", "{\"a\"", "\u{1b}[2J"])
    func otherTextLosesNothingButBlanks(text: String) {
        func letters(_ text: String) -> String { String(text.filter { !$0.isWhitespace }) }
        #expect(letters(Self.printed(text)) == letters(text.replacing("\u{1b}", with: "\\u001b")))
    }

    @Test func controlCharactersAreEscaped() {
        #expect(Self.printed("[\"a\u{1b}[31m\u{7f}\"]") == "[\n  \"a\\u001b[31m\\u007f\"\n]\n")
    }

    @Test func namesStringsAndWordsHaveDifferentColours() {
        #expect(
            Self.printed(#"{"a":"b","c":1}"#, hasColours: true)
                == "{\n  \u{1b}[34m\"a\"\u{1b}[0m: \u{1b}[32m\"b\"\u{1b}[0m,\n  \u{1b}[34m\"c\"\u{1b}[0m: \u{1b}[36m1\u{1b}[0m\n}\n"
        )
    }

    @Test func deepNestingIsIndentedToALimit() {
        let text = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(Self.printed(text).utf8.count < 3_000_000)
    }

    @Test func pipeGetsTheBytesOfTheServerUnlessPrettyIsGiven() async throws {
        let server = try LoopbackServer()
        server.script("/", .json(#"{"a":1}"#))
        server.script("/problem", .text(#"{"a":1}"#, contentType: "application/problem+json; charset=utf-8"))
        server.script("/text", .text(#"{"a":1}"#))
        #expect(try await nk(server.url("/")).text == #"{"a":1}"#)
        #expect(try await nk("--pretty", server.url("/")).text == "{\n  \"a\": 1\n}\n")
        #expect(try await nk("--pretty", server.url("/problem")).text == "{\n  \"a\": 1\n}\n")
        #expect(try await nk("--pretty", server.url("/text")).text == #"{"a":1}"#)
        #expect(try await nk("--pretty", "--color", server.url("/")).text.contains("\u{1b}[34m"))
        let folder = try TemporaryFolder()
        #expect(try await nk("--pretty", "-o", folder.file("f"), server.url("/")).code == 0)
        #expect(folder.contents(of: "f").map { String(decoding: $0, as: UTF8.self) } == #"{"a":1}"#)
    }

    #if os(Linux)
    @Test func terminalGetsIndentedJSONAndALineEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", .json(#"{"a":1}"#))
        server.script("/missing", Reply(status: 404, headers: ["Content-Type: text/plain"], body: Array("no".utf8)))
        let terminal = try PseudoTerminal(columns: 80)
        #expect(try await nk(["--no-color", server.url("/")], output: .terminal, terminal: terminal).code == 0)
        #expect(terminal.text == "{\r\n  \"a\": 1\r\n}\r\n")
        let raw = try PseudoTerminal(columns: 80)
        #expect(try await nk(["--no-pretty", server.url("/")], output: .terminal, terminal: raw).code == 0)
        #expect(raw.text == "{\"a\":1}\r\n")
        let failing = try PseudoTerminal(columns: 80)
        #expect(try await nk([server.url("/missing")], output: .terminal, terminal: failing).code == 0)
        #expect(failing.text == "HTTP/1.1 404, text/plain\r\nno\r\n")
        let verbose = try PseudoTerminal(columns: 80)
        #expect(try await nk(["-v", server.url("/missing")], output: .terminal, terminal: verbose).code == 0)
        #expect(verbose.text.contains("no\r\n* "))
    }
    #endif
}

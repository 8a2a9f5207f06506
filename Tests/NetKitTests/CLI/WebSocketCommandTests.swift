import NetKit
import Testing

@testable import NetKitCLI

/// `nk ws`, with the servers of `nk serve --echo` and `nk mock`.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketCommandTests {
    private static let document = #"""
        {"routes": [
          {"path": "/feed", "reply": {"headers": {"Sec-WebSocket-Protocol": "v2"}, "websocket": [
            {"text": "{ \"a\" : 1e2 }"}, {"base64": "AP8="}, {"ping": ""}, {"json": [true]}, {"close": 1000, "reason": "done"}]}},
          {"path": "/turns", "reply": {"websocket": [{"text": "first"}, "wait", {"text": "second"}, {"close": 1001}]}},
          {"path": "/full", "reply": {"websocket": [{"close": 4001, "reason": "full"}]}},
          {"path": "/end", "reply": {"websocket": [{"text": "one"}, "end"]}},
          {"path": "/reset", "reply": {"websocket": ["reset"]}},
          {"path": "/malformed", "reply": {"websocket": [{"frame_base64": "/wA="}]}},
          {"path": "/latin", "reply": {"websocket": [{"frame_base64": "gQH8"}]}},
          {"path": "/quiet", "reply": {"websocket": ["wait"]}},
          {"path": "/plain", "reply": {"body": "no WebSocket"}}
        ]}
        """#

    /// Starts `nk mock` with the document, and returns it with the URL for WebSockets.
    private func mock(_ options: String...) async throws -> (server: Served, url: String) {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.document.utf8), to: "mock.json")
        let server = try await Served(["mock"] + options + [folder.file("mock.json")])
        return (server, "ws" + server.url.dropFirst("http".count))
    }

    private func echo(_ options: String...) async throws -> (server: Served, url: String) {
        let server = try await Served(["serve", "--echo"] + options)
        return (server, "ws" + server.url.dropFirst("http".count))
    }

    @Test func linesAreSentAndMessagesArePrinted() async throws {
        let (server, url) = try await echo()
        let outcome = try await nk(["ws", url], input: Array("hello\n\nMalm\u{F6}".utf8))
        #expect(outcome.text == "hello\n\nMalm\u{F6}\n" && outcome.code == 0 && outcome.errors == "")
        let binary = try await nk(["ws", "--binary", "--compressed", url], input: Array("00 fF\r\n\n61\n".utf8))
        #expect(binary.text == "00ff\n\n61\n" && binary.code == 0)
        let lines = (0..<20_000).map { "line \($0)\n" }.joined()
        #expect(try await nk(["ws", String(url.dropFirst(5))], input: Array(lines.utf8)).text == lines)
        #expect(await server.ended().errorLines == Array(repeating: "101 GET / 0", count: 3))
    }

    @Test func messagesAreOneLineEach() async throws {
        let (server, url) = try await mock()
        defer { server.run.end() }
        let plain = try await nk("ws", "--subprotocol", "v2", "--keep-open", "\(url)/feed")
        #expect(plain.text == "{ \"a\" : 1e2 }\n00ff\n[true]\n" && plain.code == 0)
        let json = try await nk("ws", "--subprotocol", "v2", "--json", "--keep-open", "\(url)/feed")
        #expect(json.text == "{\"a\":1e2}\n[true]\n" && json.code == 103)
        #expect(json.errorLines.count == 1 && json.errors.hasPrefix("nk: message 2 is not JSON"))
    }

    @Test func serverMayReplyToALine() async throws {
        let (server, url) = try await mock("--count", "1")
        let outcome = try await nk(["ws", "--keep-open", "\(url)/turns"], input: Array("go\n".utf8))
        #expect(outcome.text == "first\nsecond\n" && outcome.code == 0)
        let logged = await server.run.ended()
        #expect(logged.code == 0 && logged.lines.count == 2 && logged.lines[1].contains(#""status":101"#))
    }

    @Test func countClosesTheSocket() async throws {
        let (server, url) = try await echo()
        defer { server.run.end() }
        let input = Array("1\n2\n3\n".utf8)
        let outcome = try await nk(["ws", "--count", "2", "--keep-open", url], input: input)
        #expect(outcome.text == "1\n2\n" && outcome.code == 0 && outcome.errors == "")
    }

    @Test(arguments: [
        ("full", 111, "code 4001: full"), ("end", 111, ""), ("reset", 111, ""), ("malformed", 110, ""),
        ("latin", 110, "UTF-8"), ("plain", 109, "status 200"), ("none", 109, "status 404"),
    ])
    func eachKindOfEndHasItsExitCode(path: String, code: Int32, message: String) async throws {
        let (server, url) = try await mock()
        defer { server.run.end() }
        let outcome = try await nk("ws", "--keep-open", "\(url)/\(path)")
        #expect(outcome.code == code)
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("nk: (\(code)) "))
        #expect(outcome.errors.contains(message))
        #expect(outcome.text == (path == "end" ? "one\n" : ""))
    }

    @Test func verboseOutputShowsHandshakeAndCloseFrame() async throws {
        let (server, url) = try await mock()
        defer { server.run.end() }
        let words = ["ws", "-v", "-H", "X-Room: 7", "--subprotocol", "v1", "--subprotocol", "v2", "--keep-open"]
        let outcome = try await nk(words + ["\(url)/feed"])
        let lines = outcome.errorLines
        #expect(lines.contains("> GET /feed HTTP/1.1") && lines.contains("> X-Room: 7"))
        #expect(lines.contains("< HTTP/1.1 101") && lines.contains("< Sec-WebSocket-Protocol: v2"))
        #expect(lines.last == "* the server closed with code 1000: done")
        let cut = try await nk("ws", "-v", "--keep-open", "\(url)/end")
        #expect(cut.errorLines.contains("* ended without a close frame of the server"))
        let refused = try await nk("ws", "-v", "\(url)/plain")
        #expect(refused.errorLines.contains("< HTTP/1.1 200"))
    }

    @Test func pingsAreSentAtTheInterval() async throws {
        let (server, url) = try await mock()
        defer { server.run.end() }
        let folder = try TemporaryFolder()
        let line = #"""
            "$0" ws -v --ping-interval 0.01 --keep-open "$1" >"$2" 2>&1 & run=$!
            until grep -q '^\* pong after' "$2"; do kill -0 $run || exit 1; done
            kill $run; wait $run; echo $?
            """#
        let outcome = try await nk(line: line, "\(url)/quiet", folder.file("log"))
        #expect(outcome.text == "143\n" && outcome.code == 0)
    }

    @Test func linesThatCannotBeSentAreReported() async throws {
        let (server, url) = try await echo()
        defer { server.run.end() }
        for (words, line) in [(["--binary"], "0g"), (["--binary"], "000"), ([], "\u{FF}")] {
            let bytes = line == "\u{FF}" ? [0xFF] : Array(line.utf8)
            let outcome = try await nk(["ws"] + words + [url], input: Array("61\n".utf8) + bytes)
            #expect(outcome.text == "61\n" && outcome.code == 26)
            #expect(outcome.errors.hasPrefix("nk: (26) line 2 of standard input is not "))
        }
    }

    @Test func requestOptionsApplyToTheHandshake() async throws {
        let folder = try TemporaryFolder()
        let (server, secure) = try await echo("--tls", folder.file("ca.pem"))
        defer { server.run.end() }
        let input = Array("x\n".utf8)
        #expect(try await nk(["ws", "--cacert", folder.file("ca.pem"), secure], input: input).text == "x\n")
        #expect(try await nk(["ws", "-k", secure], input: input).text == "x\n")
        #expect(try await nk("ws", secure).code == 60)
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        #expect(try await nk("ws", "--cacert", folder.file("ca.pem"), "--pinnedpubkey", pin, secure).code == 90)
        #expect(try await nk("ws", "--proto", "=https", "ws://127.0.0.1:1/").code == 1)
        #expect(try await nk("ws", "ws://127.0.0.1:1/").code == 7)
        let (other, plain) = try await echo()
        defer { other.run.end() }
        let proxy = try ProxyServer()
        #expect(try await nk(["ws", "-x", proxy.url, plain], input: input).text == "x\n")
        let local = try LoopbackServer(unixPath: folder.file("socket"))
        local.echoMessages(at: "/")
        let unix = ["ws", "--unix-socket", folder.file("socket"), "ws://name.test/"]
        #expect(try await nk(unix, input: input).text == "x\n")
    }

    @Test(arguments: [
        (["-d", "x", "ws://a"], "-d"), (["-o", "f", "ws://a"], "-o"), (["ws://a", "ws://b"], "one URL"),
        ([], "no URL"),
        (["--count", "0", "ws://a"], "'0'"), (["--ping-interval", "x", "ws://a"], "'x'"),
        (["--bad", "ws://a"], "--bad"),
        (["--subprotocol", "a b", "ws://127.0.0.1:1/"], "subprotocol"), (["ws://a", "--next", "ws://b"], "--next"),
    ])
    func wrongArgumentsAreUsageErrors(words: [String], message: String) async throws {
        let outcome = try await nk(["ws"] + words)
        #expect(outcome.code == 2 && outcome.errorLines.count == 1 && outcome.errors.contains(message))
    }
}

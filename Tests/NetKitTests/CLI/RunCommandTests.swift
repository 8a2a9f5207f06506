import NetKit
import Testing

/// `nk run` over loopback.
@Suite(.timeLimit(.minutes(5)))
struct RunCommandTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/login", .json(#"{"id": 7, "token": "b c"}"#))
        server.script("/bad", Reply(status: 503))
        server.script("*", .json(#"{"ok": true}"#))
    }

    private func run(_ text: String, _ options: String...) async throws -> Outcome {
        let text = text.replacing("BASE", with: server.url(""))
        return try await nk(["run"] + options + ["-"], input: Array(text.utf8))
    }

    private var requests: [ReceivedRequest] { (0..<server.requestCount).map { server.received($0) } }

    @Test func chainPassesValuesToLaterSteps() async throws {
        let outcome = try await run(
            #"""
            {"kind": "chain", "base": "BASE", "headers": {"X-All": "1"}, "steps": [
              {"name": "login", "url": "/login", "json": {"user": "bang"}},
              {"url": "/users/${login/token}", "query": {"id": "${login/id}"}, "headers": {"X-Token": "${login/token}"}},
              {"url": "/last", "method": "PUT", "json": {"id": "${login/id}", "ok": "${2/ok}"}}]}
            """#)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(
            requests.map(\.requestLine) == [
                "POST /login HTTP/1.1", "GET /users/b%20c?id=7 HTTP/1.1", "PUT /last HTTP/1.1",
            ])
        #expect(requests.map { $0.values(named: "X-All") } == [["1"], ["1"], ["1"]])
        #expect(requests[1].values(named: "X-Token") == ["b c"])
        #expect(String(decoding: requests[2].body, as: UTF8.self) == #"{"id":7,"ok":true}"#)
        #expect(outcome.lines.count { $0.contains("200") } == 3)
    }

    @Test func firstFailureEndsAChain() async throws {
        let outcome = try await run(
            #"{"kind":"chain","base":"BASE","steps":[{"url":"/a"},{"name":"unlucky","url":"/bad"},{"url":"/c"}]}"#)
        #expect(outcome.code == 22)
        #expect(requests.count == 2)
        #expect(outcome.text.contains("unlucky") && outcome.text.contains("503") && outcome.text.contains("unsent"))
    }

    @Test func collectingBatchContinuesAfterAFailure() async throws {
        let outcome = try await run(
            #"{"base":"BASE","collect":true,"limit":1,"steps":[{"url":"/a"},{"url":"/bad"},{"url":"/c"}]}"#, "--json")
        #expect(outcome.code == 22)
        let report = try JSONValue(parsing: outcome.text)
        #expect(report["steps"]?.array?.map { $0["status"]?.int } == [200, 503, 200])
        #expect(report["exit_code"]?.int == 22)
        #expect(requests.map(\.requestLine).map { $0.split(separator: " ")[1] } == ["/a", "/bad", "/c"])
    }

    @Test func aBatchEndsWithItsFirstFailure() async throws {
        let outcome = try await run(#"{"base":"BASE","limit":1,"steps":[{"url":"/bad"},{"url":"/c"}]}"#)
        #expect(outcome.code == 22)
        #expect(requests.count == 1)
    }

    @Test func statusCanBeAllowed() async throws {
        #expect(try await run(#"{"base":"BASE","steps":[{"url":"/bad","status":[500,599]}]}"#).code == 0)
    }

    @Test func refusedConnectionExitsWith7() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let outcome = try await run(#"{"steps":[{"url":"http://127.0.0.1:\#(port.number)/"}]}"#)
        #expect(outcome.code == 7)
        #expect(outcome.text.contains("refused"))
    }

    @Test func missingValueInAResponseFailsTheStep() async throws {
        let outcome = try await run(#"{"kind":"chain","base":"BASE","steps":[{"url":"/a"},{"url":"/${1/none}"}]}"#)
        #expect(outcome.code == 2)
        #expect(outcome.text.contains("/none"))
        #expect(requests.count == 1)
    }

    @Test(arguments: [
        (["run"], "needs a file"), (["run", "a", "b"], "accepts one file"), (["run", "--other", "a"], "--other"),
    ])
    func unreadableDocumentPrintsOneLineAndExitsWith2(words: [String], offender: String) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func invalidFileIsReportedWithItsPositionBeforeAnythingIsSent() async throws {
        let outcome = try await run("{\"base\": \"BASE\", \"steps\": [\n{\"url\": \"/a\"}, {\"url\": 7}]}")
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errors.hasPrefix("nk: (2) standard input:2:24: expected string, found number"))
        #expect(requests.isEmpty)
    }

    @Test func missingFileExitsWith26() async throws {
        let outcome = try await nk("run", "/nonexistent/file")
        #expect(outcome.code == 26 && outcome.errors.contains("/nonexistent/file"))
    }

    @Test func commandHasItsOwnHelp() async throws {
        let outcome = try await nk("run", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("--json"))
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
    }

    #if os(Linux)
    @Test(arguments: [40, 80])
    func reportFitsTheTerminalWidth(columns: UInt16) async throws {
        let terminal = try PseudoTerminal(columns: columns)
        let folder = try TemporaryFolder()
        let text = #"{"base":"\#(server.url(""))","steps":[{"name":"a name that is long","url":"/bad"}]}"#
        try folder.write(Array(text.utf8), to: "run.json")
        let outcome = try await terminal.watched {
            try await nk(["run", folder.file("run.json")], terminal: terminal)
        }
        #expect(outcome.code == 22)
        #expect(outcome.lines.allSatisfy { $0.count <= Int(columns) })
        #expect(outcome.lines.contains { $0.count > Int(columns) - 8 })
    }
    #endif
}

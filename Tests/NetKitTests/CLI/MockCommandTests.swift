#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import NetKit
import Testing

@testable import NetKitCLI

/// `nk mock`: a server that responds as a file describes.
@Suite(.timeLimit(.minutes(5)))
struct MockCommandTests {
    private static let document = #"""
        {"routes": [
          {"method": "GET", "path": "/users/*", "reply": {"json": {"id": 7}, "headers": {"X-A": ["1", "2"]}}},
          {"path": "/seq", "replies": [{"status": 503}, {"body": "fine"}]},
          {"path": "/turns", "cycle": true, "replies": [{"body": "a"}, {"body": "b"}]},
          {"path": "/cut", "reply": {"body": "0123456789", "fault": "truncate", "after_bytes": 3}},
          {"path": "/reset", "reply": {"fault": "reset"}},
          {"path": "/close", "reply": {"fault": "close"}},
          {"path": "/garbage", "reply": {"fault": "garbage"}},
          {"path": "/slow", "reply": {"base64": "AP8=", "delay_ms": 1, "drip_bytes": 9, "drip_ms": 1}},
          {"path": "/q", "query": {"a": "1 2"}, "reply": {"file": "body.json"}}
        ], "otherwise": {"status": 418}}
        """#

    @Test func requestsAreServedAndLogged() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.document.utf8), to: "mock.json")
        try folder.write(Array("[1]".utf8), to: "body.json")
        let server = try await Served(["mock", "--count", "13", folder.file("mock.json")])
        func runResult(_ path: String, _ words: String...) async throws -> Outcome {
            try await nk(["-s", "-w", "|%{http_code} %{content_type}"] + words + ["\(server.url)\(path)"])
        }
        #expect(try await runResult("/users/1").text == #"{"id":7}|200 application/json"#)
        #expect(try await runResult("/users/1", "-d", "x=1").text == "|418 ")
        #expect(try await runResult("/seq").text == "|503 ")
        #expect(try await runResult("/seq").text == "fine|200 text/plain; charset=utf-8")
        #expect(try await runResult("/seq").text.hasPrefix("fine"))
        for letter in ["a", "b", "a"] {
            #expect(try await runResult("/turns").text.hasPrefix("\(letter)|"))
        }
        #expect(try await runResult("/cut").code == 18)
        #expect(try await runResult("/reset").code == 56)
        #expect(try await runResult("/close").code == 52)
        #expect(try await runResult("/slow").bytes.starts(with: [0, 0xFF]))
        #expect(try await runResult("/q?b=&a=1+2").text == "[1]|200 application/json")
        let outcome = await server.run.ended()
        #expect(outcome.code == 0 && outcome.errors == "")
        let logged = try outcome.lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(logged.count == 13)
        #expect(logged[1]["method"] == "POST" && logged[1]["body"] == "x=1" && logged[1]["route"]?.isNull == true)
        #expect(logged[2]["target"] == "/seq" && logged[2]["route"] == 1 && logged[2]["status"] == 503)
        #expect(logged[12]["number"] == 13)
        #expect(logged[0]["headers"]?.array?.contains(["Accept", "*/*"]) == true)
    }

    @Test func webSocketRequiresAHandshake() async throws {
        let document = #"{"routes": [{"path": "/chat", "reply": {"websocket": [{"text": "hi"}, "echo"]}}]}"#
        let folder = try TemporaryFolder()
        try folder.write(Array(document.utf8), to: "mock.json")
        let server = try await Served(["mock", "--count", "1", folder.file("mock.json")])
        #expect(try await nk("-w", "%{http_code}", "\(server.url)/chat").text == "426")
        let logged = try await server.run.ended().lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(logged.map { $0["status"] } == [426])
    }

    @Test func chunkedBodyIsLoggedWithoutItsFraming() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(#"{"routes": []}"#.utf8), to: "mock.json")
        let server = try await Served(["mock", "--count", "2", folder.file("mock.json")])
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        #expect(try await nk(["-T", "-", "\(server.url)/"], input: Array("a\r\nb".utf8)).code == 0)
        #expect(try await nk(["-T", "-", "\(server.url)/"], input: large).code == 0)
        let logged = try await server.run.ended().lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(logged.first?["body"] == "a\r\nb" && logged.first?["missing_bytes"] == nil)
        let beginning = try #require(logged.last?["body"]?.string)
        #expect(beginning.utf8.count > 60_000 && beginning.utf8.allSatisfy { $0 == UInt8(ascii: "x") })
        #expect(logged.last?["missing_bytes"]?.int == 200_000 - beginning.utf8.count)
    }

    @Test func requestMustMatchTheSchemaOfItsReply() async throws {
        let document = #"""
            {"routes": [
              {"path": "/inline", "reply": {"body": "ok", "request_schema":
                {"properties": {"age": {"minimum": 0}, "day": {"format": "date"}}, "required": ["age"]}}},
              {"path": "/file", "replies": [{"body": "1", "request_schema": "schema.json"}, {"body": "2"}]}]}
            """#
        let folder = try TemporaryFolder()
        try folder.write(Array(document.utf8), to: "mock.json")
        try folder.write(Array("false".utf8), to: "schema.json")
        let server = try await Served(["mock", "--count", "6", folder.file("mock.json")])
        func exchange(_ path: String, _ words: String...) async throws -> Outcome {
            try await nk(["-s", "-w", "|%{http_code} %{content_type}"] + words + ["\(server.url)\(path)"])
        }
        #expect(try await exchange("/inline", "--json", #"{"age": 1}"#).text.hasPrefix("ok|200 "))
        let refused = try await exchange("/inline", "--json", #"{"age": -1}"#).text
        let parts = refused.split(separator: "|")
        let problem = try JSONValue(Bytes(Array((parts.first ?? "").utf8)))
        #expect(parts.last == "422 application/problem+json")
        #expect(problem["status"] == 422 && problem["title"] == "Unprocessable Content")
        #expect(problem["instanceLocation"] == "/age" && problem["keywordLocation"] == "#/properties/age/minimum")
        let detail = "line 1, column 9: expected at least 0, found -1, at /age (#/properties/age/minimum)"
        #expect(problem["detail"] == .string(detail) && problem["line"] == 1 && problem["column"] == 9)
        #expect(try await exchange("/inline").text.hasSuffix("|400 application/problem+json"))
        #expect(
            try await exchange("/inline", "--json", #"{"age": 1, "day": "x"}"#).text.hasSuffix(
                "|422 application/problem+json"))
        #expect(try await exchange("/file", "-d", "1").text.hasSuffix("|422 application/problem+json"))
        #expect(try await exchange("/file", "-d", "1").text.hasPrefix("2|200 "))
        let logged = try await server.run.ended().lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(logged.map { $0["status"] } == [200, 422, 400, 422, 422, 200])
        #expect(logged.map { $0["mismatch"] == nil } == [true, false, false, false, false, true])
        #expect(logged.dropFirst().first?["mismatch"] == .string(detail))
    }

    @Test func checkedRequestBodyHasALimit() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(#"{"routes": [{"path": "/", "reply": {"request_schema": true}}]}"#.utf8), to: "mock.json")
        let server = try await Served(["mock", "--count", "1", folder.file("mock.json")])
        let spaces = [UInt8](repeating: UInt8(ascii: " "), count: 65 << 20)
        let outcome = try await nk(["-w", "|%{http_code}", "-T", "-", "\(server.url)/"], input: spaces)
        #expect(outcome.text.contains("a body that is checked has at most 64 MiB"))
        #expect(outcome.text.hasSuffix("|413"))
        #expect(await server.run.ended().code == 0)
    }

    @Test func closedOutputEndsTheCommandSilently() async throws {
        let outcome = try await nk(["mock", "-"], input: Array(#"{"routes": []}"#.utf8), output: .closedPipe)
        #expect(outcome.code == 23 && outcome.errors == "")
    }

    @Test(arguments: [
        (#"{"routes": [{"path": "x", "reply": {}}]}"#, "/routes/0/path"),
        (#"{"routes": [{"path": "/x"}]}"#, "found neither, at /routes/0"),
        (#"{"routes": [{"path": "/x", "reply": {}, "replies": [{}]}]}"#, "found both"),
        (#"{"routes": [{"path": "/x", "replies": []}]}"#, "/routes/0/replies"),
        (#"{"routes": [{"path": "/x", "reply": {"status": 99}}]}"#, "/routes/0/reply/status"),
        (#"{"routes": [{"path": "/x", "reply": {"faul": 1}}]}"#, "/routes/0/reply/faul"),
        (#"{"routes": [{"path": "/x", "reply": {"body": "a", "json": 1}}]}"#, "body and json"),
        (#"{"routes": [{"path": "/x", "reply": {"base64": "*"}}]}"#, "expected base64"),
        (#"{"routes": [{"path": "/x", "method": "GET POST", "reply": {}}]}"#, "expected a method, found \"GET POST\""),
        (#"{"routes": [{"path": "/x", "reply": {"after_bytes": 1}}]}"#, "after_bytes alone"),
        (#"{"routes": [{"path": "/x", "reply": {"drip_ms": 1}}]}"#, "drip_ms alone"),
        (#"{"routes": [{"path": "/x", "reply": {"headers": {"A": 1}}}]}"#, "/routes/0/reply/headers/A"),
        (#"{"routes": [{"path": "/x", "reply": {"headers": {"A B": "1"}}}]}"#, "/routes/0/reply/headers/A B"),
        (#"{"routes": [{"path": "/x", "reply": {"headers": {"": "1"}}}]}"#, "/routes/0/reply/headers/"),
        (#"{"routes": [{"path": "/x", "reply": {"headers": {"A": "1\r\nB: 2"}}}]}"#, "control character, at"),
        (#"{"routes": [{"path": "/x?a=1", "reply": {}}]}"#, "without a query"),
        (#"{"routes": [{"path": "/x", "query": {"A": 1}, "reply": {}}]}"#, "/routes/0/query/A"),
        (#"{"routes": [{"path": "/x", "query": {"a/b": 1}, "reply": {}}]}"#, "/routes/0/query/a~1b"),
        (#"{"routes": [{"path": "/x", "reply": {"headers": {"a/b": "1"}}}]}"#, "/reply/headers/a~1b"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": ["x"]}}]}"#, "at /routes/0/reply/websocket/0"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [{"text": 1}]}}]}"#, "/routes/0/reply/websocket/0"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [{"text": "a", "ping": ""}]}}]}"#, "websocket/0"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [{"base64": "*"}]}}]}"#, "websocket/0/base64"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [{"close": 999}]}}]}"#, "websocket/0/close"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [{"close": 1000, "reason": 1}]}}]}"#, "/0/reason"),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [], "status": 200}}]}"#, "found \"status\""),
        (#"{"routes": [{"path": "/x", "reply": {"websocket": [], "request_schema": true}}]}"#, "\"request_schema\""),
        (#"{"routes": [{"path": "/x", "reply": {"request_schema": 1}}]}"#, "at /routes/0/reply/request_schema"),
        (#"{"routes": [{"path": "/x", "reply": {"request_schema": {"type": "text"}}}]}"#, "schema: at #/type: "),
        (#"{"routes": 1}"#, "/routes"), ("{", "not JSON"), ("", "not JSON"),
    ])
    func invalidFilePrintsOneLineWithThePosition(text: String, offender: String) async throws {
        let outcome = try await nk(["mock", "-"], input: Array(text.utf8))
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func missingFileIsNamed() async throws {
        let text = #"{"routes": [{"path": "/x", "reply": {"file": "/nothing/here"}}]}"#
        let outcome = try await nk(["mock", "-"], input: Array(text.utf8))
        #expect(outcome.code == 26 && outcome.errors.contains("/nothing/here"))
        #expect(try await nk("mock", "/nothing/there").code == 26)
        #expect(try await nk("mock").code == 2)
        #expect(try await nk("mock", "--count", "0", "x").errors.contains("'0'"))
    }

    @Test(arguments: ["/dev/zero", "pipe", "folder", "/dev/null"])
    func onlyRegularFilesAreServed(file: String) async throws {
        let folder = try TemporaryFolder()
        try #require(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        try #require(unsafe mkdir(folder.file("folder"), 0o700) == 0)
        defer { unsafe rmdir(folder.file("folder")) }
        try folder.write(Array(Self.document(serving: file).utf8), to: "mock.json")
        let outcome = try await nk("mock", folder.file("mock.json"))
        let documentPath = file.hasPrefix("/") ? file : folder.file(file)
        #expect(outcome.code == 26 && outcome.bytes == [])
        #expect(outcome.errorLines == ["nk: (26) cannot read \(documentPath): not a regular file"])
    }

    @Test func servedFileSizeIsLimited() async throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "large")
        try #require(unsafe truncate(folder.file("large"), off_t(InputFile.maxDataBytes) + 1) == 0)
        try folder.write(Array(Self.document(serving: "large").utf8), to: "mock.json")
        let outcome = try await nk("mock", folder.file("mock.json"))
        #expect(outcome.errorLines == ["nk: (26) cannot read \(folder.file("large")): File too large"])
    }

    @Test func fileNamedHyphenIsNotStandardInput() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.document(serving: "-").utf8), to: "mock.json")
        let outcome = try await nk(["mock", "mock.json"], input: [UInt8](repeating: 97, count: 3), folder: folder.path)
        #expect(outcome.code == 26 && outcome.errorLines == ["nk: (26) cannot read ./-: No such file or directory"])
    }

    private static func document(serving file: String) -> String {
        #"{"routes": [{"path": "/x", "reply": {"file": "\#(file)"}}]}"#
    }

    @Test(arguments: [
        ("/a", "/a", true), ("/a", "/a/", false), ("/*", "/a", true), ("/*", "/", false), ("/*", "/a/b", false),
        ("/**", "/", true), ("/**", "/a/b", true), ("/a/**/z", "/a/z", true), ("/a/**/z", "/a/b/c/z", true),
        ("/a/**/z", "/a/b", false), ("/a/*/c", "/a/b/c", true), ("/%61", "/a", true), ("/a b", "/a%20b", true),
        ("/", "/", true), ("/**/a/**/b", "/a/b/a/c/b", true), ("/**/a/*/b/**", "/a/b/b/a/c/b", true),
        ("/**/**", "/", true), ("/**/*/b", "/b", false), ("/**/*/b", "/a//b", false), ("/**/a", "/a/", false),
        ("/a/**", "/a", true), ("/%2A", "/a", false), ("/%2a%2A", "/**", true), ("/a%2Fb", "/a/b", false),
    ])
    func aPatternMatchesPaths(pattern: String, path: String, matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }

    /// Backtracking over all ways to match the stars would take exponential time.
    @Test func manyWildcardsMatchALongPathQuickly() {
        let pattern = PathPattern("/" + String(repeating: "**/a/", count: 12) + "z")
        let path = "/" + String(repeating: "a/", count: 60)
        #expect(!pattern.matches(path + "y"))
        #expect(pattern.matches(path + "z"))
    }
}

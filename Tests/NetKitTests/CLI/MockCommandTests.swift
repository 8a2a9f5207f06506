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

    @Test func requestsAreAnsweredAndToldOf() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Self.document.utf8), to: "mock.json")
        try folder.write(Array("[1]".utf8), to: "body.json")
        let server = try await Served(["mock", "--count", "13", folder.file("mock.json")])
        func said(_ path: String, _ words: String...) async throws -> Outcome {
            try await nk(["-s", "-w", "|%{http_code} %{content_type}"] + words + ["\(server.url)\(path)"])
        }
        #expect(try await said("/users/1").text == #"{"id":7}|200 application/json"#)
        #expect(try await said("/users/1", "-d", "x=1").text == "|418 ")
        #expect(try await said("/seq").text == "|503 ")
        #expect(try await said("/seq").text == "fine|200 text/plain; charset=utf-8")
        #expect(try await said("/seq").text.hasPrefix("fine"))
        for letter in ["a", "b", "a"] {
            #expect(try await said("/turns").text.hasPrefix("\(letter)|"))
        }
        #expect(try await said("/cut").code == 18)
        #expect(try await said("/reset").code == 56)
        #expect(try await said("/close").code == 52)
        #expect(try await said("/slow").bytes.starts(with: [0, 0xFF]))
        #expect(try await said("/q?b=&a=1+2").text == "[1]|200 application/json")
        let outcome = await server.run.ended()
        #expect(outcome.code == 0 && outcome.errors == "")
        let told = try outcome.lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(told.count == 13)
        #expect(told[1]["method"] == "POST" && told[1]["body"] == "x=1" && told[1]["route"]?.isNull == true)
        #expect(told[2]["target"] == "/seq" && told[2]["route"] == 1 && told[2]["status"] == 503)
        #expect(told[12]["number"] == 13)
        #expect(told[0]["headers"]?.elements?.contains(["Accept", "*/*"]) == true)
    }

    @Test func aBodyInChunksIsToldWithoutThem() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(#"{"routes": []}"#.utf8), to: "mock.json")
        let server = try await Served(["mock", "--count", "2", folder.file("mock.json")])
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        #expect(try await nk(["-T", "-", "\(server.url)/"], input: Array("a\r\nb".utf8)).code == 0)
        #expect(try await nk(["-T", "-", "\(server.url)/"], input: large).code == 0)
        let told = try await server.run.ended().lines.dropFirst().map { try JSONValue(Bytes(Array($0.utf8))) }
        #expect(told.first?["body"] == "a\r\nb" && told.first?["missing_bytes"] == nil)
        let beginning = try #require(told.last?["body"]?.string)
        #expect(beginning.utf8.count > 60_000 && beginning.utf8.allSatisfy { $0 == UInt8(ascii: "x") })
        #expect(told.last?["missing_bytes"]?.number?.integer == 200_000 - beginning.utf8.count)
    }

    @Test func aReaderThatLeavesEndsItWithoutAWord() async throws {
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
        (#"{"routes": [{"path": "/x", "reply": {"base64": "*"}}]}"#, "wanted base64"),
        (#"{"routes": [{"path": "/x", "method": "GET POST", "reply": {}}]}"#, "wanted a method, found \"GET POST\""),
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
        (#"{"routes": 1}"#, "/routes"), ("{", "not JSON"), ("", "not JSON"),
    ])
    func aWrongFileIsOneLineWithThePlace(text: String, offender: String) async throws {
        let outcome = try await nk(["mock", "-"], input: Array(text.utf8))
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func aFileThatIsMissingIsNamed() async throws {
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
        let place = file.hasPrefix("/") ? file : folder.file(file)
        #expect(outcome.code == 26 && outcome.bytes == [])
        #expect(outcome.errorLines == ["nk: (26) cannot read \(place): it is no regular file"])
    }

    @Test func aFileThatIsServedHasALimit() async throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "large")
        try #require(unsafe truncate(folder.file("large"), off_t(InputFile.maxDataBytes) + 1) == 0)
        try folder.write(Array(Self.document(serving: "large").utf8), to: "mock.json")
        let outcome = try await nk("mock", folder.file("mock.json"))
        #expect(outcome.errorLines == ["nk: (26) cannot read \(folder.file("large")): File too large"])
    }

    @Test func aFileThatIsCalledAHyphenIsNotStandardInput() async throws {
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
    @Test func manyStarsAnswerAtOnceForALongPath() {
        let pattern = PathPattern("/" + String(repeating: "**/a/", count: 12) + "z")
        let path = "/" + String(repeating: "a/", count: 60)
        #expect(!pattern.matches(path + "y"))
        #expect(pattern.matches(path + "z"))
    }
}

import FoundationEssentials
import Testing

/// -G and --data-urlencode, as the server receives them.
@Suite(.timeLimit(.minutes(5)))
struct DataOptionTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
    }

    private func received(_ words: [String], path: String = "/p?q=1#f") async throws -> ReceivedRequest {
        let outcome = try await nk(words + [server.url(path)])
        #expect(outcome.code == 0 && outcome.errors == "")
        return server.received()
    }

    @Test func dataIsAddedToTheURLInOrder() async throws {
        let request = try await received(["-G", "-d", "a=1", "--data-urlencode", "b=c d/?é", "-d", "e"])
        #expect(request.requestLine == "GET /p?q=1&a=1&b=c+d%2F%3F%C3%A9&e HTTP/1.1")
        #expect(request.values(named: "Content-Type").isEmpty && request.body.isEmpty)
    }

    @Test(arguments: [["-G"], ["--get"], ["-G", "-d", ""]])
    func urlIsUnchangedWithoutData(words: [String]) async throws {
        #expect(try await received(words).requestLine == "GET /p?q=1 HTTP/1.1")
    }

    @Test(arguments: [("/p?q=1&", "/p?q=1&a=1"), ("/p?q=1&#f&", "/p?q=1&a=1"), ("/p?", "/p?a=1"), ("/p&", "/p&?a=1")])
    func ampersandIsNotDuplicated(path: String, target: String) async throws {
        #expect(try await received(["-G", "-d", "a=1"], path: path).requestLine == "GET \(target) HTTP/1.1")
        server.forgetRequests()
        #expect(try await received(["-G"], path: "/p?q=1&").requestLine == "GET /p?q=1& HTTP/1.1")
    }

    @Test func methodCanBeOverridden() async throws {
        #expect(try await received(["-G", "-X", "POST", "-d", "a=1"], path: "/").requestLine == "POST /?a=1 HTTP/1.1")
        server.forgetRequests()
        #expect(try await received(["-G", "-I", "-d", "a=1"], path: "/").requestLine == "HEAD /?a=1 HTTP/1.1")
    }

    @Test(arguments: [
        ("a b", "a+b"), ("=a=b", "a%3Db"), ("n=", "n="), ("n m=a=b", "n m=a%3Db"), ("", ""), ("-._~*", "-._~%2A"),
    ])
    func encodedDataFollowsCurl(data: String, expected: String) async throws {
        let request = try await received(["--data-urlencode", data])
        #expect(request.body == Array(expected.utf8))
        #expect(request.values(named: "Content-Type") == ["application/x-www-form-urlencoded"])
    }

    @Test func encodedFilePreservesLineEndings() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/data"
        try Data([0, 10, 32, 0xFF]).write(to: URL(filePath: path))
        #expect(try await received(["--data-urlencode", "@\(path)"]).body == Array("%00%0A+%FF".utf8))
        server.forgetRequests()
        #expect(try await received(["--data-urlencode", "n@\(path)"]).body == Array("n=%00%0A+%FF".utf8))
    }

    @Test func fileIsSentUnchangedOrWithoutLineEndings() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/data"
        try Data([1, 13, 10, 0, 2]).write(to: URL(filePath: path))
        #expect(try await received(["--data-binary", "@\(path)"]).body == [1, 13, 10, 0, 2])
        server.forgetRequests()
        #expect(try await received(["-d", "@\(path)"]).body == [1, 2])
    }

    @Test func atSignInRawDataIsLiteral() async throws {
        let request = try await received(["--data-raw", "@/nowhere/at/all", "--data-binary", "b"])
        #expect(request.body == Array("@/nowhere/at/all&b".utf8))
        #expect(request.values(named: "Content-Type") == ["application/x-www-form-urlencoded"])
    }

    @Test(arguments: ["0-4", "5-", "-7", "0-0,4-5"])
    func rangeIsRequested(range: String) async throws {
        #expect(try await received(["-g", "-r", range]).values(named: "Range") == ["bytes=\(range)"])
    }

    @Test func aSingleNumberIsAnOpenRange() async throws {
        let outcome = try await nk("-r", "4", server.url("/"))
        #expect(outcome.code == 0 && server.received().values(named: "Range") == ["bytes=4-"])
        #expect(outcome.errorLines == ["nk: warning: -r '4' has no '-'; using '4-'"])
    }

    @Test func missingFileIsReported() async throws {
        let outcome = try await nk("--data-urlencode", "@/nowhere/at/all", server.url("/"))
        #expect(outcome.code == 26 && outcome.errors.contains("/nowhere/at/all"))
        #expect(server.requestCount == 0)
    }
}

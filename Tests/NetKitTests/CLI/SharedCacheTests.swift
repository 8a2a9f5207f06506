#if Redis
import FoundationEssentials
import Testing

/// `nk --cache redis://…`, and `nk cache` with the URL of a server.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedCacheTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
    }

    /// Returns a URL of the server of all tests, with a prefix of its own.
    private func cache() async throws -> String {
        "\(try await RedisServer.shared.value.url)?prefix=\(String.unique)"
    }

    private func fetch(_ words: String...) async throws -> Outcome {
        try await nk(["-s", "-S"] + words + [server.url("/")])
    }

    @Test func responsesAreSharedWithinAPrefix() async throws {
        server.script("/", [.text("1"), .text("2")])
        let cache = try await cache()
        #expect(try await fetch("--cache", cache).text == "1")
        let second = try await fetch("--cache", "3600", "--cache-dir", cache, "-i")
        #expect(second.lines.last == "1" && second.text.contains("Cache-Status: nk; hit; ttl=3"))
        #expect(try await fetch("--offline", "--cache", cache).text == "1")
        #expect(try await fetch("--cache", try await self.cache()).text == "2")
        #expect(server.requestCount == 2)
    }

    @Test func responsesOfAUserAreNotReturnedToAnother() async throws {
        server.script("/", [.text("1"), .text("2")])
        let cache = try await cache()
        #expect(try await fetch("-u", "ann:a", "--cache", cache).text == "1")
        #expect(try await fetch("-u", "ben:b", "--cache", cache).text == "2")
        #expect(try await fetch("-u", "ann:a", "--cache", cache).text == "1")
        #expect(server.requestCount == 2)
    }

    @Test func serverCacheRulesApplyWhenRequested() async throws {
        server.script("/", [Reply(headers: ["Cache-Control: no-store"], body: Array("1".utf8)), .text("2")])
        let cache = try await cache()
        #expect(try await fetch("--cache-mode", "http", "--cache", cache).text == "1")
        #expect(try await fetch("--cache-mode", "http", "--cache", cache).text == "2")
    }

    @Test func entriesAreListedShownAndRemoved() async throws {
        server.script("/", [Reply(headers: ["A: b"], body: Array("the body".utf8))])
        let cache = try await cache()
        _ = try await fetch("--cache", cache, "--cache-version", "9")
        let list = try await nk("cache", "list", cache)
        let name = String(list.text.prefix(32))
        #expect(list.lines.count == 1 && list.text.contains(server.url("/")) && list.text.contains("  200  "))
        let shown = try await nk("cache", "show", cache, String(name.prefix(6)))
        for text in ["# method", "# version 9", "A: b\r\n", "\r\n\r\nthe body"] {
            #expect(shown.text.contains(text), "\(text)")
        }
        let stats = try await nk("cache", "stats", cache)
        #expect(stats.lines.count == 2 && stats.text.hasPrefix("entries  1\nbytes    "))
        #expect(try await nk("cache", "rm", cache, name).text == "removed 1\n")
        #expect(try await nk("cache", "list", cache).bytes.isEmpty)
        _ = try await fetch("--cache", cache)
        #expect(try await nk("cache", "rm", cache, "--tag", "none").text == "removed 0\n")
        #expect(try await nk("cache", "rm", cache, "--host", "127.0.0.1").text == "removed 1\n")
        _ = try await fetch("--cache", cache)
        #expect(try await nk("cache", "rm", cache, "--all").text == "removed 1\n")
        let check = try await nk("cache", "verify", cache)
        #expect(check.code == 2 && check.errorLines.count == 1 && check.errors.contains("verify needs a directory"))
    }

    @Test func absentServerIsAMissWithOneWarning() async throws {
        server.script("/", [.text("1")])
        let port = try ReservedPort(acceptsConnections: false)
        let cache = "redis://:secret@127.0.0.1:\(port.number)/1"
        let shown = "cannot use the cache at redis://127.0.0.1:\(port.number)/1: "
        let outcome = try await nk("--cache", cache, server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "1" && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("nk: warning: " + shown) && !outcome.errors.contains("secret"))
        #expect(try await fetch("--cache", cache).errors.isEmpty)
        #expect(try await fetch("--offline", "--cache", cache).code == 107)
        for words in [["list"], ["stats"], ["show", "a"], ["rm", "a"]] {
            let outcome = try await nk(["cache", words[0], cache] + words.dropFirst())
            #expect(outcome.code == 7 && outcome.errorLines.count == 1 && outcome.bytes.isEmpty)
            #expect(outcome.errors.hasPrefix("nk: (7) " + shown) && !outcome.errors.contains("secret"))
        }
        let noSocket = try await nk("cache", "list", "unix:///dev/null/socket")
        #expect(noSocket.code == 7 && noSocket.errors.contains("at unix:///dev/null/socket: "))
    }

    @Test func passwordIsNeverPrinted() async throws {
        server.script("/", [.text("1")])
        let redis = try await RedisServer.start(["--requirepass", "s3cret"])
        let host = "127.0.0.1:\(redis.port)"
        let folder = try TemporaryTree()
        try Data("cache = \"redis://:s3cret@\(host)\"".utf8).write(to: URL(filePath: folder.file("config")))
        let url = server.url("/")
        let environment = "REDISCLI_AUTH=s3cret exec \"$0\" \"$@\""
        let outcomes = [
            try await nk("-v", "--timing", "--cache", "redis://:s3cret@\(host)", url),
            try await nk("-v", "-K", folder.file("config"), "--offline", url),
            try await nk(line: environment, "-v", "--offline", "--cache", "redis://\(host)", url),
            try await nk(line: environment, "-v", "--offline", "--cache", redis.url, url),
            try await nk(line: environment, "cache", "list", "redis://\(host)"),
        ]
        for outcome in outcomes {
            #expect(outcome.code == 0 && !outcome.bytes.isEmpty)
            #expect(!outcome.text.contains("s3cret") && !outcome.errors.contains("s3cret"))
        }
        #expect(server.requestCount == 1)
        let wrong = try await nk("cache", "list", "redis://:s4cret@\(host)")
        #expect(wrong.code == 94 && wrong.errorLines.count == 1 && !wrong.errors.contains("s4cret"))
        let none = try await nk("cache", "list", "redis://\(host)")
        #expect(none.code == 8 && none.errors.contains("NOAUTH"))
        #expect(try await nk("--cache", "redis://\(host)", url).code == 0)
    }

    #if os(Linux)
    @Test func passwordOfAUserIsRequestedOnTheTerminal() async throws {
        let redis = try await RedisServer.start(["--user", "ann", "on", ">s3cret", "~*", "&*", "+@all"])
        let url = "redis://ann@127.0.0.1:\(redis.port)"
        let terminal = try PseudoTerminal(columns: 80)
        let run = try start(["cache", "stats", url], asking: terminal)
        let prompt = await terminal.waitForText(endingIn: ": ")
        #expect(prompt == "Password for ann at redis://127.0.0.1:\(redis.port): " && !terminal.isEchoing)
        terminal.type("s3cret")
        let outcome = await run.ended()
        #expect(outcome.code == 0 && outcome.text == "entries  0\nbytes    0\n")
        let unanswered = try await nk("cache", "stats", url)
        #expect(unanswered.code == 2 && unanswered.errors.contains("set REDISCLI_AUTH"))
    }
    #endif

    @Test(
        arguments: [
            ("reds://:s3cret@h", 2), ("redis://:s3/cret@h", 2), ("redis://:s3?cret@h", 2), ("redis://:s3#cret@h", 2),
            ("redis://:s3cret@h:port", 3), ("redis://:s3cret@h/x", 3), ("redis://:s3cret@h?prefix=a%20b", 2),
            ("unix://:s3cret@h/socket", 3), ("redis://:s3cret@h?size=1", 3), ("redis://s3cret:@h", 2),
        ] as [(String, Int32)])
    func invalidURLIsRefusedAndNotPrinted(url: String, code: Int32) async throws {
        for words in [["--cache"], ["--cache-mode", "http", "--cache-dir"]] {
            let outcome = try await nk(words + [url, server.url("/")])
            #expect(outcome.code == code && outcome.errorLines.count == 1 && outcome.bytes.isEmpty)
            #expect(!outcome.errors.contains("cret"), "\(outcome.errors)")
        }
        let list = try await nk("cache", "list", url)
        #expect(list.code == code && list.errorLines.count == 1 && !list.errors.contains("cret"))
        #expect(server.requestCount == 0)
    }
}
#else
import Testing

/// An nk without the trait Redis.
@Suite(.timeLimit(.minutes(5)))
struct MissingSharedCacheTests {
    @Test(arguments: [["--cache", "redis://h", "http://h/"], ["cache", "list", "unix:///s"]])
    func cacheOnAServerRequiresTheTrait(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 2 && outcome.bytes.isEmpty && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("built without Redis; build it with --traits Redis"))
    }
}
#endif

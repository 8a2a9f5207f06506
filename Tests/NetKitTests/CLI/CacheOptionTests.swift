import Testing

/// `nk --cache` and related options, and `nk cache`.
@Suite(.timeLimit(.minutes(5)))
struct CacheOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryTree
    private var directory: String { folder.file("cache") }

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryTree()
    }

    private func run(_ words: String...) async throws -> Outcome {
        try await nk(["-s", "-S", "-i", "--cache-dir", directory] + words + [server.url("/")])
    }

    private func status(_ outcome: Outcome) -> String? {
        outcome.lines.first { $0.hasPrefix("Cache-Status: ") }.map { String($0.dropFirst(14)) }
    }

    @Test func cachePersistsBetweenInvocations() async throws {
        server.script("/", [.text("1"), .text("2"), .text("3")])
        let first = try await run("--cache", "3600")
        #expect(first.lines.last == "1" && status(first) == "nk; fwd=uri-miss; stored; detail=absent")
        let second = try await run("--cache", "3600")
        #expect(second.lines.last == "1" && status(second)?.hasPrefix("nk; hit; ttl=3") == true)
        #expect(status(second)?.hasSuffix("; detail=fresh") == true && status(second)?.contains("; age=") == true)
        let other = try await run("--cache", "3600", "--cache-version", "7")
        #expect(other.lines.last == "2" && status(other)?.hasSuffix("detail=versionMismatch") == true)
        let over = try await run("--cache", "0", "--cache-version", "7")
        #expect(over.lines.last == "3" && status(over)?.contains("detail=expired") == true)
        #expect(server.requestCount == 3)
    }

    @Test func offlineSendsNothing() async throws {
        server.script("/", [.text("1")])
        let missing = try await run("--offline")
        #expect(missing.code == 107 && missing.bytes.isEmpty && missing.errorLines.count == 1)
        #expect(missing.errors.contains("absent") && server.requestCount == 0)
        _ = try await run("--cache", "3600")
        let kept = try await run("--offline")
        #expect(kept.lines.last == "1")
        // The lifetime is not shown if it is unlimited.
        #expect(status(kept)?.contains("hit; age=") == true && status(kept)?.contains("ttl") == false)
        #expect(try await run("--cache-mode", "cache-only").lines.last == "1")
        #expect(server.requestCount == 1)
    }

    @Test func cacheModeDeterminesTheOrderOfCacheAndNetwork() async throws {
        server.script("/", [.text("1\n"), .text("2\n"), Reply(cutAfter: 0, ending: .close)])
        _ = try await run("--cache", "3600")
        let both = try await run("--cache", "3600", "--cache-mode", "cache-then-network")
        #expect(both.lines.filter { $0.count == 1 } == ["1", "2"])
        #expect(both.lines.count { $0.hasPrefix("Cache-Status") } == 2)
        let standIn = try await run("--cache-mode", "network-else-cache")
        #expect(standIn.code == 0 && standIn.lines.last == "2" && status(standIn)?.contains("staleIfError") == true)
        #expect(try await run("--cache-mode", "native").lines.last == "2")
        #expect(try await run("--cache", "0", "--cache-mode", "stale-if-error=60").lines.last == "2")
        #expect(try await run("--cache", "0", "--cache-mode", "stale-while-revalidate=60").lines.last == "2")
    }

    @Test func serverCacheRulesApplyWhenRequested() async throws {
        let reply = { (number: Int) in
            Reply(headers: ["Cache-Control: max-age=3600", "Vary: A"], body: Array("\(number)\n".utf8))
        }
        server.script("/", [reply(1), reply(2), reply(3)])
        #expect(try await run("--cache-mode", "http").lines.last == "1")
        #expect(try await run("--cache-mode", "http", "-H", "A: b").lines.last == "2")
        let stored = try await run("--cache-mode", "http")
        #expect(stored.lines.last == "1" && stored.lines.contains { $0.hasPrefix("Age: ") })
        #expect(try await run("--cache-mode", "http", "-H", "Cache-Control: no-cache").lines.last == "3")
        #expect(try await run("--cache-mode", "http", "--offline").lines.last == "3")
        let head = try await run("--cache-mode", "http", "-I")
        #expect(head.lines.first?.contains(" 200") == true && status(head)?.contains("hit") == true)
        #expect(server.requestCount == 3)
    }

    @Test(arguments: [
        ["--cache", "x"], ["--cache", "-1"], ["--cache", ""], ["--cache", "1", "--cache-version", "1.5"],
        ["--cache-version", "1"], ["--cache-dir", "/tmp/x"], ["--cache-mode", "sometimes"],
        ["--cache-mode", "native=1"], ["--cache-mode", "http", "--cache", "1"], ["--cache", "1", "--cache-dir", ""],
        ["--cache-mode", "stale-if-error=x"],
    ])
    func invalidValueExitsWith2(options: [String]) async throws {
        let outcome = try await nk(options + [server.url("/")])
        #expect(outcome.code == 2 && outcome.errorLines.count == 1 && outcome.bytes.isEmpty)
        #expect(server.requestCount == 0)
    }

    @Test func cacheEntriesAreListedShownAndRemoved() async throws {
        server.script("/", [Reply(headers: ["A: b"], body: Array("the body".utf8))])
        _ = try await run("--cache", "3600", "--cache-version", "9")
        let list = try await nk("cache", "list", directory)
        let name = String(list.text.prefix(32))
        #expect(list.lines.count == 1 && list.text.contains(server.url("/")) && list.text.contains("  200  "))
        let shown = try await nk("cache", "show", directory, String(name.prefix(6)))
        for text in ["# method", "# version 9", "A: b\r\n", "\r\n\r\nthe body"] {
            #expect(shown.text.contains(text), "\(text)")
        }
        #expect(try await nk("cache", "stats", directory).text.contains("entries  1\n"))
        #expect(try await nk("cache", "verify", directory).text.contains("good       1\n"))
        #expect(try await nk("cache", "rm", directory, name).text == "removed 1\n")
        #expect(try await nk("cache", "list", directory).bytes.isEmpty)
        _ = try await run("--cache", "3600")
        #expect(try await nk("cache", "rm", directory, "--host", "127.0.0.1").text == "removed 1\n")
        #expect(try await nk("cache", "rm", directory, "--all").text == "removed 0\n")
    }

    @Test func eachHeadIsDumpedOnceForTwoResponses() async throws {
        server.script("/", [.text("1\n"), .text("2\n")])
        _ = try await run("--cache", "3600")
        let words = ["-s", "-D", "-", "--cache-dir", directory, "--cache-mode", "cache-then-network"]
        let both = try await nk(words + [server.url("/")])
        #expect(both.lines.count { $0.hasPrefix("HTTP/1.1 200") } == 2)
        #expect(both.lines.filter { $0.count == 1 } == ["1", "2"])
    }

    @Test func cacheWriteFailureIsReportedOnceAndTheBodyIsPrinted() async throws {
        server.script("/", [.text("1")])
        let words = ["--cache", "3600", "--cache-dir", "/dev/null/cache", server.url("/")]
        let outcome = try await nk(words)
        #expect(outcome.code == 0 && outcome.text == "1")
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("/dev/null/cache"))
        #expect(outcome.errors.hasPrefix("nk: warning: cannot store the response in the cache: "))
        #expect(try await nk(["-s"] + words).errors.isEmpty)
    }

    @Test func cachedBodyIsPrintedUnchanged() async throws {
        let body = Array(UInt8.min...UInt8.max)
        server.script("/", .bytes(body, contentType: "application/octet-stream"))
        _ = try await run("--cache", "3600")
        let name = String(try await nk("cache", "list", directory).text.prefix(32))
        #expect(try await nk("cache", "show", directory, name).bytes.suffix(256).elementsEqual(body))
    }

    @Test func damagedEntriesAreReported() async throws {
        server.script("/", [.text("1")])
        _ = try await run("--cache", "3600")
        let name = try await nk("cache", "list", directory).text.prefix(32)
        let file = try #require(try folder.names(in: "cache").first { $0.hasPrefix(name) })
        try folder.damage("cache/" + file)
        let outcome = try await nk("cache", "verify", directory)
        #expect(outcome.code == 1 && outcome.text.contains("damaged    1\n") && outcome.errorLines.count == 1)
    }

    @Test(
        arguments: [
            (["list"], 2), (["what", "/tmp"], 2), (["list", "/tmp/no/such/folder"], 26), (["show", "/tmp"], 2),
            (["rm", "/tmp"], 2),
            (["list", "/tmp", "x"], 2), ([], 2),
        ] as [([String], Int32)])
    func invalidArgumentsPrintOneLineAndExit(words: [String], code: Int32) async throws {
        let outcome = try await nk(["cache"] + words)
        #expect(outcome.code == code && outcome.errorLines.count == 1)
    }

    @Test func helpDescribesTheCommand() async throws {
        let outcome = try await nk("cache", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("nk cache verify DIR"))
        #expect(outcome.lines.allSatisfy { $0.count <= 100 })
    }
}

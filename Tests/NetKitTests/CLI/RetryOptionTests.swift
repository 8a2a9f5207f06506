import Testing

/// Options for retries, rate limits and records.
@Suite(.timeLimit(.minutes(5)))
struct RetryOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
    }

    private func refusal(_ status: UInt16 = 503) -> Reply {
        Reply(status: status, headers: ["Retry-After: 0"], body: Array("no".utf8))
    }

    @Test func refusedRequestIsRetried() async throws {
        server.script("/", [refusal(), refusal(429), .text("yes")])
        let outcome = try await nk("--retry", "2", server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "yes")
        #expect(
            outcome.errorLines == [
                "nk: warning: status 503; retrying now, 1 retry left",
                "nk: warning: status 429; retrying now, 0 retries left",
            ])
        #expect(server.requestCount == 3)
    }

    @Test func lastResponseDeterminesTheResult() async throws {
        server.script("/", refusal())
        let outcome = try await nk("-s", "-f", "--retry", "2", "-d", "a=1", server.url("/"))
        #expect(outcome.code == 22 && outcome.errors == "")
        #expect(server.requestCount == 3)
        #expect((0..<3).allSatisfy { server.received($0).body == Array("a=1".utf8) })
    }

    @Test func requestIsNotRetriedWithoutTheOption() async throws {
        server.script("/", [refusal(), .text("yes")])
        #expect(try await nk(server.url("/")).text == "no")
        #expect(try await nk("--retry", "0", "--retry-all-errors", server.url("/missing")).code == 0)
        #expect(server.requestCount == 2)
    }

    @Test func delayBetweenAttemptsCanBeSet() async throws {
        server.script("/", [Reply(status: 503), Reply(status: 503), Reply(status: 503), .text("yes")])
        let outcome = try await nk("--retry", "3", "--retry-delay", "0.002", "--retry-connrefused", server.url("/"))
        #expect(outcome.text == "yes" && outcome.errorLines.count == 3)
        #expect(outcome.errorLines.allSatisfy { $0.contains("retrying in 0.0 s") })
    }

    @Test func attemptAfterTheTimeLimitIsSkipped() async throws {
        server.script("/", Reply(status: 503, headers: ["Retry-After: 100"], body: Array("no".utf8)))
        let outcome = try await nk("--retry", "3", "--retry-max-time", "60", server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "no" && outcome.errors == "")
        #expect(server.requestCount == 1)
    }

    @Test func standardInputIsSentOnce() async throws {
        server.script("/", [refusal(), .text("yes")])
        let outcome = try await nk(["--retry", "3", "-T", "-", server.url("/")], input: Array("once".utf8))
        #expect(outcome.text == "no")
        #expect(server.requestCount == 1)
    }

    @Test(arguments: [
        ["--retry"], ["--retry", "x"], ["--retry", "-1"], ["--rate", "0/s"], ["--rate", "5/q"], ["--rate", "/s"],
        ["--retry-delay", "x"], ["--retry-max-time", "-1"],
    ])
    func invalidValueExitsWith2(options: [String]) async throws {
        let outcome = try await nk(options + (options.count > 1 ? [server.url("/")] : []))
        #expect(outcome.code == 2 && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(options[0]))
        #expect(server.requestCount == 0)
    }

    @Test func rateSpacesRequestsOut() async throws {
        server.script("/", .text("x"))
        let outcome = try await nk("--rate", "1000/s", server.url("/"), server.url("/"), server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "xxx")
    }

    @Test func anArchiveIsWrittenAtTheEndWithoutSecrets() async throws {
        server.script("/", [refusal(), .text("yes")])
        let path = folder.file("archive.har")
        let words = ["-s", "--retry", "1", "--har", path, "-H", "X-Api-Key: \(canary)", "-u", "me:\(canary)"]
        #expect(try await nk(words + [server.url("/?token=\(canary)")]).text == "yes")
        let text = String(decoding: try #require(folder.contents(of: "archive.har")), as: UTF8.self)
        #expect(text.contains(#""status" : 503"#) && text.contains(#""status" : 200"#))
        #expect(text.contains("X-Api-Key") && !text.contains(canary))
    }

    @Test func anArchiveThatCannotBeWrittenExitsWith23() async throws {
        server.script("/", .text("x"))
        let outcome = try await nk("--har", "/nowhere/at/all", server.url("/"))
        #expect(outcome.code == 23 && outcome.errors.contains("/nowhere/at/all"))
    }

    @Test func curlCommandIsPrintedInsteadOfSending() async throws {
        let outcome = try await nk(
            "--curl", "-XPUT", "-A", "", "-H", "Accept:", "-d", "it's", "http://a/b", "http://c/")
        #expect(outcome.code == 0 && outcome.errors == "")
        let line = { (url: String) in
            "curl -X PUT -H 'Content-Type: application/x-www-form-urlencoded' -H Accept: -H User-Agent: --data-raw 'it'\\''s' \(url)"
        }
        #expect(outcome.lines == [line("http://a/b"), line("http://c/")])
    }

    /// Files that curl can read itself are passed to it by name.
    @Test(arguments: [
        (["-F", "a=it's", "-F", "b=@f;type=text/x"], " -F 'a=it'\\''s' -F 'b=@f;type=text/x'"),
        (["-X", "PUT", "--form-string", "a=@b"], " --form-string a=@b"), (["-n"], " -n"),
        (["-b", "a=1", "-b", "jar"], " -b jar"),
    ])
    func curlCommandIncludesFormsAndFiles(words: [String], end: String) async throws {
        let outcome = try await nk(["--curl"] + words + ["http://a/"])
        let line = try #require(outcome.lines.first)
        #expect(outcome.code == 0 && line.hasSuffix(" http://a/" + end))
        #expect(!line.contains("-T") && !line.contains("boundary") && line.contains("-X PUT") == words.contains("PUT"))
    }
}

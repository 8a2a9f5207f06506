import Testing

@testable import NetKitCLI

/// Malformed command lines exit with 2, and the message gives the reason.
@Suite(.timeLimit(.minutes(5)))
struct UsageTests {
    @Test(arguments: [
        ([], "no URL"), (["-s"], "no URL"), (["-o", "x", "-O", "a"], "more -o and -O"),
        (["-T", "x", "-T", "y", "a"], "more -T"), (["-T", "-", "-T", "-", "a", "b"], "standard input"),
        (["-T", "x", "-d", "y", "a"], "-T"), (["-T", "x", "-I", "a"], "-T"), (["--key", "k", "a"], "--cert"),
        (["--limit-rate", "fast", "a"], "--limit-rate 'fast'"), (["--proxy-header", "X", "a"], "--proxy-header"),
        (["--proxy-header", "X:", "a"], "'X'"), (["-u", "me", "a"], "no password for me"),
        (["-U", "me", "-x", "p", "a"], "no password for me"),
        (["--nope", "a"], "unknown option --nope"), (["-Q", "a"], "unknown option -Q"),
        (["--no-output", "a"], "unknown option --no-output"), (["--no-http2", "a"], "unknown option --no-http2"),
        (["--no-ipv4", "a"], "unknown option --no-ipv4"), (["--no-no-buffer", "a"], "unknown option --no-no-buffer"),
        (["-sQ", "a"], "unknown option -Q"), (["--output=x", "a"], "unknown option --output:"),
        (["a", "-X"], "-X needs a value"), (["a", "-sSd"], "-d needs a value"),
        (["a", "--max-time"], "--max-time needs a value"),
        (["-H", "@-", "-d", "@-", "a"], "standard input"), (["-H", "@-", "-T", "-", "a"], "standard input"),
        (["--proxy-header", "@-", "-F", "a=@-", "a"], "standard input"),
        (["-H", "nocolon", "a"], "-H number 1 has no colon"), (["-H", "a;b", "a"], "-H number 1 has no colon"),
        (["-H", "A: 1", "-H", "nocolon", "-H", "B: 2", "a"], "-H number 2 has no colon"),
        (["--proxy-header", "A: 1", "--proxy-header", "x", "a"], "--proxy-header number 2 has no colon"),
        (["-o", "", "a"], "-o ''"), (["-o", "x", "-o", "", "a", "b"], "-o ''"), (["-D", "", "a"], "-D ''"),
        (["-c", "", "a"], "-c ''"), (["--timing-svg", "", "a"], "--timing-svg ''"), (["--har", "", "a"], "--har ''"),
        (["-T", "-", "-T", ".", "a", "b"], "standard input"),
        (["-H", "Host:", "a"], "Host"),
        (["-H", "bad name: x", "a"], "header name"), (["-X", "BAD METHOD", "a"], "method"),
        (["-H", "Transfer-Encoding: chunked", "a"], "Transfer-Encoding"),
        (["--max-redirs", "x", "a"], "'x'"), (["--max-redirs", "-2", "a"], "'-2'"),
        (["--max-redirs", "9999999999", "a"], "'9999999999'"),
        (["--max-filesize", "1x", "a"], "'1x'"), (["--max-filesize", "k", "a"], "'k'"),
        (["--max-filesize", "-1", "a"], "'-1'"), (["--max-filesize", "9999999999G", "a"], "'9999999999G'"),
        (["-m", "soon", "a"], "'soon'"), (["-m", "-1", "a"], "'-1'"), (["-m", "1e3", "a"], "'1e3'"),
        (["-m", "", "a"], "''"), (["-m", "1.2.3", "a"], "'1.2.3'"), (["--connect-timeout", "nan", "a"], "'nan'"),
        (["-f", "--fail-with-body", "a"], "--fail-with-body"),
        (["--oauth2-bearer", "", "a"], "--oauth2-bearer needs a token"),
        (["--pinnedpubkey", "", "a"], "--pinnedpubkey needs a key"),
        (["--proto", "=http", "a"], "excludes https"), (["--proto", "=", "a"], "excludes https"),
        (["-e", "a;auto", "b"], "';auto'"), (["--digest", "--oauth2-bearer", "x", "a"], "--oauth2-bearer"),
        (["-r", "", "a"], "--range ''"), (["-r", "-", "a"], "'-'"), (["-r", "4,9", "a"], "'4,9'"),
        (["-r", "1-2-3", "a"], "'1-2-3'"),
        (["-r", "0-4,", "a"], "'0-4,'"), (["-r", "a-b", "a"], "'a-b'"), (["-r", "0-4", "-C", "-", "-O", "a/b"], "-r"),
        (["-r", "0-4", "-T", "x", "a"], "-r"),
        (["-I", "-d", "x", "a"], "-I"), (["-G", "--json", "{}", "a"], "-G"), (["-G", "-d", "a#b", "a"], "byte 1"),
        (["-G", "-d", "a b", "a"], "--data-urlencode"), (["demo", "quickly"], "'quickly'"),
    ])
    func invalidCommandLineExitsWith2(words: [String], offender: String) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("nk: (2) ") && outcome.errors.contains(offender))
    }

    /// curl's exit codes: a malformed URL, a proxy without a host, a proxy with an unknown scheme.
    @Test(arguments: [
        (["--resolve", "name", "a"], 49, "HOST:PORT:ADDRESS"), (["--resolve", "name:x:127.0.0.1", "a"], 49, "name:x:"),
        (["--resolve", "name:70000:127.0.0.1", "a"], 49, "70000"),
        (["--resolve", "name:80:other", "a"], 49, "'other'"),
        (["--resolve", "name:80:127.0.0.1,other", "a"], 49, "'other'"),
        (["--resolve", "name:80:127.0.0.1,", "a"], 49, "''"), (["--resolve", "-name:80", "a"], 49, "-name:80"),
        (["--resolve", "80:name:127.0.0.1", "a"], 49, "80:name"),
        (["--connect-to", "a:b", "a"], 49, "HOST1:PORT1:HOST2:PORT2"),
        (["--connect-to", "a:1:b:c", "a"], 49, "a:1:b:c"), (["--connect-to", "::a:b", "a"], 49, "::a:b"),
        (["-x", "/server", "a"], 5, "HOST[:PORT]"), (["-x", "http://me:hush@/x", "a"], 5, "HOST[:PORT]"),
        (["-x", "http://", "a"], 5, "HOST[:PORT]"), (["--socks5", "h h", "a"], 5, "HOST[:PORT]"),
        (["-x", "ftp://p", "a"], 7, "socks5h"), (["-x", "socks9://me:hush@p", "a"], 7, "socks5h"),
    ])
    func invalidAddressOrProxyExitsWithCurlsCode(words: [String], code: Int32, offender: String) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == code && outcome.bytes == [])
        #expect(outcome.errors.hasPrefix("nk: (\(code)) ") && outcome.errors.contains(offender))
        #expect(!outcome.errors.contains("hush"))
    }

    @Test func controlCharactersAreNotPrinted() async throws {
        #expect(try await nk("--\u{1b}[31m").errors == "nk: (2) unknown option --?[31m; see nk --help all\n")
    }

    @Test(arguments: ["-h", "--help"])
    func helpFitsAScreen(option: String) async throws {
        let outcome = try await nk(option)
        #expect(outcome.code == 0 && outcome.errors == "")
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 23)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        "-X", "-H", "-d", "--json", "-o", "-i", "-I", "-v", "-s", "-f", "-L", "-k", "-A", "--cacert", "--resolve",
        "--connect-to", "--http1.1", "--http2", "--compressed", "--max-redirs", "--max-filesize",
        "--connect-timeout", "--max-time", "-O", "-T", "-u", "-b", "-c", "-x", "-U", "--proxy-header", "--noproxy",
        "--cert", "--key", "--unix-socket", "--http2-prior-knowledge", "--http3", "--http3-only", "--limit-rate",
        "--digest", "-n", "-N",
        "-w", "-D", "--path-as-is", "--timing", "-Z", "-G", "--data-urlencode", "--expect",
    ])
    func helpNamesEveryOption(option: String) async throws {
        #expect(try await nk("--help").text.contains(option))
    }

    @Test(arguments: [["--help", "all"], ["-h", "all"], ["all", "--help"]])
    func helpAllDescribesEveryOption(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.lines.allSatisfy { $0.count <= 80 && $0.last != " " })
        let starts = Set(outcome.lines.filter { $0.hasPrefix("  ") }.compactMap { $0.split(separator: " ").first })
        for option in Option.all {
            let first = option.short.map { "-\($0)," } ?? "--\(option.long)"
            #expect(starts.contains(first[...]), "--\(option.long) has no line")
        }
    }

    @Test(arguments: ["-V", "--version"])
    func versionNamesTheLibrariesUnderneath(option: String) async throws {
        let outcome = try await nk(option)
        #expect(outcome.code == 0)
        #expect(outcome.lines.first?.hasPrefix("nk 0.1.0 libcurl/") == true)
        #expect(outcome.text.contains("OpenSSL/"))
        #expect(outcome.lines.last?.hasPrefix("Features: ") == true)
    }

    @Test func versionListsOnlyProtocolsAndFeaturesThatNkHas() async throws {
        let lines = try await nk("--version").lines
        #expect(lines.contains("Protocols: http https"))
        let features = (lines.last ?? "").split(separator: " ").dropFirst().map(String.init)
        #expect(Set(features).count == features.count && features.contains("HTTP2") && features.contains("PSL"))
        let known = [
            "trust-policies", "HTTP2", "HTTP3", "gzip", "brotli", "zstd", "HTTPS-proxy", "IDN", "IPv6", "PSL",
            "UnixSockets",
        ]
        #expect(features.allSatisfy { known.contains($0) }, "\(features)")
    }
}

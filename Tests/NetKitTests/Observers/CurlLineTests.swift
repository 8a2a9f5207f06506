#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import NetKit
import Testing

/// The lines run in sh, with a `curl` in `PATH` that records its arguments.
struct CurlLineTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Returns the arguments and the standard input that `curl` gets.
    private func words(of line: String) async throws -> (words: [String], input: [UInt8]) {
        try folder.write(
            Array("#!/bin/sh\nprintf '%s\\0' \"$@\" >\"$OUT.words\"\ncat >\"$OUT.input\"\n".utf8), to: "curl",
            mode: 0o755)
        try folder.write(Array(line.utf8), to: "line")
        let script = "PATH='\(folder.path)':$PATH OUT='\(folder.path)/out' sh '\(folder.path)/line' </dev/null"
        try #require(unsafe system(script) == 0)
        let words = try #require(folder.contents(of: "out.words"))
        let input = try #require(folder.contents(of: "out.input"))
        return (
            words.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
                String(decoding: $0, as: UTF8.self)
            }, input
        )
    }

    private let plain = ["-H", "Accept:", "-H", "User-Agent:"]

    private func bare(_ url: String = "http://a/", method: Method = .get, body: Body? = nil) -> Request<Bytes> {
        var request = Request<Bytes>(url, method: method, body: body)
        request.acceptsCodings = false
        request.redirects = .return
        return request
    }

    @Test func everyArgumentArrivesUnchanged() async throws {
        let nasty = [
            "plain", "two words", "it's", "'", "''", "$HOME `id` $(id) ${x}", "a\\b\\", "\"quoted\"", "*?[a]~",
            "a;b|c&d<e>f",
            "#no comment", "!history", "é中💩", "e\u{301}'\u{301}", "%s %d", "-n", "--", "tab\there", "=", "a=b",
        ]
        var request = bare()
        for (index, value) in nasty.enumerated() {
            request.headers.append(name: "X-\(index)", value: value)
        }
        let (words, _) = try await words(of: request.curl(hiding: nil))
        let fields = nasty.enumerated().flatMap { ["-H", "X-\($0.offset): \($0.element)"] }
        #expect(words == fields + plain + ["http://a/"])
    }

    @Test func bodyArrivesUnchanged() async throws {
        let text = "line one\nline 'two'\n\\n \r\n$x\t@file"
        let request = bare(method: .post, body: .text(text, contentType: "text/plain"))
        let (words, _) = try await words(of: request.curl(hiding: nil))
        #expect(words == plain + ["-H", "Content-Type: text/plain", "--data-raw", text, "http://a/"])
    }

    @Test func bodyThatNoArgumentCanHoldIsPiped() async throws {
        for bytes in [Array(0...255), [0], Array("%s\\n".utf8) + [0, 0xFF], pattern(100_000)] as [[UInt8]] {
            let request = bare(method: .put, body: Body(Bytes(bytes)))
            let (words, input) = try await words(of: request.curl(hiding: nil))
            #expect(words == ["-X", "PUT"] + plain + ["-H", "Content-Type:", "--data-binary", "@-", "http://a/"])
            #expect(input == bytes)
        }
    }

    @Test(arguments: [(HTTPVersionPolicy.http3IfPossible, "--http3"), (.http3Only, "--http3-only")])
    func theChoiceOfHTTP3IsCurls(policy: HTTPVersionPolicy, option: String) async throws {
        var request = Request<Bytes>("https://a/")
        request.httpVersionPolicy = policy
        let (words, _) = try await words(of: request.curl(hiding: nil))
        #expect(words.contains(option))
    }

    @Test func optionsMatchTheRequest() async throws {
        var request = Request<Bytes>("http://[::1]:8080/a?q={x}", method: .delete)
        request.headers["X-Empty"] = ""
        request.headers["User-Agent"] = "me"
        request.credentials = .digest(user: "me", password: "p:w")
        request.proxy = Proxy("http://proxy:3128", credentials: .basic(user: "u", password: "v"), bypass: ["b", "c"])
        request.unixSocket = "/run/a b"
        request.httpVersionPolicy = .http1
        request.addressOverrides = [AddressOverride(host: "a", port: 1, toHost: "::1")]
        request.keepsDotSegments = true
        request.acceptsTransferCodings = true
        request.trust = TrustPolicy(roots: .file("/ca.pem"), acceptsAnything: true)
        let (words, _) = try await words(of: request.curl(hiding: nil))
        #expect(
            words == [
                "-X", "DELETE", "-L", "--max-redirs", "20", "--compressed", "--tr-encoding", "--path-as-is",
                "--http1.1", "--unix-socket", "/run/a b", "--connect-to", "a:1:[::1]:", "-k", "--cacert", "/ca.pem",
                "--digest",
                "-u", "me:p:w",
                "-x",
                "http://proxy:3128", "--noproxy", "b,c", "-U", "u:v", "-H", "X-Empty;", "-H", "User-Agent: me", "-H",
                "Accept:", "--globoff", "http://[::1]:8080/a?q={x}",
            ])
    }

    @Test func methodsThatCurlInfersAreOmitted() async throws {
        #expect(bare(method: .head).curl == "curl --head -H Accept: -H User-Agent: http://a/")
        #expect(bare().curl == "curl -H Accept: -H User-Agent: http://a/")
        #expect(bare(method: .post).curl == "curl -X POST -H Accept: -H User-Agent: http://a/")
        #expect(
            bare(body: Body([])).curl
                == "curl -X GET -H Accept: -H User-Agent: -H Content-Type: --data-raw '' http://a/")
        #expect(bare(method: .put, body: .file("/f g")).curl.contains("--data-binary '@/f g'"))
    }

    @Test func streamedBodyKeepsItsMethod() async throws {
        let expected = " -H Expect: -H Content-Type: -T - http://a/"
        let body = Body.once(Pieces([Bytes([1])]))
        #expect(bare(method: .post, body: body).curl == "curl -X POST -H Accept: -H User-Agent:" + expected)
        #expect(bare(method: .patch, body: body).curl.hasPrefix("curl -X PATCH -H"))
        #expect(bare(method: .put, body: body).curl == "curl -H Accept: -H User-Agent:" + expected)
        #expect(bare(body: body).curl == "curl -X GET -H Accept: -H User-Agent:" + expected)
    }

    @Test func bodyContentTypeIsIncluded() async throws {
        let text = Body.text("hi hi hi", contentType: "text/plain")
        let (words, input) = try await words(of: bare(method: .post, body: try text.gzipped()).curl(hiding: nil))
        #expect(
            words == plain + [
                "-H", "Content-Type: text/plain", "-H", "Content-Encoding: gzip", "--data-binary", "@-", "http://a/",
            ])
        #expect(input == Array(try text.gzipped().bytes))
        var named = bare(method: .post, body: try text.gzipped())
        named.headers["content-encoding"] = "br"
        #expect(!named.curl.contains("gzip"))
    }

    @Test func parametersAppearWhereTheyAreSent() async throws {
        var request = bare()
        request.parameters = ["q": "a b", "token": "s"]
        #expect(request.curl(hiding: nil).hasSuffix(" 'http://a/?q=a%20b&token=s'"))
        request.method = .post
        #expect(request.curl(hiding: nil).contains(" --data-raw 'q=a%20b&token=s' "))
        #expect(request.curl.contains(" --data-raw 'q=a%20b&token=[hidden]' "))
    }

    @Test func lineContainsNoSecretUnlessRequested() async throws {
        var request = bare(
            "http://\(canary):\(canary)@a/?token=\(canary)#key=\(canary)", method: .post,
            body: .text(#"{"password":"\#(canary)"}"#, contentType: "application/json"))
        request.headers = ["Authorization": canary, "Cookie": canary, "X-Api-Key": canary]
        for credentials in [
            Credentials.basic(user: "me", password: canary), .bearer(canary), .any(user: "me", password: canary),
        ] {
            request.credentials = credentials
            request.proxy = Proxy(
                "http://\(canary):\(canary)@p", credentials: credentials, headers: ["Proxy-Authorization": canary])
            #expect(!request.curl.contains(canary))
        }
        request.body = .text(canary)
        #expect(!request.curl.contains(canary))
        #expect(request.curl(hiding: nil).contains(canary))
    }
}

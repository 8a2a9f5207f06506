import Testing

/// The effect of each option on the request, as the server receives it.
@Suite(.timeLimit(.minutes(5)))
struct RequestOptionTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
    }

    private func received(_ words: [String], input: [UInt8] = []) async throws -> ReceivedRequest {
        let outcome = try await nk(words + [server.url("/p?q=1")], input: input)
        #expect(outcome.code == 0 && outcome.text == "ok" && outcome.errors == "")
        return server.received()
    }

    @Test func defaultRequestIsAGETWithTwoFields() async throws {
        let request = try await received([])
        #expect(request.requestLine == "GET /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Host") == ["127.0.0.1:\(server.port)"])
        #expect(request.values(named: "User-Agent") == ["nk/0.1.0"])
        #expect(request.values(named: "Accept") == ["*/*"])
        #expect(request.fields.count == 3)
    }

    @Test(arguments: [["-X", "DELETE"], ["--request", "DELETE"], ["-XDELETE"], ["-sXDELETE"]])
    func requestSetsTheMethod(words: [String]) async throws {
        #expect(try await received(words).requestLine == "DELETE /p?q=1 HTTP/1.1")
    }

    @Test(arguments: ["-H", "--header"])
    func headersAreSentInOrderAndReplaceDefaults(option: String) async throws {
        let request = try await received([
            option, "X-A: 1", option, "x-a:2", option, "X-Empty;", option, "ACCEPT: a/b", option, "X-Colons: a:b;c",
        ])
        #expect(request.values(named: "X-A") == ["1", "2"])
        #expect(request.values(named: "X-Empty") == [""])
        #expect(request.values(named: "Accept") == ["a/b"])
        #expect(request.values(named: "X-Colons") == ["a:b;c"])
    }

    @Test func headersAreReadFromAFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("X-A: 1\r\n\nX-A: 2\nAccept:\n".utf8), to: "fields", mode: 0o600)
        let request = try await received(["-H", "@" + folder.file("fields"), "-H", "X-A: 3"])
        #expect(request.values(named: "X-A") == ["1", "2", "3"])
        #expect(request.values(named: "Accept").isEmpty)
        try folder.write(Array("X-A: 1\n@other\n".utf8), to: "fields", mode: 0o600)
        let outcome = try await nk("-H", "@" + folder.file("fields"), server.url("/"))
        #expect(outcome.code == 2 && outcome.errors.contains("line 2 of \(folder.file("fields"))"))
        #expect(try await nk("-H", "@" + folder.file("none"), server.url("/")).code == 26)
    }

    @Test func headersAreReadFromStandardInput() async throws {
        let request = try await received(["-H", "@-", "-H", "X-A: 2"], input: Array("X-A: 1\nAccept:".utf8))
        #expect(request.values(named: "X-A") == ["1", "2"] && request.values(named: "Accept").isEmpty)
        let outcome = try await nk(["-H", "@-", server.url("/")], input: Array("hush\n".utf8))
        #expect(outcome.code == 2 && outcome.errors.contains("line 1 of standard input"))
        #expect(!outcome.errors.contains("hush"))
    }

    @Test func headerWithoutAValueRemovesADefault() async throws {
        let request = try await received(["-H", "User-Agent:", "-H", "Content-Type:", "-d", "a", "-H", "Expect:"])
        #expect(request.values(named: "User-Agent").isEmpty)
        #expect(request.values(named: "Content-Type").isEmpty)
    }

    @Test func removedAuthorizationIsNotReplacedByURLCredentials() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("machine 127.0.0.1 login me password hush\n".utf8), to: ".netrc", mode: 0o600)
        try folder.write(Array("Authorization:\n".utf8), to: "fields")
        let ways = [
            (["-u", "me:hush", "-H", "Authorization:"], nil),
            (["-u", "me:hush", "-H", "@" + folder.file("fields")], nil),
            (["-H", "authorization:"], "me:hush"), (["-n", "-H", "Authorization:"], nil),
        ]
        for (index, (words, login)) in ways.enumerated() {
            #expect(try await nk(words + [server.url("/", userinfo: login)], home: folder.path).code == 0)
            #expect(server.received(index).values(named: "Authorization").isEmpty)
        }
        let own = ["-u", "me:hush", "-H", "Authorization:", "-H", "Authorization: Own x"]
        #expect(try await nk(own + [server.url("/")]).code == 0)
        #expect(server.received(ways.count).values(named: "Authorization") == ["Own x"])
    }

    @Test func removedAuthorizationDisablesDigest() async throws {
        server.script(
            "/d", [Reply(status: 401, headers: ["WWW-Authenticate: Digest realm=\"r\", nonce=\"n\""]), .text("in")])
        #expect(try await nk("--digest", "-u", "me:hush", "-H", "Authorization:", server.url("/d")).text == "in")
    }

    @Test func removedAcceptEncodingRequestsNoCodings() async throws {
        let request = try await received(["--compressed", "-H", "Accept-Encoding:"])
        #expect(request.values(named: "Accept-Encoding").isEmpty)
    }

    @Test func hostFieldCanBeReplaced() async throws {
        #expect(try await received(["-H", "Host: example.com"]).values(named: "Host") == ["example.com"])
    }

    @Test(arguments: [["-A", "me/1"], ["--user-agent", "me/1"], ["-H", "User-Agent: me/1"]])
    func userAgentCanBeReplaced(words: [String]) async throws {
        #expect(try await received(words).values(named: "User-Agent") == ["me/1"])
    }

    @Test func emptyUserAgentIsOmitted() async throws {
        #expect(try await received(["-A", ""]).values(named: "User-Agent").isEmpty)
    }

    @Test(arguments: ["-e", "--referer"])
    func refererIsSentUnlessAFieldOverridesIt(option: String) async throws {
        #expect(try await received([option, "http://a.test/p"]).values(named: "Referer") == ["http://a.test/p"])
        server.forgetRequests()
        #expect(try await received([option, "a", "-H", "Referer: b"]).values(named: "Referer") == ["b"])
        server.forgetRequests()
        #expect(try await received([option, ""]).values(named: "Referer").isEmpty)
    }

    @Test(arguments: [
        ("Tue, 15 Nov 1994 12:45:26 GMT", "If-Modified-Since", "Tue, 15 Nov 1994 12:45:26 GMT"),
        ("20200102", "If-Modified-Since", "Thu, 02 Jan 2020 00:00:00 GMT"),
        ("-2020-01-02", "If-Unmodified-Since", "Thu, 02 Jan 2020 00:00:00 GMT"),
        ("+2020-01-02T03:04:05Z", "If-Modified-Since", "Thu, 02 Jan 2020 03:04:05 GMT"),
        ("=Sun, 06 Nov 1994 08:49:37 GMT", "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("dec 12 12:00:00 1999 GMT", "If-Modified-Since", "Sun, 12 Dec 1999 12:00:00 GMT"),
        ("-dec 12 11:00:00 1999 GMT", "If-Unmodified-Since", "Sun, 12 Dec 1999 11:00:00 GMT"),
        ("Sep 11 2004", "If-Modified-Since", "Sat, 11 Sep 2004 00:00:00 GMT"),
    ])
    func dateAddsACondition(text: String, name: String, value: String) async throws {
        #expect(try await received(["-z", text]).values(named: name) == [value])
    }

    @Test func fileTimeAddsAConditionOnlyIfTheFileExists() async throws {
        let folder = try TemporaryFolder()
        server.script("/f", Reply(headers: ["Last-Modified: Thu, 02 Jan 2020 00:00:00 GMT"], body: Array("new".utf8)))
        let words = ["-R", "--time-cond", folder.file("f"), "-o", folder.file("f"), server.url("/f")]
        let first = try await nk(words)
        #expect(first.code == 0 && folder.contents(of: "f") == Array("new".utf8))
        #expect(first.errorLines.count == 1 && first.errors.contains("nk: warning: -z"))
        #expect(server.received(0).values(named: "If-Modified-Since").isEmpty)
        server.script("/f", Reply(status: 304))
        #expect(try await nk(words).errors == "" && folder.contents(of: "f") == Array("new".utf8))
        #expect(server.received(1).values(named: "If-Modified-Since") == ["Thu, 02 Jan 2020 00:00:00 GMT"])
    }

    @Test(arguments: [("=https", 1), ("-http", 1), ("-all,https", 1), ("+https", 0), ("=HTTPS,ftp,http", 0), ("", 0)])
    func protoCanExcludePlainHTTP(list: String, code: Int32) async throws {
        let outcome = try await nk("--proto", list, server.url("/"))
        #expect(outcome.code == code && server.requestCount == (code == 0 ? 1 : 0))
        #expect(
            outcome.errorLines == (code == 0 ? [] : ["nk: (1) the URL uses http, which --proto excludes; use https"]))
    }

    /// Includes switches that do nothing, that several options share, and that have "no-" in their own name.
    @Test func everySwitchCanBeNegated() async throws {
        let folder = try TemporaryFolder()
        let words = [
            "--no-globoff", "--no-netrc", "--no-remove-on-error", "--no-buffer", "--buffer", "--no-progress-bar",
            "--progress-meter", "--no-disable", "--no-parallel", "--no-retry-connrefused", "--alpn", "--no-help",
            "--no-version", "--no-get", "--no-head", "--no-remote-time", "--no-insecure", "--no-include",
        ]
        let outcome = try await nk(["-sI", "-i"] + words + [server.url("/")])
        #expect(outcome.code == 0 && outcome.text == "ok" && outcome.errors == "")
        let named = ["--output-dir", folder.path, "--remote-name-all", "--no-remote-name", server.url("/file")]
        server.script("/file", Reply(body: Array("here".utf8)))
        #expect(try await nk(named).text == "here" && folder.contents(of: "file") == nil)
    }

    @Test func noRemoteNameDoesNotConsumeAnOutput() async throws {
        let folder = try TemporaryFolder()
        for words in [["-o", "one", "--no-remote-name"], ["--no-remote-name", "-o", "one"]] {
            let outcome = try await nk(words + [server.url("/")], folder: folder.path)
            #expect(outcome.code == 0 && outcome.text == "" && outcome.errors == "")
            #expect(folder.contents(of: "one") == Array("ok".utf8))
        }
    }

    @Test func negatedSwitchIsOff() async throws {
        server.script("/old", .redirect(to: "/"))
        let words = ["-Lvf", "--no-location", "--no-fail", "--compressed", "--no-compressed", "--no-verbose"]
        let outcome = try await nk(words + ["-w", "%{http_code}", server.url("/old")])
        #expect(outcome.code == 0 && outcome.text.hasSuffix("302") && outcome.errors == "")
        #expect(server.received().values(named: "Accept-Encoding").isEmpty)
        #expect(try await nk("--no-location", "-L", server.url("/old")).text == "ok")
    }

    @Test func urlCanFollowAnOption() async throws {
        let outcome = try await nk("--url", server.url("/1"), server.url("/2"), "--url", "127.0.0.1:\(server.port)/3")
        #expect(outcome.code == 0)
        #expect((0..<3).map { server.received($0).requestLine.split(separator: " ")[1] } == ["/1", "/2", "/3"])
    }

    @Test(arguments: ["-d", "--data"])
    func dataIsPostedAsAForm(option: String) async throws {
        let request = try await received([option, "a=1", option, "b=é"])
        #expect(request.requestLine == "POST /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Content-Type") == ["application/x-www-form-urlencoded"])
        #expect(request.values(named: "Content-Length") == ["8"])
        #expect(request.body == Array("a=1&b=é".utf8))
    }

    @Test func emptyDataIsPosted() async throws {
        let request = try await received(["-d", ""])
        #expect(request.requestLine == "POST /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Content-Length") == ["0"])
    }

    @Test func dataWithAMethodKeepsTheMethod() async throws {
        let request = try await received(["-XPUT", "-d", "x", "-H", "Content-Type: text/x"])
        #expect(request.requestLine == "PUT /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Content-Type") == ["text/x"])
        #expect(request.body == Array("x".utf8))
    }

    @Test func dataFromAFileIsSentWithoutLineEndings() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("a=1\r\nb=2\n".utf8) + [0, 0xff], to: "form")
        let request = try await received(["-d", "@" + folder.file("form"), "-d", "c"])
        #expect(request.body == Array("a=1b=2".utf8) + [0xff] + Array("&c".utf8))
    }

    @Test func dataIsReadFromStandardInput() async throws {
        #expect(try await received(["-d", "@-"], input: Array("x\ny".utf8)).body == Array("xy".utf8))
    }

    @Test func jsonIsPostedAsJSON() async throws {
        let request = try await received(["--json", #"{"a":"#, "--json", "1}"])
        #expect(request.requestLine == "POST /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Content-Type") == ["application/json"])
        #expect(request.values(named: "Accept") == ["application/json"])
        #expect(request.body == Array(#"{"a":1}"#.utf8))
    }

    @Test func jsonFromStandardInputIsSentUnchanged() async throws {
        #expect(try await received(["--json", "@-"], input: Array("[\r\n]\n".utf8)).body == Array("[\r\n]\n".utf8))
    }

    @Test func compressedRequestsCodingsAndDecodesThem() async throws {
        let stored: [UInt8] = [0x78, 0x01, 0x01, 0x02, 0x00, 0xfd, 0xff, 0x68, 0x69, 0x01, 0x3b, 0x00, 0xd2]
        server.script("/z", Reply(headers: ["Content-Encoding: deflate"], body: stored))
        #expect(try await nk(server.url("/z")).bytes == stored)
        #expect(server.received(0).values(named: "Accept-Encoding").isEmpty)
        #expect(try await nk("--compressed", server.url("/z")).text == "hi")
        #expect(server.received(1).values(named: "Accept-Encoding").first?.contains("gzip") == true)
    }

    @Test(arguments: [0, 3])
    func trEncodingRequestsATransferCodingAndDecodesIt(chunkBytes: Int) async throws {
        let stored: [UInt8] = [0x78, 0x01, 0x01, 0x02, 0x00, 0xfd, 0xff, 0x68, 0x69, 0x01, 0x3b, 0x00, 0xd2]
        let field = "Transfer-Encoding: deflate" + (chunkBytes == 0 ? "" : ", chunked")
        let ending = chunkBytes == 0 ? Reply.Ending.close : .keep
        server.script("/t", Reply(headers: [field], body: stored, chunkBytes: chunkBytes, ending: ending))
        let refused = try await nk(server.url("/t"))
        #expect(refused.code == 8 && refused.errors.contains("Transfer-Encoding") && refused.bytes.isEmpty)
        #expect(server.received(0).values(named: "TE").isEmpty)
        #expect(try await nk("--tr-encoding", server.url("/t")).text == "hi")
        #expect(server.received(1).values(named: "TE") == ["gzip"])
        #expect(server.received(1).values(named: "Connection") == ["TE"])
        #expect(try await nk("--tr-encoding", "-H", "TE:", server.url("/t")).code == 8)
        #expect(try await nk("--tr-encoding", "--max-filesize", "1", server.url("/t")).code == 63)
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func plaintextServerUsesHTTP1(option: String) async throws {
        let request = try await received([option])
        #expect(request.requestLine == "GET /p?q=1 HTTP/1.1")
        #expect(request.values(named: "Upgrade").isEmpty)
    }

    @Test(arguments: ["-0", "--http1.0"])
    func http10IsUsedWhenRequested(option: String) async throws {
        let outcome = try await nk("-v", option, server.url("/p"))
        #expect(outcome.text == "ok" && outcome.errorLines.contains("> GET /p HTTP/1.0"))
        #expect(server.received().requestLine == "GET /p HTTP/1.0")
    }

    @Test func resolveMapsANameToAnAddress() async throws {
        let port = server.port
        for host in ["name.test", "*"] {
            let outcome = try await nk("--resolve", "\(host):\(port):127.0.0.1", "http://name.test:\(port)/")
            #expect(outcome.text == "ok")
        }
        #expect(server.received(0).values(named: "Host") == ["name.test:\(port)"])
    }

    @Test func firstOfSeveralAddressesIsUsed() async throws {
        let port = server.port
        let words = ["--resolve", "name.test:\(port):127.0.0.1,[::1],127.0.0.9", "http://name.test:\(port)/"]
        #expect(try await nk(words).text == "ok")
    }

    @Test(arguments: [
        ["*:PORT:127.0.0.9", "name.test:PORT:127.0.0.1"], ["name.test:PORT:127.0.0.1", "*:PORT:127.0.0.9"],
        ["name.test:PORT:127.0.0.9", "NAME.test:PORT:127.0.0.1"], ["*:PORT:127.0.0.9", "*:PORT:127.0.0.1"],
        ["name.test:PORT:127.0.0.1", "name.test:1:127.0.0.9", "other.test:PORT:127.0.0.9"],
    ])
    func resolveNamePrecedesWildcardAndTheLastEntryApplies(resolved: [String]) async throws {
        let port = server.port
        let words = resolved.flatMap { ["--resolve", $0.replacing("PORT", with: "\(port)")] }
        #expect(try await nk(["-m", "20"] + words + ["http://name.test:\(port)/"]).text == "ok")
    }

    @Test(arguments: [
        ["name.test:80:there.test:PORT"], ["::there.test:PORT"], [":80:there.test:PORT", "name.test:80:127.0.0.9:1"],
    ])
    func connectToTargetIsResolved(connections: [String]) async throws {
        let port = server.port
        let words = connections.flatMap { ["--connect-to", $0.replacing("PORT", with: "\(port)")] }
        let resolved = ["--resolve", "name.test:80:127.0.0.9", "--resolve", "there.test:\(port):127.0.0.1"]
        #expect(try await nk(["-m", "20"] + words + resolved + ["http://name.test/"]).text == "ok")
        #expect(server.received(0).values(named: "Host") == ["name.test"])
    }

    @Test(arguments: ["name.test:80", "name.test:", ":80", ":"])
    func connectToChangesTheDestination(place: String) async throws {
        let outcome = try await nk("--connect-to", "\(place):127.0.0.1:\(server.port)", "http://name.test/")
        #expect(outcome.text == "ok")
        #expect(server.received(0).values(named: "Host") == ["name.test"])
    }

    @Test func connectToAcceptsAnIPv6Address() async throws {
        let words = ["--connect-to", "[::1]:80:127.0.0.1:\(server.port)", "http://[::1]/"]
        #expect(try await nk(words).text == "ok")
    }

    @Test func credentialsInTheURLAreSent() async throws {
        #expect(try await nk(server.url("/", userinfo: "user:pass")).code == 0)
        #expect(server.received().values(named: "Authorization") == ["Basic dXNlcjpwYXNz"])
    }
}

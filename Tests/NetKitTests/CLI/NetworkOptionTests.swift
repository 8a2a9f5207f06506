import Testing

/// Options for connections: proxies, Unix sockets, protocols, rates, and the response heads.
@Suite(.timeLimit(.minutes(5)))
struct NetworkOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
        folder = try TemporaryFolder()
    }

    // MARK: Proxies

    @Test(arguments: ["-x", "--proxy"])
    func httpProxyReceivesTheAbsoluteForm(option: String) async throws {
        let proxy = try ProxyServer()
        for proxyAddress in [proxy.url, String(proxy.url.dropFirst("http://".count))] {
            #expect(try await nk(option, proxyAddress, server.url("/p")).text == "ok")
        }
        #expect(proxy.requestCount == 2 && proxy.tunnelCount == 0)
        #expect(proxy.received().requestLine == "GET \(server.url("/p")) HTTP/1.1")
    }

    @Test func tunnelCarriesTLS() async throws {
        let proxy = try ProxyServer()
        let secure = try LoopbackServer(.valid)
        secure.script("/", .text("secret"))
        let outcome = try await nk("-k", "-x", proxy.url, "--proxy-header", "X-Way: in", secure.url("/"))
        #expect(outcome.text == "secret")
        #expect(proxy.tunnelCount == 1 && proxy.received().values(named: "X-Way") == ["in"])
        #expect(secure.received().values(named: "X-Way").isEmpty)
    }

    @Test func proxyFieldsAreReadFromAFile() async throws {
        let proxy = try ProxyServer()
        try folder.write(Array("X-Way: in\nX-Token: hush\n".utf8), to: "fields", mode: 0o600)
        let words = ["-v", "-x", proxy.url, "--proxy-header", "@" + folder.file("fields")]
        let outcome = try await nk(words + [server.url("/")])
        #expect(outcome.text == "ok" && !outcome.errors.contains("hush"))
        #expect(proxy.received().values(named: "X-Token") == ["hush"])
        try folder.write(Array("X-Way:\n".utf8), to: "fields", mode: 0o600)
        #expect(try await nk(words + [server.url("/")]).code == 2)
    }

    @Test(arguments: ["-p", "--proxytunnel"])
    func tunnelCarriesPlainHTTPWhenRequested(option: String) async throws {
        let proxy = try ProxyServer()
        #expect(try await nk(option, "-x", proxy.url, server.url("/p")).text == "ok")
        #expect(proxy.tunnelCount == 1 && server.received().requestLine == "GET /p HTTP/1.1")
    }

    @Test(arguments: ["--socks5", "--socks5-hostname"])
    func socksProxyHasItsOwnOption(option: String) async throws {
        let proxy = try ProxyServer(.socks5)
        let proxyAddress = String(proxy.url.dropFirst("socks5h://".count))
        #expect(try await nk(option, proxyAddress, server.url("/")).text == "ok" && proxy.tunnelCount == 1)
    }

    @Test(arguments: [("--socks4", "socks4"), ("--socks4a", "socks4a"), ("--socks5-hostname", "socks5h")])
    func schemeDeterminesTheSOCKSVersion(option: String, scheme: String) async throws {
        for proxyAddress in ["proxy.test:9", "\(scheme)://proxy.test:9"] {
            let line = try await nk("--curl", option, proxyAddress, server.url("/")).text
            #expect(line.contains(" \(scheme)://proxy.test:9 "))
        }
    }

    @Test(arguments: ["socks5", "socks5h"])
    func aSOCKSProxyIsUsed(scheme: String) async throws {
        let proxy = try ProxyServer(.socks5, user: "me", password: "hush")
        let proxyAddress = proxy.url.replacingPrefix("socks5h://", with: "\(scheme)://me:hu%73h@")
        let outcome = try await nk("-v", "-x", proxyAddress, server.url("/"))
        #expect(outcome.text == "ok" && proxy.tunnelCount == 1)
        #expect(!outcome.errors.contains("hush") && !outcome.errors.contains("hu%73h"))
    }

    @Test(arguments: [["-U", "me:hush"], ["--proxy-user", "me:hush"]])
    func proxyCredentialsAreSentOnlyToTheProxy(words: [String]) async throws {
        let proxy = try ProxyServer(user: "me", password: "hush")
        let refused = try await nk("-x", proxy.url, server.url("/"))
        #expect(refused.code == 0 && server.requestCount == 0)
        let fields = ["--proxy-header", "X-Api-Key: hush"]
        let outcome = try await nk(["-v", "-x", proxy.url] + words + fields + [server.url("/")])
        #expect(outcome.text == "ok" && !outcome.errors.contains("hush") && !outcome.errors.contains("aHVzaA"))
        #expect(outcome.errorLines.contains("* through \(proxy.url) (credentials [hidden], X-Api-Key: [hidden])"))
        #expect(proxy.received(1).values(named: "Proxy-Authorization") == ["Basic bWU6aHVzaA=="])
        #expect(server.received().values(named: "Proxy-Authorization").isEmpty)
    }

    @Test(arguments: ["127.0.0.1", "*", "other.test,127.0.0.1"])
    func excludedHostsBypassTheProxy(list: String) async throws {
        let proxy = try ProxyServer()
        #expect(try await nk("-x", proxy.url, "--noproxy", list, server.url("/")).text == "ok")
        #expect(try await nk("-x", proxy.url, "-x", "", server.url("/")).text == "ok")
        #expect(proxy.requestCount == 0)
    }

    @Test(arguments: ["proxy.test", "*"])
    func resolveAppliesToTheProxyHost(name: String) async throws {
        let proxy = try ProxyServer()
        let port = String(proxy.url.split(separator: ":").last ?? "")
        let words = ["-v", "-x", "proxy.test:\(port)", "--resolve", "\(name):\(port):127.0.0.1", server.url("/")]
        let outcome = try await nk(words)
        #expect(outcome.text == "ok" && proxy.requestCount == 1)
        #expect(outcome.errorLines.contains("* through http://proxy.test:\(port)"))
    }

    @Test func proxyReceivesTheUnresolvedName() async throws {
        let proxy = try ProxyServer(user: "me", password: "secret")  // Refuses these requests, so it resolves no name.
        let port = server.port
        for host in ["name.test", "*"] {
            let words = ["-x", proxy.url, "--resolve", "\(host):\(port):127.0.0.1"]
            _ = try await nk(words + ["http://name.test:\(port)/p"])
            _ = try await nk(words + ["-k", "https://name.test:\(port)/"])
        }
        #expect(proxy.requestCount == 4)
        for index in [0, 2] {
            #expect(proxy.received(index).requestLine == "GET http://name.test:\(port)/p HTTP/1.1")
            #expect(proxy.received(index + 1).requestLine == "CONNECT name.test:\(port) HTTP/1.1")
        }
        let direct = ["-x", proxy.url, "--noproxy", "test", "--resolve", "name.test:\(port):127.0.0.1"]
        #expect(try await nk(direct + ["http://name.test:\(port)/"]).text == "ok")
        #expect(proxy.requestCount == 4)
    }

    @Test func locallyResolvingProxyReceivesTheMappedAddress() async throws {
        let proxy = try ProxyServer(.socks5)
        let proxyAddress = proxy.url.replacingPrefix("socks5h", with: "socks5")
        let words = ["-x", proxyAddress, "--resolve", "name.test:\(server.port):127.0.0.1"]
        #expect(try await nk(words + ["http://name.test:\(server.port)/"]).text == "ok")
        #expect(proxy.tunnelCount == 1)
    }

    @Test func unreachableProxyExitsWith7AndPrintsNoSecret() async throws {
        let port = try ReservedPort(acceptsConnections: false).number
        for scheme in ["http", "socks5"] {
            let outcome = try await nk("-v", "-x", "\(scheme)://me:hush@127.0.0.1:\(port)", server.url("/"))
            #expect([7, 97].contains(outcome.code) && !outcome.errors.contains("hush"))
        }
        #expect(server.requestCount == 0)
    }

    // MARK: Sockets and protocols

    @Test func unixSocketIsUsed() async throws {
        let local = try LoopbackServer(unixPath: folder.file("socket"))
        local.script("/", .text("local"))
        #expect(try await nk("--unix-socket", folder.file("socket"), "http://name.test/").text == "local")
        #expect(local.received().values(named: "Host") == ["name.test"])
        #expect(try await nk("--unix-socket", folder.file("none"), "http://name.test/").code == 7)
    }

    @Test(arguments: ["-4", "--ipv4", "-64"])
    func onlyIPv4AddressesAreUsed(word: String) async throws {
        #expect(try await nk(word, server.url("/")).code == 0)
    }

    @Test(arguments: ["-6", "--ipv6", "-46"])
    func onlyIPv6AddressesAreUsed(word: String) async throws {
        let outcome = try await nk(word, server.url("/"))
        #expect(outcome.code == 7 && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("127.0.0.1:\(server.port), over IPv6"))
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["46", "ef", "AF21", "0", "default"])
    func classOfServiceIsAccepted(name: String) async throws {
        #expect(try await nk("--dscp", name, server.url("/")).code == 0)
    }

    @Test(arguments: ["64", "-1", "af14", "", "fast"])
    func invalidClassOfServiceIsRefused(name: String) async throws {
        let outcome = try await nk("--dscp", name, server.url("/"))
        #expect(outcome.code == 2 && outcome.errorLines.count == 1)
        #expect(server.requestCount == 0)
    }

    @Test func priorKnowledgeUsesHTTP2Immediately() async throws {
        let outcome = try await nk("--http2-prior-knowledge", server.url("/"))
        #expect(outcome.code != 0 && outcome.errorLines.count == 1)
        #expect(server.connectionCount == 1 && server.requestCount == 0)  // the server got HTTP/2
    }

    @Test func http3OnlyIsUsedOrRefused() async throws {
        let features = try await nk("--version").lines.last ?? ""
        let outcome = try await nk("--http3-only", "--connect-timeout", "1", "https://127.0.0.1:\(server.port)/")
        #expect(features.contains("HTTP3") ? outcome.code != 0 : outcome.code == 4)
        #expect(outcome.errorLines.count == 1)
    }

    @Test func http3FallsBackToHTTP1WhereTheServerHasNoQUIC() async throws {
        let outcome = try await nk("--http3", "-w", "%{http_version}", server.url("/"))
        #expect(outcome.code == 0 && outcome.lines.last?.hasSuffix("1.1") == true)
    }

    @Test func dotSegmentsAreKeptWhenRequested() async throws {
        let url = server.url("/a/../b/./c")
        #expect(try await nk(url).code == 0)
        #expect(try await nk("--path-as-is", url).code == 0)
        #expect(server.received(0).requestLine == "GET /b/c HTTP/1.1")
        #expect(server.received(1).requestLine == "GET /a/../b/./c HTTP/1.1")
    }

    @Test func dotSegmentsOfALocationAreKeptWhenRequested() async throws {
        server.script("/old", .redirect(to: "/a/../b/./c"))
        #expect(try await nk("-L", "--path-as-is", server.url("/old")).code == 0)
        #expect(server.received(1).requestLine == "GET /a/../b/./c HTTP/1.1")
    }

    @Test func rateIsLimited() async throws {
        server.script("/large", Reply(patternLength: 40_000))
        let format = "%{stderr}%{speed_download} %{size_download}"
        let outcome = try await nk("--limit-rate", "100k", "-w", format, server.url("/large"))
        let numbers = outcome.errors.split(separator: " ").compactMap { Int($0) }
        #expect(outcome.bytes.count == 40_000 && numbers.count == 2)
        // The limiter does not delay the first tenth of a second's bytes and one piece of 16 KiB. A busy machine only
        // lowers the rate.
        #expect(numbers[0] <= 320 << 10)
    }

    // MARK: Heads

    @Test(arguments: ["-D", "--dump-header"])
    func headsOfAllHopsAreWritten(option: String) async throws {
        server.script("/old", .redirect(to: "/new"))
        let outcome = try await nk(option, folder.file("heads"), "-L", server.url("/old"), server.url("/x"))
        #expect(outcome.text == "okok")
        let heads = String(decoding: folder.contents(of: "heads") ?? [], as: UTF8.self)
        #expect(heads.hasPrefix("HTTP/1.1 302 \r\nLocation: /new\r\n") && heads.hasSuffix("\r\n\r\n"))
        #expect(heads.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/") }.count == 3)
    }

    @Test func headsCanPrecedeTheBody() async throws {
        let outcome = try await nk("-D", "-", server.url("/"))
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 \r\n") && outcome.text.hasSuffix("\r\n\r\nok"))
        let file = try await nk("-D", "-", "-o", folder.file("out"), server.url("/"))
        #expect(file.text.hasPrefix("HTTP/1.1 200 \r\n") && file.text.hasSuffix("\r\n\r\n"))
        #expect(folder.contents(of: "out") == Array("ok".utf8))
    }

    @Test(arguments: [["-o", "both"], ["-o", "./both"], ["-O"], ["--resume", "-o", "both"]])
    func headsCannotReplaceTheBodyFile(words: [String]) async throws {
        try folder.write(Array("old".utf8), to: "both")
        let outcome = try await nk(["-D", "both"] + words + [server.url("/both")], folder: folder.path)
        #expect(outcome.code == 2 && outcome.errorLines.count == 1 && outcome.errors.contains("use -i"))
        #expect(folder.contents(of: "both") == Array("old".utf8) && server.requestCount == 0)
        // If both outputs are the same device or pipe, they are written one after the other.
        let device = try await nk("-D", "/dev/stdout", "-o", "/dev/stdout", server.url("/"))
        #expect(device.code == 0 && device.text.hasPrefix("okHTTP/1.1 200"))
    }

    @Test(arguments: ["./both", "FOLDER/both", "../NAME/both", "link"])
    func headsCannotUseTheFutureBodyFile(path: String) async throws {
        let name = folder.path.split(separator: "/").last.map(String.init) ?? ""
        let path = path.replacing("FOLDER", with: folder.path).replacing("NAME", with: name)
        try folder.link("link", to: "both")
        for (heads, body) in [("both", path), (path, "both")] {
            let outcome = try await nk(["-D", heads, "-o", body, server.url("/")], folder: folder.path)
            #expect(outcome.code == 2 && outcome.errorLines.count == 1 && outcome.errors.contains("use -i"))
        }
        #expect(folder.contents(of: "both") == nil && server.requestCount == 0)
        #expect(try await nk(["-D", "heads", "-o", path, server.url("/")], folder: folder.path).code == 0)
    }

    @Test(arguments: [[], ["-N"], ["--no-buffer"]])
    func receivedBytesAreWrittenImmediately(words: [String]) async throws {
        server.script("/half", Reply(patternLength: 10, cutAfter: 40 + 5, ending: .stall))
        let run = try start(words + [server.url("/half")])
        try await server.waitForStalled(1)
        await run.waitForOutput()
        run.send(SIGTERMNumber)
        let outcome = await run.ended()
        #expect("abcdefghij".hasPrefix(outcome.text) && outcome.text != "")
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}

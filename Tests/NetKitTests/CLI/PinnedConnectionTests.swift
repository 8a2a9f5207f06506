import Testing

/// Pins in `nk` over several connections, hops and hosts. A refused host receives no byte of a request.
@Suite(.timeLimit(.minutes(5)))
struct PinnedConnectionTests {
    private static let wrong = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private let server: LoopbackServer
    private let other: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer(.valid)
        other = try LoopbackServer(.valid)
        for one in [server, other] {
            one.script("/a", .text("a"))
            one.script("/b", .text("b"))
        }
        folder = try TemporaryFolder()
        try folder.write(server.authority + other.authority, to: "ca.pem")
    }

    private var trusting: [String] { ["-sS", "--cacert", folder.file("ca.pem")] }

    /// Returns the pins of a server's chain, leaf first.
    private func pins(of server: LoopbackServer) async throws -> [String] {
        let shown = try await nk("pins", "--cacert", folder.file("ca.pem"), "127.0.0.1:\(server.port)")
        return shown.lines.filter { $0.hasPrefix("  pin ") }.compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    private func pinning(_ host: String, _ pin: String) -> [String] { ["--pin", "\(host)=\(pin)"] }

    @Test func reusedConnectionIsPinned() async throws {
        let pins = try await pins(of: server)
        let before = server.connectionCount
        let urls = [server.url("/a"), server.url("/b"), server.url("/a")]
        let good = try await nk(trusting + pinning("127.0.0.1", pins[0]) + urls)
        #expect(good.code == 0 && good.text == "aba", "\(good.errors)")
        #expect(server.connectionCount == before + 1)
        let bad = try await nk(trusting + pinning("127.0.0.1", Self.wrong) + urls)
        #expect(bad.code == 90 && bad.text == "")
        #expect(bad.errorLines.count { $0.hasPrefix("nk: (90) ") } == 3)
        #expect(server.requestCount == 3)
    }

    @Test func resumedTLSSessionIsPinned() async throws {
        let pins = try await pins(of: server)
        server.script("/once", Reply(body: Array("once".utf8), ending: .close))
        let urls = [String](repeating: server.url("/once"), count: 3)
        let before = server.connectionCount
        let good = try await nk(trusting + pinning("127.0.0.1", pins[1]) + urls)
        #expect(good.code == 0 && good.text == "onceonceonce", "\(good.errors)")
        #expect(server.connectionCount == before + 3 && server.resumedCount == 2)
        let bad = try await nk(trusting + pinning("127.0.0.1", Self.wrong) + urls)
        #expect(bad.code == 90 && bad.text == "")
        #expect(server.requestCount == 3 && server.resumedCount == 2)
    }

    @Test func changedPolicyAppliesToTheNextRequest() async throws {
        let pins = try await pins(of: server)
        let changes = [(pins[0], Int32(0)), (Self.wrong, 90), (pins[1], 0), (Self.wrong, 90), (pins[0], 0)]
        for (pin, code) in changes {
            let outcome = try await nk(trusting + pinning("127.0.0.1", pin) + [server.url("/a")])
            #expect(outcome.code == code && outcome.text == (code == 0 ? "a" : ""), "\(outcome.errors)")
        }
        #expect(server.requestCount == 3)
    }

    /// The second host has no pin, a right one, or a wrong one.
    @Test(arguments: [0, 1, 2]) func eachHopOfARedirectIsCheckedAgainstItsOwnPins(_ kind: Int) async throws {
        let first = try await pins(of: server)
        let second = try await pins(of: other)
        let there = "https://localhost:\(other.port)/b"
        server.script("/r", .redirect(to: there))
        let way = ["-L", "--connect-to", "localhost:\(other.port):127.0.0.1:\(other.port)"]
        let ofSecond = [[], pinning("localhost", second[0]), pinning("localhost", Self.wrong)][kind]
        let outcome = try await nk(
            trusting + way + pinning("127.0.0.1", first[0]) + ofSecond + [server.url("/r")])
        #expect(outcome.code == (kind == 2 ? 90 : 0), "\(outcome.errors)")
        #expect(outcome.text == (kind == 2 ? "" : "b"))
        #expect(server.requestCount == 1)
        #expect(other.requestCount == (kind == 2 ? 0 : 1))
        // If the first host's pin is wrong, no request is sent, so the redirect is never seen.
        let stopped = try await nk(trusting + way + pinning("127.0.0.1", Self.wrong) + [server.url("/r")])
        #expect(stopped.code == 90 && server.requestCount == 1)
    }

    @Test func plaintextRedirectToAPinnedHostIsRefused() async throws {
        let clear = try LoopbackServer()
        clear.script("/x", .text("clear"))
        let target = "http://localhost:\(clear.port)/x"
        clear.script("/r", .redirect(to: target))
        server.script("/r", .redirect(to: target))
        let way = ["-L", "--connect-to", "localhost:\(clear.port):127.0.0.1:\(clear.port)"]
        for start in [clear.url("/r"), server.url("/r")] {
            clear.forgetRequests()
            let outcome = try await nk(trusting + way + pinning("localhost", Self.wrong) + [start])
            #expect(outcome.code != 0 && outcome.text == "")
            #expect(clear.requestCount == (start == clear.url("/r") ? 1 : 0), "the redirect alone")
        }
        let free = try await nk(trusting + way + pinning("elsewhere.example", Self.wrong) + [clear.url("/r")])
        #expect(free.code == 0 && free.text == "clear")
    }

    @Test func tunnelledOriginIsPinnedAndTheProxyIsNot() async throws {
        let proxy = try ProxyServer()
        let pins = try await pins(of: server)
        let way = ["-x", proxy.url]
        let url = "https://localhost:\(server.port)/a"
        // The proxy's address is 127.0.0.1, but the pins of that host do not match it.
        let rules = pinning("localhost", pins[0]) + pinning("127.0.0.1", Self.wrong)
        let good = try await nk(trusting + way + rules + [url])
        #expect(good.code == 0 && good.text == "a", "\(good.errors)")
        let bad = try await nk(trusting + way + pinning("localhost", Self.wrong) + [url])
        #expect(bad.code == 90 && bad.text == "")
        #expect(proxy.tunnelCount == 2 && server.requestCount == 1)
        // A pinned host cannot be requested over plain HTTP by a proxy either.
        let clear = try await nk(trusting + way + rules + ["http://localhost:\(server.port)/a"])
        #expect(clear.code == 1 && proxy.requestCount == 2)
    }

    @Test func twoHostsOfOneServerAreCheckedAgainstTheirOwnPins() async throws {
        let pins = try await pins(of: server)
        let urls = ["https://localhost:\(server.port)/a", server.url("/b"), "https://localhost:\(server.port)/a"]
        let way = ["--resolve", "localhost:\(server.port):127.0.0.1"]
        let rules = pinning("localhost", pins[0]) + pinning("127.0.0.1", Self.wrong)
        let outcome = try await nk(trusting + way + rules + urls)
        #expect(outcome.code == 90 && outcome.text == "aa", "\(outcome.errors)")
        #expect(server.requestCount == 2)
    }

    @Test(.enabled(if: ExternalServer.isInstalled("nghttpd"), "nghttpd is missing"))
    func http2ConnectionIsNotSharedWithAHostOfAnotherPin() async throws {
        let family = try GeneratedCertificates()
        try folder.write(family.authority, to: "root.pem")
        try folder.write(family.certificate, to: "leaf.pem")
        try folder.write(family.key, to: "leaf.key")
        try folder.write(Array("h2".utf8), to: "a")
        let (files, key, certificate) = (folder.path, folder.file("leaf.key"), folder.file("leaf.pem"))
        let server = try await ExternalServer.start { port in
            ["nghttpd", "--address=127.0.0.1", "-d", files, "\(port)", key, certificate]
        }
        let urls = ["https://localhost:\(server.port)/a", "https://127.0.0.1:\(server.port)/a"]
        let words = [
            "-sS", "--cacert", folder.file("root.pem"), "--http2", "--resolve", "localhost:\(server.port):127.0.0.1",
            "-w", "|%{http_version}|",
        ]
        for order in [urls, urls.reversed()] {
            let good = try await nk(words + pinning("**", family.pin) + order)
            #expect(good.code == 0 && good.text == "h2|2|h2|2|", "\(good.errors)")
            let rules = pinning("localhost", family.pin) + pinning("127.0.0.1", Self.wrong)
            let bad = try await nk(words + rules + order)
            #expect(bad.code == 90, "\(bad.errors)")
            // The refused request has no response, and the other one has its own.
            #expect(bad.text.ranges(of: "h2|2|").count == 1 && bad.errorLines.count { $0.hasPrefix("nk: (90) ") } == 1)
        }
    }
}

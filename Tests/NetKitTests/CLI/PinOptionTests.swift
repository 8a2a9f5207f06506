import Testing

/// --pin, --pinnedpubkey and other TLS options, and the two commands for pins.
struct PinOptionTests {
    private static let wrong = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// A server, its authority in a file, and the output of `nk pins` for it.
    private struct Fixture {
        let server: LoopbackServer
        let folder: TemporaryFolder
        let authority: String
        let shown: Outcome
        let pins: [String]
    }

    private func fixture() async throws -> Fixture {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("ok"))
        let folder = try TemporaryFolder()
        try folder.write(server.authority, to: "ca.pem")
        let shown = try await nk("pins", "--cacert", folder.file("ca.pem"), "127.0.0.1:\(server.port)")
        let pins = shown.lines.filter { $0.hasPrefix("  pin ") }.compactMap { $0.split(separator: " ").last }
        return Fixture(
            server: server, folder: folder, authority: folder.file("ca.pem"), shown: shown, pins: pins.map(String.init))
    }

    @Test func pinsShowsTheVerifiedChainAndSendsNothing() async throws {
        let fixture = try await fixture()
        #expect(fixture.shown.code == 0)
        #expect(fixture.shown.errors.isEmpty)
        #expect(fixture.pins.count == 2)
        #expect(fixture.shown.lines.first == "certificate 1 (leaf)")
        #expect(fixture.shown.lines.contains("  names     DNS:localhost, IP Address:127.0.0.1"))
        #expect(fixture.shown.text.contains("--pin '127.0.0.1:\(fixture.server.port)=\(fixture.pins[0])'"))
        #expect(fixture.server.requestCount == 0)
        let doubtful = try await nk("pins", "127.0.0.1:\(fixture.server.port)")
        #expect(doubtful.code == 0)
        #expect(doubtful.errors.hasPrefix("nk: note: no trusted authority"))
        #expect(doubtful.text.contains(fixture.pins[0]))
    }

    @Test func pinsReadsAFileAndReportsErrors() async throws {
        let fixture = try await fixture()
        let shown = try await nk("pins", fixture.authority)
        #expect(shown.code == 0)
        #expect(shown.text.contains(fixture.pins[1]))
        #expect(try await nk("pins", fixture.folder.file("none.pem")).code == 26)
        try fixture.folder.write(Array("no certificate".utf8), to: "text.pem")
        let refused = try await nk("pins", fixture.folder.file("text.pem"))
        #expect(refused.code == 60)
        #expect(refused.errors.hasPrefix("nk: (60) \(fixture.folder.file("text.pem")): certificate 1"))
        #expect(try await nk("pins").code == 2)
        #expect(try await nk("pins", "a", "b").code == 2)
        #expect(try await nk("pins", "--nothing").code == 2)
        #expect(try await nk("pins", "--help").code == 0)
    }

    @Test func outputOfPinsIsAcceptedByAPolicy() async throws {
        let fixture = try await fixture()
        for pin in fixture.pins {
            let outcome = try await nk(
                "-sS", "--cacert", fixture.authority, "--pin", "127.0.0.1:\(fixture.server.port)=\(pin)",
                fixture.server.url("/"))
            #expect(outcome.code == 0)
            #expect(outcome.text == "ok")
        }
        let refused = try await nk(
            "-sS", "--cacert", fixture.authority, "--pin", "127.0.0.1=\(Self.wrong)", fixture.server.url("/"))
        #expect(refused.code == 90)
        for pin in fixture.pins + [Self.wrong] {
            #expect(refused.errors.contains(pin))
        }
    }

    @Test func pinnedpubkeyAcceptsCurlsSyntaxForTheHostOfTheURL() async throws {
        let fixture = try await fixture()
        let right = fixture.pins[0].replacing("sha256/", with: "sha256//", maxReplacements: 1)
        let wrong = Self.wrong.replacing("sha256/", with: "sha256//", maxReplacements: 1)
        let cases: [(String, Int32)] = [
            (right, 0), (wrong, 90), ("\(wrong);\(right)", 0), ("\(right);sha256//x", 2), (fixture.authority, 0),
            (fixture.folder.file("none.pem"), 90), ("sha256//", 2),
        ]
        for (keys, code) in cases {
            let outcome = try await nk(
                "-sS", "--cacert", fixture.authority, "--pinnedpubkey", keys, fixture.server.url("/"))
            #expect(outcome.code == code, "\(keys): \(outcome.errors)")
        }
    }

    @Test func pinWithoutABackupWarnsAndReportOnlyPinReports() async throws {
        let fixture = try await fixture()
        let lone = try await nk(
            "-o", fixture.folder.file("out"), "--cacert", fixture.authority, "--pin", "127.0.0.1=\(fixture.pins[0])",
            fixture.server.url("/"))
        #expect(lone.errors.contains("warning: the rule for 127.0.0.1 has no backup pin"))
        let reported = try await nk(
            "-o", fixture.folder.file("out"), "--cacert", fixture.authority, "--pin-report-only", "--pin",
            "127.0.0.1=\(Self.wrong)", fixture.server.url("/"))
        #expect(reported.code == 0)
        #expect(reported.errors.contains("warning: no certificate of the chain matches a pin"))
    }

    @Test func tlsOptionsApplyAndContradictionsAreRefused() async throws {
        let fixture = try await fixture()
        let cases: [([String], Int32)] = [
            (["--tlsv1.2"], 0), (["--tlsv1.3"], 0), (["--tls-max", "1.2"], 0), (["--tls-max", "default"], 0),
            (["--tls-max", "1.1"], 2), (["--tlsv1.3", "--tls-max", "1.2"], 2), (["--ciphers", "NO-SUCH"], 2),
            (["--crlfile", fixture.folder.file("none.pem")], 77), (["--cert-status"], 91), (["--no-alpn"], 0),
            (["--trust-strict"], 0), (["--trust-max-chain", "9"], 0), (["--trust-max-chain", "1"], 60),
            (["--trust-max-chain", "0"], 2), (["--trust-strict", "-k"], 2),
            (["--pin", "no pin"], 2), (["--pin", Self.wrong], 2), (["--pin", "=\(Self.wrong)"], 2),
        ]
        for (words, code) in cases {
            let outcome = try await nk(["-sS", "--cacert", fixture.authority] + words + [fixture.server.url("/")])
            #expect(outcome.code == code, "\(words): \(outcome.errors)")
        }
    }

    @Test func trustPrintsItsOwnUsage() async throws {
        let fixture = try await fixture()
        let file = fixture.authority
        #expect(try await nk("trust", "--help").code == 0)
        let cases: [[String]] = [
            [], ["--host", "a"], ["--chain", file], ["--host", "a", "--chain", file, "--port", "0"],
            ["--host", "a", "--chain", file, "--time", "noon"], ["--host", "a", "--chain", file, "more"],
            ["--host"], ["--host", "a", "--chain", file, "--pin", "x"],
        ]
        for words in cases {
            #expect(try await nk(["trust"] + words).code == 2, "\(words)")
        }
        let long = ["trust", "--host", "127.0.0.1", "--ca", file, "--chain", file]
        #expect(try await nk(long + ["--time", "2001-01-01T00:00:00Z"]).text.hasPrefix("refused: "))
        for far in ["0", "-9223372036854775808", "9223372036854775807"] {
            #expect(try await nk(long + ["--time", far]).code == 1)
        }
        #expect(try await nk(["trust", "--host", "a", "--chain", fixture.folder.file("none")]).code == 26)
    }
}

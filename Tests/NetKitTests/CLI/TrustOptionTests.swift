import Testing

/// Every trust fixture through `nk`: with a handshake, and by `nk trust`, which evaluates a chain from a file.
struct TrustOptionTests {
    /// curl's exit codes for the outcomes.
    private static let codes: [String: Int32] = [
        "NC_OK": 0, "NC_ERR_TLS_UNTRUSTED": 60, "NC_ERR_TLS_EXPIRED": 60, "NC_ERR_TLS_NOT_YET_VALID": 60,
        "NC_ERR_TLS_NAME": 60, "NC_ERR_TLS_CERTIFICATE": 60, "NC_ERR_PIN_MISMATCH": 90, "NC_ERR_BAD_PIN": 2,
        "NC_ERR_PLAINTEXT_REFUSED": 1,
    ]

    @Test(arguments: TrustFixture.all) func everyTrustCaseHasTheExpectedOutcome(_ index: Int) async throws {
        let fixture = try TrustFixture(index)
        let folder = try TemporaryFolder()
        try folder.write(fixture.authorities, to: "ca.pem")
        let code = try #require(Self.codes[fixture.ending])
        var words = ["-sS", "--cacert", folder.file("ca.pem")]
        if fixture.host != "127.0.0.1" {
            words += ["--connect-to", "\(fixture.host):\(fixture.port):127.0.0.1:\(fixture.port)"]
        }
        let pins = fixture.pins.flatMap { ["--pin", $0] }
        let flags = (fixture.acceptsAnything ? ["-k"] : []) + (fixture.reportsOnly ? ["--pin-report-only"] : [])
        let outcome = try await nk(words + pins + flags + [fixture.url])
        #expect(outcome.code == code, "\(fixture.name): \(outcome.errors)")
        #expect(outcome.text == (code == 0 ? "ok" : ""), "\(fixture.name)")
        #expect(fixture.requestCount == (code == 0 ? 1 : 0), "\(fixture.name)")
        if code == 0 && !fixture.reportsOnly {
            #expect(outcome.errors.isEmpty, "\(fixture.name): \(outcome.errors)")
        }
        if code != 0 {
            #expect(outcome.errorLines.last?.hasPrefix("nk: (\(code)) ") == true, "\(fixture.name)")
        }
    }

    @Test(arguments: TrustFixture.all) func everyChainEvaluatesLikeItsHandshake(_ index: Int) async throws {
        let fixture = try TrustFixture(index)
        if fixture.chain.isEmpty {
            return  // Over plain HTTP there is no chain to evaluate.
        }
        let folder = try TemporaryFolder()
        try folder.write(fixture.authorities, to: "ca.pem")
        try folder.write(fixture.chain, to: "chain.pem")
        let files = ["--ca", folder.file("ca.pem"), "--chain", folder.file("chain.pem")]
        let hostArguments = ["--host", fixture.host, "--port", "\(fixture.port)"]
        let pins = fixture.pins.flatMap { ["--pin", $0] }
        let flags = (fixture.acceptsAnything ? ["-k"] : []) + (fixture.reportsOnly ? ["--pin-report-only"] : [])
        let outcome = try await nk(["trust"] + files + hostArguments + pins + flags)
        let code: Int32 = fixture.ending == "NC_OK" ? 0 : fixture.ending == "NC_ERR_BAD_PIN" ? 2 : 1
        #expect(outcome.code == code, "\(fixture.name): \(outcome.text)\(outcome.errors)")
        #expect(outcome.lines.first?.hasPrefix("refused: ") == (code == 2 ? nil : code == 1), "\(fixture.name)")
    }
}

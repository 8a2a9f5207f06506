import Testing

/// Every trust fixture through `nk`: with a handshake, and by `nk trust`, which evaluates a chain from a file.
struct TrustSceneTests {
    /// curl's exit codes for the outcomes.
    private static let codes: [String: Int32] = [
        "NC_OK": 0, "NC_ERR_TLS_UNTRUSTED": 60, "NC_ERR_TLS_EXPIRED": 60, "NC_ERR_TLS_NOT_YET_VALID": 60,
        "NC_ERR_TLS_NAME": 60, "NC_ERR_TLS_CERTIFICATE": 60, "NC_ERR_PIN_MISMATCH": 90, "NC_ERR_BAD_PIN": 2,
        "NC_ERR_PLAINTEXT_REFUSED": 1,
    ]

    @Test(arguments: TrustScene.all) func everySceneEndsAsItMust(_ index: Int) async throws {
        let scene = try TrustScene(index)
        let folder = try TemporaryFolder()
        try folder.write(scene.authorities, to: "ca.pem")
        let code = try #require(Self.codes[scene.ending])
        var words = ["-sS", "--cacert", folder.file("ca.pem")]
        if scene.host != "127.0.0.1" {
            words += ["--connect-to", "\(scene.host):\(scene.port):127.0.0.1:\(scene.port)"]
        }
        let pins = scene.pins.flatMap { ["--pin", $0] }
        let flags = (scene.acceptsAnything ? ["-k"] : []) + (scene.reportsOnly ? ["--pin-report-only"] : [])
        let outcome = try await nk(words + pins + flags + [scene.url])
        #expect(outcome.code == code, "\(scene.name): \(outcome.errors)")
        #expect(outcome.text == (code == 0 ? "ok" : ""), "\(scene.name)")
        #expect(scene.requestCount == (code == 0 ? 1 : 0), "\(scene.name)")
        if code == 0 && !scene.reportsOnly {
            #expect(outcome.errors.isEmpty, "\(scene.name): \(outcome.errors)")
        }
        if code != 0 {
            #expect(outcome.errorLines.last?.hasPrefix("nk: (\(code)) ") == true, "\(scene.name)")
        }
    }

    @Test(arguments: TrustScene.all) func everyChainIsJudgedAsItsHandshakeWouldBe(_ index: Int) async throws {
        let scene = try TrustScene(index)
        if scene.chain.isEmpty {
            return  // Over plain HTTP there is no chain to evaluate.
        }
        let folder = try TemporaryFolder()
        try folder.write(scene.authorities, to: "ca.pem")
        try folder.write(scene.chain, to: "chain.pem")
        let files = ["--ca", folder.file("ca.pem"), "--chain", folder.file("chain.pem")]
        let place = ["--host", scene.host, "--port", "\(scene.port)"]
        let pins = scene.pins.flatMap { ["--pin", $0] }
        let flags = (scene.acceptsAnything ? ["-k"] : []) + (scene.reportsOnly ? ["--pin-report-only"] : [])
        let outcome = try await nk(["trust"] + files + place + pins + flags)
        let code: Int32 = scene.ending == "NC_OK" ? 0 : scene.ending == "NC_ERR_BAD_PIN" ? 2 : 1
        #expect(outcome.code == code, "\(scene.name): \(outcome.text)\(outcome.errors)")
        #expect(outcome.lines.first?.hasPrefix("refused: ") == (code == 2 ? nil : code == 1), "\(scene.name)")
    }
}

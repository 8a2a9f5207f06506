import NetKit
import Testing

/// TLS settings that Foundation on Linux does not offer: trusted authorities, the client's identity, the lowest
/// version.
struct TrustPolicyTests {
    @Test func customAuthorityIsTrustedFromAFileOrMemory() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("believed"))
        let folder = try TemporaryFolder()
        try folder.write(server.authority, to: "ca.pem")
        for roots in [TrustPolicy.Roots.pem(server.authority), .file(folder.file("ca.pem"))] {
            let agent = Agent(configured: { $0.trust = TrustPolicy(roots: roots) })
            #expect(try await agent.send(Request<String>(server.url("/"))).value == "believed")
        }
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: Agent()) == .failed(.tlsUntrusted))
    }

    @Test func strictProfileAcceptsAConformingChain() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("believed"))
        var policy = TrustPolicy.strict
        #expect(policy.roots == .system && policy != TrustPolicy())
        policy.roots = .pem(server.authority)
        var request = Request<String>(server.url("/"))
        request.trust = policy
        #expect(try await Agent().send(request).value == "believed")
        policy.acceptsAnything = true
        #expect(throws: NetError.self) { try policy.warnings() }
    }

    @Test func strictProfileRejectsANonconformingChain() throws {
        let chain = Array(Self.withoutUsage.utf8)
        var policy = TrustPolicy(roots: .pem(chain))
        #expect(try policy.evaluate(chain: chain, host: "private.example").isAllowed)
        policy.isStrict = true
        let trustResult = try policy.evaluate(chain: chain, host: "private.example")
        #expect(!trustResult.isAllowed)
        #expect(
            trustResult.message.contains("strict profile: certificate 1 of the chain has the wrong extended key usage"))
    }

    /// A self-signed certificate for private.example until 2126, without an extended key usage.
    private static let withoutUsage = """
        -----BEGIN CERTIFICATE-----
        MIIBpDCCAUqgAwIBAgIUedL+EPCNvMfe/cBv3qc+V2Ax1EUwCgYIKoZIzj0EAwIw
        GjEYMBYGA1UEAwwPcHJpdmF0ZS5leGFtcGxlMCAXDTI2MTEyODE0MTUxNVoYDzIx
        MjYxMTA0MTQxNTE1WjAaMRgwFgYDVQQDDA9wcml2YXRlLmV4YW1wbGUwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAAQ98uD+xd/ge7PlTmqbLZ+BEgv+8pihMQA9s3hr
        ja7nZRNZ/MhI/u8ShbSWIkOozLnqJdzG2xP3UexHtj8+qVH2o2wwajAdBgNVHQ4E
        FgQU0N9UkQEo+iPmk3AzZtBlRytg6UwwHwYDVR0jBBgwFoAU0N9UkQEo+iPmk3Az
        ZtBlRytg6UwwGgYDVR0RBBMwEYIPcHJpdmF0ZS5leGFtcGxlMAwGA1UdEwEB/wQC
        MAAwCgYIKoZIzj0EAwIDSAAwRQIhAMfzoHnAf0iz68zah5p/V9b9Yb13nyawx5U+
        7nIosnGBAiB7R+ARFfQouaqrVQVjOrlw7MikGmj9/K6TaZZF63zmGg==
        -----END CERTIFICATE-----
        """

    @Test(arguments: [nil, 1, 2, 100, 0, -1]) func chainLengthLimitIsEnforced(length: Int?) async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("believed"))
        var policy = TrustPolicy(roots: .pem(server.authority))
        policy.maximumChainLength = length
        var request = Request<String>(server.url("/"))
        request.trust = policy
        switch length {
        case nil, 2, 100: #expect(try await Agent().send(request).value == "believed")
        case 1: await #expect(throws: NetError.self) { try await Agent().send(request) }
        default: #expect(throws: NetError.self) { try policy.warnings() }
        }
    }

    @Test func clientCertificateIsSentOnRequest() async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/", .text("known"))
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        let certificate = try #require(folder.contents(of: "cert.pem"))
        let key = try #require(folder.contents(of: "key.pem"))
        let identities: [ClientIdentity] = [
            .file(certificate: folder.file("cert.pem"), key: folder.file("key.pem")),
            .pem(certificate: certificate, key: key), .pem(certificate: certificate + key),
        ]
        var request = Request<String>(server.url("/"))
        for identity in identities {
            request.trust = TrustPolicy(roots: .pem(server.authority), identity: identity)
            #expect(try await Agent().send(request).value == "known")
            #expect(!"\(identity)".contains("BEGIN"))
        }
        #expect(server.clientCertificateCount == 3)
    }

    @Test func serverThatRequiresAClientCertificateRejectsARequestWithoutOne() async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/", .text("known"))
        let error = await #expect(throws: NetError.self) {
            try await Agent(trusting: server).send(Request<Bytes>(server.url("/")))
        }
        #expect(error?.response == nil)
        #expect(server.requestCount == 0)
        #expect(server.clientCertificateCount == 0)
    }

    @Test func clientCertificateIsNotSentToAnotherOrigin() async throws {
        let other = try LoopbackServer(.valid, host: "127.0.0.2", requiresClientCertificate: true)
        other.script("/", .text("known"))
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/", .redirect(to: other.url("/")))
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        var request = Request<Bytes>(server.url("/"))
        request.trust = TrustPolicy(
            roots: .pem(server.authority + other.authority),
            identity: .file(certificate: folder.file("cert.pem"), key: folder.file("key.pem")))
        await #expect(throws: NetError.self) { try await Agent().send(request) }
        #expect(server.clientCertificateCount == 1)
        #expect(other.clientCertificateCount == 0)
        #expect(other.requestCount == 0)
    }

    @Test func unusableIdentityIsReported() async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        let certificate = try #require(folder.contents(of: "cert.pem"))
        let identities: [ClientIdentity] = [
            .file(certificate: folder.file("none.pem")), .pem(certificate: Array("no certificate".utf8)),
            .pem(certificate: certificate), .file(certificate: folder.file("cert.pem"), key: folder.file("cert.pem")),
        ]
        for identity in identities {
            var request = Request<Bytes>(server.url("/"))
            request.trust = TrustPolicy(roots: .pem(server.authority), identity: identity)
            let error = try await expectFailure(.tlsIdentity, of: request)
            #expect(!error.isRetryable)
        }
        #expect(server.requestCount == 0)
    }

    @Test func missingPassphraseIsReported() async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/", .text("known"))
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        var request = Request<String>(server.url("/"))
        func identity(_ answer: String?) -> ClientIdentity {
            .file(certificate: folder.file("client.p12"), passPhrase: .init { answer })
        }
        request.trust = TrustPolicy(roots: .pem(server.authority), identity: identity("secret"))
        #expect(try await Agent().send(request).value == "known")
        for wrong in ["wrong", "", nil, String(repeating: "x", count: 2000)] {
            request.trust?.identity = identity(wrong)
            #expect(await ending(of: request, from: Agent()) == .failed(.tlsIdentity))
        }
        #expect(server.requestCount == 1)
    }

    @Test func canonicallyEquivalentFileNamesAreDistinct() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("believed"))
        let folder = try TemporaryFolder()
        // The same letter in two spellings: one path to Swift, two to the operating system.
        try folder.write(try GeneratedCertificates().authority, to: "\u{e9}.pem")
        try folder.write(server.authority, to: "e\u{301}.pem")
        let agent = Agent()
        var request = Request<String>(server.url("/"))
        request.trust = TrustPolicy(roots: .file(folder.file("\u{e9}.pem")))
        await #expect(throws: NetError.self) { try await agent.send(request) }
        request.trust = TrustPolicy(roots: .file(folder.file("e\u{301}.pem")))
        #expect(try await agent.send(request).value == "believed")
        request.trust = TrustPolicy(roots: .file(folder.file("\u{e9}.pem")))
        await #expect(throws: NetError.self) { try await agent.send(request) }
    }

    @Test func minimumTLSVersionIsEnforced() async throws {
        let server = try LoopbackServer(.valid, isTLS1_2Only: true)
        server.script("/", .text("1.2"))
        var request = Request<String>(server.url("/"))
        request.trust = TrustPolicy(authorityOf: server)
        #expect(try await Agent().send(request).metrics.last?.tlsVersion == "TLSv1.2")
        request.trust?.minimumVersion = .tls13
        #expect(await ending(of: request, from: Agent()) == .failed(.tlsHandshake))
        #expect(server.requestCount == 1)
    }

    @Test func tls1_1IsNeverNegotiated() async throws {
        let server = try LoopbackServer(.tls1_1)
        server.script("/", .text("1.1"))
        for acceptsAnything in [false, true] {
            var request = Request<Bytes>(server.url("/"))
            request.trust = TrustPolicy(roots: .pem(server.authority), acceptsAnything: acceptsAnything)
            #expect(await ending(of: request, from: Agent()) == .failed(.tlsHandshake))
        }
        #expect(server.requestCount == 0)
    }
}

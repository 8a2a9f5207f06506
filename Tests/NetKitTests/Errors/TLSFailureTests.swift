import NetKit
import Testing

struct TLSFailureTests {
    @Test(arguments: [
        (LoopbackServer.Identity.expired, NetError.Code.tlsExpired), (.notYetValid, .tlsNotYetValid),
        (.wrongName, .tlsName), (.untrusted, .tlsUntrusted),
    ])
    func rejectedCertificateReportsItsReason(identity: LoopbackServer.Identity, code: NetError.Code) async throws {
        let server = try LoopbackServer(identity)
        server.script("/", Reply())
        // CURLE_PEER_FAILED_VERIFICATION.
        let error = try await expectFailure(
            code, native: 60, of: .withSecrets("/", on: server), from: Agent(trusting: server))
        #expect(!error.isRetryable)
        #expect(error.response == nil)
        #expect(server.requestCount == 0)
    }

    @Test(arguments: [LoopbackServer.Identity.alert, .tls1_1, .closed])
    func handshakeClosedByTheServerIsReported(identity: LoopbackServer.Identity) async throws {
        let server = try LoopbackServer(identity)
        let error = try await expectFailure(
            .tlsHandshake, of: .withSecrets("/", on: server), from: Agent(trusting: server))
        #expect(error.response == nil)
        #expect(server.requestCount == 0)
    }

    @Test func nonTLSServerFailsTheHandshake() async throws {
        let server = try LoopbackServer(.garbage)
        let error = try await expectFailure(.tlsHandshake, native: 35, of: .withSecrets("/", on: server))
        #expect(!error.isRetryable)
    }

    @Test(arguments: [
        TrustPolicy.Roots.file("/nonexistent/roots.pem"), .file(""), .pem([]), .pem(Array("canary".utf8)),
        .pem(Array("-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n".utf8)),
    ])
    func unreadableAuthoritiesAreAnError(roots: TrustPolicy.Roots) async throws {
        let server = try LoopbackServer(.valid)
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.trust = TrustPolicy(roots: roots)
        let error = try await expectFailure(.tlsRoots, of: request)
        #expect(!error.isRetryable)
        #expect(!error.description.contains("\n"))
        #expect(server.requestCount == 0)
    }

    @Test func systemAuthoritiesDoNotTrustTheServer() async throws {
        let server = try LoopbackServer(.valid)
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: Agent()) == .failed(.tlsUntrusted))
    }

    @Test(arguments: [
        LoopbackServer.Identity.valid, .expired, .notYetValid, .wrongName, .untrusted,
    ])
    func permissivePolicyAcceptsEveryCertificate(identity: LoopbackServer.Identity) async throws {
        let server = try LoopbackServer(identity)
        server.script("/", .text("ok"))
        var request = Request<String>(server.url("/"))
        request.trust = TrustPolicy(acceptsAnything: true)
        #expect(try await Agent().send(request).value == "ok")
    }

    @Test func connectionsAreNotSharedAcrossTrustPolicies() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", Reply())
        let agent = Agent(trusting: server)
        var request = Request<Bytes>(server.url("/"))
        #expect(await ending(of: request, from: agent) == .answered)
        request.trust = TrustPolicy()
        #expect(await ending(of: request, from: agent) == .failed(.tlsUntrusted))
        request.trust = TrustPolicy(authorityOf: server)
        #expect(await ending(of: request, from: agent) == .answered)
        request.trust?.minimumVersion = .tls13
        #expect(await ending(of: request, from: agent) == .answered)
        request.trust = nil
        #expect(await ending(of: request, from: agent) == .answered)
        #expect(server.requestCount == 4)
    }
}

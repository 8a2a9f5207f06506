import NetKit
import NetKitTesting
import Testing

/// What holds of redirects whether the engine follows them or a hook is asked.
@Suite(.timeLimit(.minutes(5)))
struct HookedRedirectTests {
    private static func agent(
        isHooked: Bool, _ change: (inout Agent.Configuration) throws -> Void = { _ in }
    ) rethrows -> Agent {
        var configuration = Agent.Configuration()
        try change(&configuration)
        if isHooked {
            configuration.transferHooks.redirect = { _ in .follow }
        }
        return Agent(configuration)
    }

    @Test(arguments: [false, true], [UInt16(303), 307])
    func whatAServerHasActedOnIsNotRetried(isHooked: Bool, status: UInt16) async throws {
        let server = try LoopbackServer()
        let closed = try ReservedPort(acceptsConnections: false)
        server.script("/pay", .redirect(to: "http://127.0.0.1:\(closed.number)/", status: status))
        var retry = Retry()
        retry.baseDelay = .zero
        let agent = Self.agent(isHooked: isHooked) { $0.interceptors = [retry] }
        let request = Request<Bytes>(server.url("/pay"), method: .post, body: Body(Bytes(Array("1 EUR".utf8))))
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .refused && error?.metrics.count == 2)
        #expect(server.requestCount == 1)
    }

    @Test(arguments: [false, true])
    func theClientsCertificateStaysAtItsOrigin(isHooked: Bool) async throws {
        let server = try LoopbackServer(.valid, requiresClientCertificate: true)
        server.script("/a", .redirect(to: "https://localhost:\(server.port)/b"))
        server.script("/b", .text("there"))
        let folder = try TemporaryFolder()
        try server.writeClientIdentity(to: folder.path)
        let identity = ClientIdentity.file(certificate: folder.file("cert.pem"), key: folder.file("key.pem"))
        let agent = Self.agent(isHooked: isHooked) {
            $0.trust = TrustPolicy(roots: .pem(server.authority), identity: identity)
        }
        await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>(server.url("/a"))) }
        #expect(server.requestCount == 1 && server.clientCertificateCount == 1)
    }

    @Test(arguments: [false, true])
    func aNetrcFileIsForTheOriginThatWasAsked(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer()
        other.script("/", .text("there"))
        server.script("/a", .redirect(to: other.url("/")))
        let folder = try TemporaryFolder()
        try folder.write(Array("default login me password hush\n".utf8), to: "netrc", mode: 0o600)
        let agent = Self.agent(isHooked: isHooked) { $0.netrc = .file(folder.file("netrc")) }
        #expect(try await agent.send(Request<Bytes>(server.url("/a"))).status == 200)
        #expect(!server.received().values(named: "Authorization").isEmpty)
        #expect(other.received().values(named: "Authorization").isEmpty)
    }
}

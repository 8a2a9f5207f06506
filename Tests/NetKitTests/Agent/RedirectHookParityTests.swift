import NetKit
import NetKitTesting
import Testing

/// Redirects behave the same whether the engine follows them or a hook decides.
@Suite(.timeLimit(.minutes(5)))
struct RedirectHookParityTests {
    private static func agent(
        isHooked: Bool, _ change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration()
        change(&configuration)
        if isHooked {
            configuration.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        }
        return Agent(configuration)
    }

    @Test(arguments: [false, true], [UInt16(303), 307])
    func requestIsNotRetriedAfterAServerProcessedIt(isHooked: Bool, status: UInt16) async throws {
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
    func clientCertificateIsNotSentToAnotherOrigin(isHooked: Bool) async throws {
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

    /// Only the head of a redirect matters. Faults in its body are ignored.
    @Test(
        arguments: [false, true],
        [
            Reply(patternLength: 100_000), Reply(body: [1, 2, 3], cutAfter: 120, ending: .close),
            Reply(body: Array(repeating: 7, count: 500), cutAfter: 200, ending: .stall),
            Reply(headers: ["Content-Encoding: gzip"], body: Array("no gzip".utf8)),
        ])
    func redirectIsFollowedDespiteAFaultyBody(isHooked: Bool, body: Reply) async throws {
        let server = try LoopbackServer()
        var reply = body
        reply.status = 302
        reply.headers += ["Location: /b"]
        server.script("/a", reply)
        server.script("/b", .text("there"))
        var request = Request<Bytes>(server.url("/a"))
        request.limits = Limits()
        request.limits.maxBodyBytes = 1000
        let agent = Self.agent(isHooked: isHooked)
        let response = try await agent.send(request)
        #expect(response.bytes == Bytes(Array("there".utf8)))
        #expect(response.metrics.map(\.status) == [302, 200])
        let folder = try TemporaryFolder()
        let saved = try await agent.download(request, to: folder.file("b"), options: .init(isResumable: false))
        #expect(saved.status == 200 && folder.contents(of: "b") == Array("there".utf8))
        server.releaseStalled()
    }

    @Test(arguments: [false, true])
    func bodyLimitAppliesToTheFinalResponse(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", Reply(patternLength: 1001))
        server.script("/c", Reply(patternLength: 1001, chunkBytes: 100))
        var request = Request<Bytes>(server.url("/a"))
        request.limits = Limits()
        request.limits.maxBodyBytes = 1000
        let folder = try TemporaryFolder()
        let agent = Self.agent(isHooked: isHooked)
        for path in ["/a", "/c"] {
            request.url = server.url(path)
            let error = try await expectFailure(.bodyTooLarge, of: request, from: agent)
            #expect(error.response?.status == 200)
            do throws(NetError) {
                _ = try await agent.download(request, to: folder.file("b"), options: .init(isResumable: false))
                Issue.record("it was saved")
            } catch {
                #expect(error.code == .bodyTooLarge)
            }
        }
        #expect(folder.names.isEmpty)
        request.limits.maxBodyBytes = 1001
        #expect(try await agent.send(request).bytes.count == 1001)
    }

    @Test(arguments: [false, true])
    func connectionIsReusedAfterARedirect(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        var reply = Reply.redirect(to: "/b")
        reply.body = Array("moved".utf8)
        server.script("/a", reply)
        server.script("/b", .text("there"))
        #expect(try await Self.agent(isHooked: isHooked).send(Request<Bytes>(server.url("/a"))).status == 200)
        #expect(server.connectionCount == 1)
    }

    /// Each hop begins when the previous one has been followed.
    @Test(arguments: [false, true])
    func timingsOfAllHopsStartWhenTheCallIsSent(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .redirect(to: "/c"))
        server.script("/c", .text("there"))
        let agent = Self.agent(isHooked: isHooked)
        let stream = try await agent.stream(Request<Bytes>(server.url("/a")))
        let early = stream.metrics
        _ = try await stream.collect(upTo: 1000)
        server.script("/c", .redirect(to: "ftp://files.test/"))
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>(server.url("/a"))) }
        server.script("/c", .text("there"))
        let answered = try await agent.send(Request<Bytes>(server.url("/a"))).metrics
        for metrics in [early, stream.metrics, try #require(error).metrics, answered] {
            let moments = metrics.flatMap { [$0.started, $0.ready, $0.firstByte].compactMap(\.self) }
            #expect(moments.count == 9)
            #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 <= $1 })
        }
    }

    @Test(arguments: [false, true])
    func netrcAppliesToTheOriginalOriginOnly(isHooked: Bool) async throws {
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

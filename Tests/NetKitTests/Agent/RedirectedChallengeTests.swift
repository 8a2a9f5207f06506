import NetKit
import NetKitTesting
import Testing

/// Challenges after redirects: the challenged request is sent again, not the one before the redirect.
@Suite(.timeLimit(.minutes(5)))
struct RedirectedChallengeTests {
    private static let right = Credentials.basic(user: "me", password: "secret")

    /// The source of the agent's credentials.
    enum CredentialSource: CaseIterable {
        case handler, refresh, hookedHandler, hookedRefresh

        var isHooked: Bool { self == .hookedHandler || self == .hookedRefresh }

        func agent(_ change: (inout Agent.Configuration) -> Void = { _ in }) -> Agent {
            var configuration = Agent.Configuration()
            if isHooked {
                configuration.interceptors.append(TransferHooks(redirect: { _ in .follow }))
            }
            switch self {
            case .handler, .hookedHandler:
                configuration.interceptors.append(
                    TransferHooks(challenge: { _ in .use(RedirectedChallengeTests.right) }))
            case .refresh, .hookedRefresh:
                configuration.interceptors += [
                    CredentialRefresh<Credentials> { request, credentials in
                        request.credentials = credentials
                    } refresh: { _ in
                        RedirectedChallengeTests.right
                    }
                ]
            }
            change(&configuration)
            return Agent(configuration)
        }
    }

    private static func server(status: UInt16 = 303) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/form", .redirect(to: "/result", status: status))
        server.script("/result", Reply(body: Array("in".utf8), user: "me", password: "secret"))
        return server
    }

    private static func form(_ server: LoopbackServer) -> Request<Bytes> {
        Request<Bytes>(server.url("/form"), method: .post, body: Body(Bytes(Array("1 EUR".utf8))))
    }

    @Test(arguments: CredentialSource.allCases)
    func requestIsNotSentAgainAfterAServerProcessedIt(credentialSource: CredentialSource) async throws {
        let server = try Self.server()
        let response = try await credentialSource.agent().send(Self.form(server))
        #expect(response.status == 200)
        #expect(
            (0..<server.requestCount).map { server.received($0).requestLine } == [
                "POST /form HTTP/1.1", "GET /result HTTP/1.1", "GET /result HTTP/1.1",
            ])
        #expect(server.received(2).values(named: "Content-Type").isEmpty)
        #expect(response.metrics.map(\.status) == [303, 200])
    }

    @Test(arguments: [CredentialSource.handler, .refresh])
    func streamReportsRedirectsThatWereNotSentAgain(credentialSource: CredentialSource) async throws {
        let server = try Self.server()
        let stream = try await credentialSource.agent().stream(Self.form(server))
        #expect(stream.earlierHeads.map(\.status) == [303])
        #expect(try await stream.collect(upTo: 9) == Bytes(Array("in".utf8)))
        #expect(stream.metrics.map(\.status) == [303, 200])
        #expect(server.requestCount == 3)
    }

    @Test func bodyIsSentAgainOnlyToTheChallengingURL() async throws {
        let server = try Self.server(status: 307)
        #expect(try await CredentialSource.handler.agent().send(Self.form(server)).status == 200)
        #expect(
            (0..<server.requestCount).map { server.received($0).requestLine } == [
                "POST /form HTTP/1.1", "POST /result HTTP/1.1", "POST /result HTTP/1.1",
            ])
        #expect(server.received(2).body == Array("1 EUR".utf8))
    }

    @Test(arguments: CredentialSource.allCases)
    func retryIsSkippedAfterAServerProcessedTheRequest(credentialSource: CredentialSource) async throws {
        let server = try Self.server()
        server.script(
            "/result",
            [Reply(status: 401, headers: ["WWW-Authenticate: Basic realm=\"r\""]), Reply(cutAfter: 0, ending: .reset)])
        var retry = Retry()
        retry.baseDelay = .zero
        let agent = credentialSource.agent { $0.interceptors.insert(retry, at: 0) }
        let error = await #expect(throws: NetError.self) { try await agent.send(Self.form(server)) }
        #expect(error?.metrics.first?.status == 303)
        #expect((0..<server.requestCount).count { server.received($0).requestLine.hasPrefix("POST") } == 1)
    }

    @Test func credentialRefreshAppliesToTheOriginalOriginOnly() async throws {
        let other = try LoopbackServer()
        other.script("/", Reply(status: 401))
        let server = try LoopbackServer()
        server.script("/form", .redirect(to: other.url("/"), status: 303))
        #expect(try await CredentialSource.refresh.agent().send(Self.form(server)).status == 401)
        #expect(server.requestCount == 1)
        #expect(other.requestCount == 1 && other.received().values(named: "Authorization").isEmpty)
    }

    @Test func redirectLimitAppliesToTheWholeCall() async throws {
        for (limit, isEnough) in [(1, false), (2, true)] {
            let server = try LoopbackServer()
            server.script("/a", .redirect(to: "/b"))
            server.script(
                "/b", [Reply(status: 401, headers: ["WWW-Authenticate: Basic realm=\"r\""]), .redirect(to: "/c")])
            server.script("/c", .text("there"))
            var request = Request<Bytes>(server.url("/a"))
            request.limits = Limits()
            request.limits.maxRedirects = limit
            let response = try? await CredentialSource.handler.agent().send(request)
            #expect((response?.status == 200) == isEnough)
        }
    }
}

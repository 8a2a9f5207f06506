import NetKit
import Testing

struct ChallengeTests {
    private struct Cause: Error {}

    private static let right = Credentials.basic(user: "me", password: "secret")
    private static let wrong = Credentials.basic(user: "me", password: "wrong")

    /// Returns an agent whose handler returns these results in order, and records the challenges.
    private static func agent(
        _ answers: ChallengeAction..., challenges: Collected<Challenge> = Collected()
    ) -> Agent {
        Agent(configured: { configuration in
            configuration.interceptors.append(
                TransferHooks(challenge: { challenge in
                    challenges.append(challenge)
                    let number = challenges.values.count
                    return number <= answers.count ? answers[number - 1] : .useDefault
                }))
        })
    }

    private static func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/", Reply(body: Array("in".utf8), user: "me", password: "secret"))
        return server
    }

    @Test func credentialsFromTheHandlerAreSent() async throws {
        let server = try Self.server()
        let challenges = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), challenges: challenges)
        let response = try await agent.send(Request<Bytes>(server.url("/", userinfo: nil)))
        #expect(response.status == 200)
        #expect(response.bytes == Bytes(Array("in".utf8)))
        #expect(server.requestCount == 2)
        let challenge = try #require(challenges.values.first)
        #expect(challenge.scheme == "Basic")
        #expect(challenge.realm == "nettesting")
        #expect(challenge.url == server.url("/"))
        #expect(!challenge.isProxy)
        #expect(challenge.previousFailureCount == 0)
        #expect(challenge.response.status == 401)
    }

    @Test func handlerIsCalledAtMostThreeTimesWithTheFailureCount() async throws {
        let server = try Self.server()
        let challenges = Collected<Challenge>()
        let agent = Self.agent(
            .use(Self.wrong), .use(Self.wrong), .use(Self.wrong), .use(Self.right), challenges: challenges)
        var request = Request<Bytes>(server.url("/"))
        #expect(try await agent.send(request).status == 401)
        #expect(challenges.values.map(\.previousFailureCount) == [0, 1, 2])
        #expect(server.requestCount == 4)
        request.credentials = Self.wrong
        let again = Collected<Challenge>()
        #expect(try await Self.agent(.use(Self.right), challenges: again).send(request).status == 200)
        #expect(again.values.map(\.previousFailureCount) == [1])
    }

    @Test func defaultHandlingReturnsTheRefusal() async throws {
        let server = try Self.server()
        #expect(try await Self.agent(.useDefault).send(Request<Bytes>(server.url("/"))).status == 401)
        #expect(server.requestCount == 1)
    }

    @Test func cancellingEndsTheRequest() async throws {
        let server = try Self.server()
        let error = try await expectFailure(.cancelled, of: Request<Bytes>(server.url("/")), from: Self.agent(.cancel))
        #expect(error.response?.status == 401)
        #expect(server.requestCount == 1)
    }

    @Test func handlerErrorIsTheUnderlyingError() async throws {
        let server = try Self.server()
        let error = try await expectFailure(
            .authentication, of: Request<Bytes>(server.url("/")), from: Self.agent(.fail(Cause())))
        #expect(error.underlying is Cause)
        #expect(server.requestCount == 1)
    }

    @Test func rejectingContinuesWithTheNextChallenge() async throws {
        let server = try LoopbackServer()
        let refusal = Reply(
            status: 401,
            headers: ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n\"", "WWW-Authenticate: Basic realm=\"b\""])
        server.script("/", [refusal, .text("in")])
        let challenges = Collected<Challenge>()
        let agent = Self.agent(.reject, .use(Self.right), challenges: challenges)
        #expect(try await agent.send(Request<Bytes>(server.url("/"))).status == 200)
        #expect(challenges.values.map(\.scheme) == ["Digest", "Basic"])
        #expect(challenges.values.map(\.realm) == ["a", "b"])
        server.script("/", refusal)
        #expect(try await Self.agent(.reject, .reject).send(Request<Bytes>(server.url("/"))).status == 401)
    }

    @Test func streamsAndFilesCallTheChallengeHandler() async throws {
        let server = try Self.server()
        let folder = try TemporaryFolder()
        let stream = try await Self.agent(.use(Self.right)).stream(Request<Bytes>(server.url("/")))
        #expect(try await stream.collect(upTo: 9) == Bytes(Array("in".utf8)))
        _ = try await Self.agent(.use(Self.right)).download(
            Request<Bytes>(server.url("/")), to: folder.file("body"), options: .init(isResumable: false))
        #expect(folder.contents(of: "body") == Array("in".utf8))
    }

    @Test func authorizationResponseReplacesTheFieldOfTheRequest() async throws {
        let server = try Self.server()
        let challenges = Collected<Challenge>()
        let request = Request<Bytes>(server.url("/"), headers: ["Authorization": "Basic c3RhbGU6c3RhbGU="])
        #expect(try await Self.agent(.use(Self.right), challenges: challenges).send(request).status == 200)
        #expect(challenges.values.map(\.previousFailureCount) == [1])
        #expect(server.received(1).values(named: "Authorization").count == 1)
    }

    @Test func proxyChallengeIsReportedAsAProxyChallenge() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("in"))
        let proxy = try ProxyServer(user: "me", password: "secret")
        let challenges = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), challenges: challenges)
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        #expect(try await agent.send(request).status == 200)
        #expect(challenges.values.map(\.isProxy) == [true])
        #expect(server.received().values(named: "Authorization").isEmpty)
    }

    @Test(arguments: [false, true])
    func tunnelChallengeIsReportedAsAProxyChallenge(isStreamed: Bool) async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("in"))
        let proxy = try ProxyServer(user: "me", password: "secret")
        let challenges = Collected<Challenge>()
        let agent = Self.agent(.use(Self.wrong), .use(Self.right), challenges: challenges)
        var request = Request<Bytes>(server.url("/"), method: .put, body: Body(Bytes(Array("a body".utf8))))
        request.proxy = Proxy(proxy.url)
        request.trust = TrustPolicy(roots: .pem(server.authority))
        let status = isStreamed ? try await agent.stream(request).status : try await agent.send(request).status
        #expect(status == 200)
        #expect(challenges.values.map(\.isProxy) == [true, true])
        #expect(challenges.values.map(\.realm) == ["nettesting", "nettesting"])
        #expect(challenges.values.map(\.previousFailureCount) == [0, 1])
        #expect(challenges.values.first?.url == server.url("/") && challenges.values.first?.response.status == 407)
        #expect(server.requestCount == 1 && server.received().body == Array("a body".utf8))
        #expect(server.received().values(named: "Proxy-Authorization").isEmpty)
    }

    @Test func tunnelWithoutCredentialsFailsWithAProxyError() async throws {
        let server = try LoopbackServer(.valid)
        let proxy = try ProxyServer(user: "me", password: "secret")
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        request.trust = TrustPolicy(roots: .pem(server.authority))
        let error = try await expectFailure(.proxy, of: request, from: Self.agent(.useDefault))
        #expect(error.response?.status == 407)
        #expect(error.response?.headers["Proxy-Authenticate"] == "Basic realm=\"nettesting\"")
        #expect(server.connectionCount == 0)
        #expect(!error.isRetryable)
    }

    @Test func credentialsRefusedByATunnelProxyAreNotSentAgain() async throws {
        let server = try LoopbackServer(.valid)
        let proxy = try ProxyServer(user: "me", password: "secret")
        let challenges = Collected<Challenge>()
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        request.trust = TrustPolicy(roots: .pem(server.authority))
        request.interceptors = [Retry()]
        try await expectFailure(.proxy, of: request, from: Self.agent(.useDefault, challenges: challenges))
        #expect(challenges.values.count == 1)
    }

    @Test func originServerThatSends407GetsNoCredentials() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 407, headers: ["Proxy-Authenticate: Basic realm=\"r\""]))
        let challenges = Collected<Challenge>()
        for proxy in [Proxy.inherited, .direct] {
            var request = Request<Bytes>(server.url("/"))
            request.proxy = proxy
            #expect(try await Self.agent(.use(Self.right), challenges: challenges).send(request).status == 407)
        }
        #expect(challenges.values.isEmpty && server.requestCount == 2)
    }

    @Test func handlerIsNotCalledForAnotherOriginOrAConsumedBody() async throws {
        let other = try Self.server()
        let server = try LoopbackServer()
        server.script("/", .redirect(to: other.url("/")))
        let challenges = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), challenges: challenges)
        #expect(try await agent.send(Request<Bytes>(server.url("/"))).status == 401)
        let once = Request<Bytes>(other.url("/"), method: .post, body: .once(Pieces([[1]])))
        #expect(try await agent.send(once).status == 401)
        #expect(challenges.values.isEmpty)
        #expect(other.requestCount == 2)
    }

    @Test func otherOriginReachedByARedirectHookGetsNoCredentials() async throws {
        let other = try Self.server()
        let server = try LoopbackServer()
        server.script("/", .redirect(to: other.url("/")))
        let challenges = Collected<Challenge>()
        for hasHeadHook in [false, true] {
            var request = Request<Bytes>(server.url("/"))
            request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
            if hasHeadHook {
                request.interceptors.append(TransferHooks(head: { _, _ in .allow }))
            }
            let agent = Self.agent(.use(Self.right), challenges: challenges)
            #expect(try await agent.send(request).status == 401)
            #expect(try await agent.stream(request).status == 401)
        }
        #expect(challenges.values.isEmpty)
        #expect((0..<other.requestCount).allSatisfy { other.received($0).values(named: "Authorization").isEmpty })
        #expect(other.requestCount == 4)
    }

    @Test func handlerIsCalledWhenARedirectHookReturnsToTheOriginalOrigin() async throws {
        let server = try Self.server()
        let other = try LoopbackServer()
        server.script("/away", .redirect(to: other.url("/back")))
        other.script("/back", .redirect(to: server.url("/")))
        let challenges = Collected<Challenge>()
        var request = Request<Bytes>(server.url("/away"))
        request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        #expect(try await Self.agent(.use(Self.right), challenges: challenges).send(request).status == 200)
        #expect(challenges.values.map(\.url) == [server.url("/")])
        #expect(other.received().values(named: "Authorization").isEmpty)
    }

    @Test func challengeURLNeverContainsCredentials() async throws {
        let urls = Collected<String>()
        var configuration = Agent.Configuration()
        configuration.interceptors.append(
            TransferHooks(challenge: { challenge in
                urls.append(challenge.url)
                return .useDefault
            }))
        let agent = Agent(
            configuration,
            transport: SilentTransport(
                response: Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])))
        _ = try await agent.send(Request<Bytes>("http://user:secret@t/path"))
        #expect(urls.values == ["http://t/path"])
    }
}

/// A transport that reports no URL.
private struct SilentTransport: Transport {
    let response: Response<Bytes>

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> { response }

    func shutdown() async {}
}

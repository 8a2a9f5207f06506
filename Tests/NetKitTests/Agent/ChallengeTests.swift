import NetKit
import Testing

struct ChallengeTests {
    private struct Cause: Error {}

    private static let right = Credentials.basic(user: "me", password: "secret")
    private static let wrong = Credentials.basic(user: "me", password: "wrong")

    /// Returns an agent whose handler returns these results in order, and records the challenges.
    private static func agent(
        _ answers: ChallengeAnswer..., asked: Collected<Challenge> = Collected()
    ) -> Agent {
        Agent(configured: { configuration in
            configuration.challengeHandler = { challenge in
                asked.append(challenge)
                let number = asked.values.count
                return number <= answers.count ? answers[number - 1] : .useDefault
            }
        })
    }

    private static func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/", Reply(body: Array("in".utf8), user: "me", password: "secret"))
        return server
    }

    @Test func credentialsOfTheHandlerAreShown() async throws {
        let server = try Self.server()
        let asked = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), asked: asked)
        let response = try await agent.send(Request<Bytes>(server.url("/", userinfo: nil)))
        #expect(response.status == 200)
        #expect(response.bytes == Bytes(Array("in".utf8)))
        #expect(server.requestCount == 2)
        let challenge = try #require(asked.values.first)
        #expect(challenge.scheme == "Basic")
        #expect(challenge.realm == "nettesting")
        #expect(challenge.url == server.url("/"))
        #expect(!challenge.isProxy)
        #expect(challenge.previousFailureCount == 0)
        #expect(challenge.response.status == 401)
    }

    @Test func wrongCredentialsAreCountedAndTheHandlerIsAskedThreeTimesAtMost() async throws {
        let server = try Self.server()
        let asked = Collected<Challenge>()
        let agent = Self.agent(.use(Self.wrong), .use(Self.wrong), .use(Self.wrong), .use(Self.right), asked: asked)
        var request = Request<Bytes>(server.url("/"))
        #expect(try await agent.send(request).status == 401)
        #expect(asked.values.map(\.previousFailureCount) == [0, 1, 2])
        #expect(server.requestCount == 4)
        request.credentials = Self.wrong
        let again = Collected<Challenge>()
        #expect(try await Self.agent(.use(Self.right), asked: again).send(request).status == 200)
        #expect(again.values.map(\.previousFailureCount) == [1])
    }

    @Test func theDefaultIsTheRefusalItself() async throws {
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

    @Test func anErrorOfTheHandlerIsUnderneath() async throws {
        let server = try Self.server()
        let error = try await expectFailure(
            .authentication, of: Request<Bytes>(server.url("/")), from: Self.agent(.fail(Cause())))
        #expect(error.underlying is Cause)
        #expect(server.requestCount == 1)
    }

    @Test func rejectingGoesOnToTheNextChallenge() async throws {
        let server = try LoopbackServer()
        let refusal = Reply(
            status: 401,
            headers: ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n\"", "WWW-Authenticate: Basic realm=\"b\""])
        server.script("/", [refusal, .text("in")])
        let asked = Collected<Challenge>()
        let agent = Self.agent(.reject, .use(Self.right), asked: asked)
        #expect(try await agent.send(Request<Bytes>(server.url("/"))).status == 200)
        #expect(asked.values.map(\.scheme) == ["Digest", "Basic"])
        #expect(asked.values.map(\.realm) == ["a", "b"])
        server.script("/", refusal)
        #expect(try await Self.agent(.reject, .reject).send(Request<Bytes>(server.url("/"))).status == 401)
    }

    @Test func aStreamAndAFileAreChallengedToo() async throws {
        let server = try Self.server()
        let folder = try TemporaryFolder()
        let stream = try await Self.agent(.use(Self.right)).stream(Request<Bytes>(server.url("/")))
        #expect(try await stream.collect(upTo: 9) == Bytes(Array("in".utf8)))
        _ = try await Self.agent(.use(Self.right)).save(Request<Bytes>(server.url("/")), to: folder.file("body"))
        #expect(folder.contents(of: "body") == Array("in".utf8))
    }

    @Test func anAnswerTakesThePlaceOfTheRequestsOwnField() async throws {
        let server = try Self.server()
        let asked = Collected<Challenge>()
        let request = Request<Bytes>(server.url("/"), headers: ["Authorization": "Basic c3RhbGU6c3RhbGU="])
        #expect(try await Self.agent(.use(Self.right), asked: asked).send(request).status == 200)
        #expect(asked.values.map(\.previousFailureCount) == [1])
        #expect(server.received(1).values(named: "Authorization").count == 1)
    }

    @Test func aProxysChallengeIsToldAsTheProxys() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("in"))
        let proxy = try ProxyServer(user: "me", password: "secret")
        let asked = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), asked: asked)
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        #expect(try await agent.send(request).status == 200)
        #expect(asked.values.map(\.isProxy) == [true])
        #expect(server.received().values(named: "Authorization").isEmpty)
    }

    @Test(arguments: [false, true])
    func aTunnelsChallengeIsToldAsTheProxys(isStreamed: Bool) async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("in"))
        let proxy = try ProxyServer(user: "me", password: "secret")
        let asked = Collected<Challenge>()
        let agent = Self.agent(.use(Self.wrong), .use(Self.right), asked: asked)
        var request = Request<Bytes>(server.url("/"), method: .put, body: Body(Bytes(Array("a body".utf8))))
        request.proxy = Proxy(proxy.url)
        request.trust = TrustPolicy(roots: .pem(server.authority))
        let status = isStreamed ? try await agent.stream(request).status : try await agent.send(request).status
        #expect(status == 200)
        #expect(asked.values.map(\.isProxy) == [true, true])
        #expect(asked.values.map(\.realm) == ["nettesting", "nettesting"])
        #expect(asked.values.map(\.previousFailureCount) == [0, 1])
        #expect(asked.values.first?.url == server.url("/") && asked.values.first?.response.status == 407)
        #expect(server.requestCount == 1 && server.received().body == Array("a body".utf8))
        #expect(server.received().values(named: "Proxy-Authorization").isEmpty)
    }

    @Test func aTunnelThatNobodyHasCredentialsForIsTheErrorItIs() async throws {
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

    @Test func credentialsThatATunnelsProxyRefusesAreNotTriedAgain() async throws {
        let server = try LoopbackServer(.valid)
        let proxy = try ProxyServer(user: "me", password: "secret")
        let asked = Collected<Challenge>()
        var request = Request<Bytes>(server.url("/"))
        request.proxy = Proxy(proxy.url)
        request.trust = TrustPolicy(roots: .pem(server.authority))
        request.interceptors = [Retry()]
        try await expectFailure(.proxy, of: request, from: Self.agent(.useDefault, asked: asked))
        #expect(asked.values.count == 1)
    }

    @Test func aServerThatPlaysAProxyIsShownNothing() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 407, headers: ["Proxy-Authenticate: Basic realm=\"r\""]))
        let asked = Collected<Challenge>()
        for proxy in [nil, Proxy.direct] {
            var request = Request<Bytes>(server.url("/"))
            request.proxy = proxy
            #expect(try await Self.agent(.use(Self.right), asked: asked).send(request).status == 407)
        }
        #expect(asked.values.isEmpty && server.requestCount == 2)
    }

    @Test func nobodyIsAskedForAnotherOriginOrForABodyThatIsGone() async throws {
        let other = try Self.server()
        let server = try LoopbackServer()
        server.script("/", .redirect(to: other.url("/")))
        let asked = Collected<Challenge>()
        let agent = Self.agent(.use(Self.right), asked: asked)
        #expect(try await agent.send(Request<Bytes>(server.url("/"))).status == 401)
        let once = Request<Bytes>(other.url("/"), method: .post, body: .once(Pieces([[1]])))
        #expect(try await agent.send(once).status == 401)
        #expect(asked.values.isEmpty)
        #expect(other.requestCount == 2)
    }

    @Test func anotherOriginThatAHookFollowsToIsShownNothing() async throws {
        let other = try Self.server()
        let server = try LoopbackServer()
        server.script("/", .redirect(to: other.url("/")))
        let asked = Collected<Challenge>()
        for hasHeadHook in [false, true] {
            var request = Request<Bytes>(server.url("/"))
            request.transferHooks.redirect = { _ in .follow }
            if hasHeadHook {
                request.transferHooks.head = { _, _ in .allow }
            }
            let agent = Self.agent(.use(Self.right), asked: asked)
            #expect(try await agent.send(request).status == 401)
            #expect(try await agent.stream(request).status == 401)
        }
        #expect(asked.values.isEmpty)
        #expect((0..<other.requestCount).allSatisfy { other.received($0).values(named: "Authorization").isEmpty })
        #expect(other.requestCount == 4)
    }

    @Test func theOriginThatTheCallBeganAtIsAskedForWhereAHookFollowsBackToIt() async throws {
        let server = try Self.server()
        let other = try LoopbackServer()
        server.script("/away", .redirect(to: other.url("/back")))
        other.script("/back", .redirect(to: server.url("/")))
        let asked = Collected<Challenge>()
        var request = Request<Bytes>(server.url("/away"))
        request.transferHooks.redirect = { _ in .follow }
        #expect(try await Self.agent(.use(Self.right), asked: asked).send(request).status == 200)
        #expect(asked.values.map(\.url) == [server.url("/")])
        #expect(other.received().values(named: "Authorization").isEmpty)
    }

    @Test func aChallengesURLTellsNoCredentialsWhoeverIsTheHost() async throws {
        let urls = Collected<String>()
        var configuration = Agent.Configuration()
        configuration.challengeHandler = { challenge in
            urls.append(challenge.url)
            return .useDefault
        }
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

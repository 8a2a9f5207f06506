import NetKit
import NetKitTesting
import Testing

/// Decoding and redirect options are part of the cache key, because they change the stored response.
@Suite(.timeLimit(.minutes(5)))
struct CachingWayTests {
    private static let fresh: Headers = ["Cache-Control": "max-age=50"]

    @Test(arguments: [CacheRules.app(50), .server()], [false, true])
    func aCodedBodyIsNotForWhoWantsItDecodedNorTheReverse(rules: CacheRules, isDecodedFirst: Bool) async throws {
        let coded = Array(try Body(Bytes(Array("plain".utf8))).gzipped().bytes)
        let server = try LoopbackServer()
        let fields = ["Cache-Control: max-age=50", "Content-Encoding: gzip", "Vary: Accept-Encoding"]
        server.script("/", Reply(headers: fields, body: coded))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: rules)]
        let agent = Agent(configuration)
        for isDecoded in [isDecodedFirst, !isDecodedFirst, isDecodedFirst, !isDecodedFirst] {
            var request = Request<Bytes>(server.url("/"))
            request.acceptsCodings = isDecoded
            #expect(Array(try await agent.send(request).bytes) == (isDecoded ? Array("plain".utf8) : coded))
        }
        #expect(server.requestCount == 2)
        await agent.shutdown()
    }

    @Test(arguments: [CacheRules.app(50) { _ in }, .server()], [false, true])
    func aRedirectIsNotTheAnswerOfWhoFollowsIt(rules: CacheRules, isFollowedFirst: Bool) async throws {
        let scene = CacheScene(rules)
        scene.stub.answer(
            "/", with: StubReply(status: 301, headers: ["Cache-Control": "max-age=50", "Location": "/b"]))
        scene.stub.answer("/b", with: StubReply(headers: Self.fresh, body: [.text("there")]))
        for isFollowed in [isFollowedFirst, !isFollowedFirst, isFollowedFirst, !isFollowedFirst] {
            var request = Request<Bytes>("/")
            request.acceptedStatuses = 200..<400
            request.redirects = isFollowed ? .followDowngrades : .return
            let answer = try await scene.agent.send(request)
            #expect(answer.status == (isFollowed ? 200 : 301))
            #expect(String(decoding: Array(answer.bytes), as: UTF8.self) == (isFollowed ? "there" : ""))
        }
    }

    @Test func anAppsAnswersAreApartByWhatBecomesOfRedirects() async throws {
        let scene = CacheScene(.app(50))
        scene.stub.answer("/", with: (0..<9).map { StubReply(body: [.text("\($0)")]) })
        for (policy, value) in [
            (RedirectPolicy.follow, "0"), (.followDowngrades, "1"), (.return, "2"), (.follow, "0"), (nil, "0"),
        ] as [(RedirectPolicy?, String)] {
            var request = Request<String>("/")
            request.redirects = policy
            #expect(try await scene.agent.send(request).value == value)
        }
    }

    @Test func aServersDirectAnswerIsForWhoFollowsRedirectsAndForWhoDoesNot() async throws {
        let scene = CacheScene(.server())
        scene.stub.answer("/", with: StubReply(headers: Self.fresh, body: [.text("x")]))
        for (policy, outcome) in [(RedirectPolicy.return, CacheReport.Outcome.network), (.follow, .hit)] {
            var request = Request<String>("/")
            request.redirects = policy
            #expect(try await scene.agent.send(request).cache?.outcome == outcome)
        }
    }

    @Test func whatChangesSomethingTakesTheDecodedAndTheCodedAway() async throws {
        let scene = CacheScene(.server())
        scene.stub.answer("/", with: StubReply(headers: Self.fresh, body: [.text("x")]))
        for isDecodedByChange in [false, true] {
            for isDecoded in [false, true] {
                var request = Request<String>("/")
                request.acceptsCodings = isDecoded
                _ = try await scene.agent.send(request)
                var change = Request<Bytes>("/", method: .delete)
                change.acceptsCodings = isDecodedByChange
                _ = try await scene.agent.send(change)
                #expect(try await scene.agent.cached(request).response == nil)
            }
        }
    }
}

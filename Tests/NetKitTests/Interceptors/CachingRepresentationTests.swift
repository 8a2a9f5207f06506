import NetKit
import NetKitTesting
import Testing

/// Decoding and redirect options are part of the cache key, because they change the stored response.
@Suite(.timeLimit(.minutes(5)))
struct CachingRepresentationTests {
    private static let fresh: Headers = ["Cache-Control": "max-age=5000"]

    @Test(arguments: [CacheRules.app(5000), .server()], [false, true])
    func encodedAndDecodedBodiesHaveSeparateEntries(rules: CacheRules, isDecodedFirst: Bool) async throws {
        let coded = Array(try Body(Bytes(Array("plain".utf8))).gzipped().bytes)
        let server = try LoopbackServer()
        let fields = ["Cache-Control: max-age=5000", "Content-Encoding: gzip", "Vary: Accept-Encoding"]
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

    @Test(arguments: [CacheRules.app(5000) { _ in }, .server()], [false, true])
    func redirectResponseIsNotReusedByARequestThatFollowsRedirects(rules: CacheRules, isFollowedFirst: Bool)
        async throws
    {
        let fixture = CacheFixture(rules)
        fixture.stub.register(
            "/", with: StubReply(status: 301, headers: ["Cache-Control": "max-age=5000", "Location": "/b"]))
        fixture.stub.register("/b", with: StubReply(headers: Self.fresh, body: [.text("there")]))
        for isFollowed in [isFollowedFirst, !isFollowedFirst, isFollowedFirst, !isFollowedFirst] {
            var request = Request<Bytes>("/")
            request.acceptedStatuses = 200..<400
            request.redirects = isFollowed ? .followDowngrades : .return
            let answer = try await fixture.agent.send(request)
            #expect(answer.status == (isFollowed ? 200 : 301))
            #expect(String(decoding: Array(answer.bytes), as: UTF8.self) == (isFollowed ? "there" : ""))
        }
    }

    @Test func redirectPolicySeparatesEntriesOfAnAppPolicy() async throws {
        let fixture = CacheFixture(.app(5000))
        fixture.stub.register("/", with: (0..<9).map { StubReply(body: [.text("\($0)")]) })
        for (policy, value) in [
            (RedirectPolicy.follow, "0"), (.followDowngrades, "1"), (.return, "2"), (.follow, "0"), (.inherited, "0"),
        ] as [(RedirectPolicy, String)] {
            var request = Request<String>("/")
            request.redirects = policy
            #expect(try await fixture.agent.send(request).value == value)
        }
    }

    @Test func directResponseIsSharedAcrossRedirectPolicies() async throws {
        let fixture = CacheFixture(.server())
        fixture.stub.register("/", with: StubReply(headers: Self.fresh, body: [.text("x")]))
        for (policy, outcome) in [(RedirectPolicy.return, CacheReport.Outcome.network), (.follow, .hit)] {
            var request = Request<String>("/")
            request.redirects = policy
            #expect(try await fixture.agent.send(request).cache?.outcome == outcome)
        }
    }

    @Test func changeInvalidatesEncodedAndDecodedEntries() async throws {
        let fixture = CacheFixture(.server())
        fixture.stub.register("/", with: StubReply(headers: Self.fresh, body: [.text("x")]))
        for isDecodedByChange in [false, true] {
            for isDecoded in [false, true] {
                var request = Request<String>("/")
                request.acceptsCodings = isDecoded
                _ = try await fixture.agent.send(request)
                var change = Request<Bytes>("/", method: .delete)
                change.acceptsCodings = isDecodedByChange
                _ = try await fixture.agent.send(change)
                #expect(try await fixture.agent.cached(request).response == nil)
            }
        }
    }
}

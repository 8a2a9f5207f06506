import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// The order of cache and network in each mode.
@Suite(.timeLimit(.minutes(5)))
struct CachingModeTests {
    private let fixture = CacheFixture()
    private let shape: JSONShape = ["a": .integer]
    private let request = Request<String>("/")

    private func send(_ rules: CacheRules) async throws -> Response<String> {
        try await fixture.agent.send(request.cached(rules))
    }

    @Test func offlineRequestUsesTheLastStoredResponse() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"), .failure(.refused))
        #expect(try await send(.app(5, .networkElseCache)).value == "1")
        #expect(try await send(.app(5, .networkElseCache)).value == "2")
        fixture.pass(1000)
        let stored = try await send(.app(5, .networkElseCache))
        #expect(stored.value == "2" && stored.cache?.outcome == .staleHit && stored.cache?.reason == .staleIfError)
        // A stored response of another version is not used. If the caller caused the error, no stored response is used.
        await #expect(throws: NetError.self) { try await send(.app(5, .networkElseCache) { $0.version = 1 }) }
        fixture.stub.register("/", with: .failure(.badURL))
        await #expect(throws: NetError.self) { try await send(.app(5, .networkElseCache)) }
    }

    @Test func cacheOnlyRequestSendsNothing() async throws {
        let thrown = await #expect(throws: NetError.self) { try await send(.app(5, .cacheOnly)) }
        #expect(thrown?.code == .notCached && thrown?.response?.cache?.reason == .absent)
        #expect(thrown?.message.contains("absent") == true)
        #expect(fixture.stub.requests.isEmpty)
        fixture.stub.register("/", with: .text("1"))
        _ = try await send(.app(5))
        #expect(try await send(.app(5, .cacheOnly)).value == "1")
        fixture.pass(6)
        let late = await #expect(throws: NetError.self) { try await send(.app(5, .cacheOnly)) }
        #expect(late?.response?.cache?.decision == .fetch(.expired) && late?.response?.cache?.age == .seconds(6))
        #expect(fixture.stub.requests.count == 1)
    }

    @Test func cacheOnlyUncacheableRequestSendsNothing() async throws {
        let server = CacheRules.server(.cacheOnly)
        for (rules, request) in [
            (server, Request<String>("/", method: .put, body: .text("x"))),
            (server, Request<String>("/", method: .post, body: .text("x"))),
            (server, Request<String>("/", method: .delete)),
            (server, Request<String>("/", method: .head)),
            (server, Request<String>("/", method: .options)),
            (server, Request<String>("/", headers: ["Range": "bytes=0-1"])),
            (server, Request<String>("/", headers: ["If-None-Match": "\"a\""])),
            (server, Request<String>("/", headers: ["If-Match": "\"a\""])),
            (server, Request<String>("/", method: .post, headers: ["Cache-Control": "only-if-cached"])),
            (.app(5, .cacheOnly), Request<String>("/", headers: ["Range": "bytes=0-1"])),
            (.app(5, .cacheOnly), Request<String>("/", method: .post, body: .once(Pieces([[1]])))),
        ] {
            #expect(await ending(of: request.cached(rules), from: fixture.agent) == .failed(.notCached))
        }
        #expect(fixture.stub.requests.isEmpty)
    }

    @Test func cacheOnlyRequestWithoutACacheSendsNothing() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("1"))
        let agent = Agent(Agent.Configuration(baseURL: "http://stub"), transport: stub)
        for rules in [CacheRules.app(5, .cacheOnly), .server(.cacheOnly)] {
            #expect(await ending(of: request.cached(rules), from: agent) == .failed(.notCached))
            let stream = await #expect(throws: NetError.self) { try await agent.stream(request.cached(rules)) }
            #expect(stream?.code == .notCached)
        }
        #expect(stub.requests.isEmpty)
        #expect(try await agent.send(request.cached(.app(5))).value == "1")
    }

    @Test func cacheOnlyRequestFollowsTheServersCacheRules() async throws {
        let fields: Headers = ["Cache-Control": "max-age=5000", "ETag": "\"a\""]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("body")]))
        _ = try await send(.server())
        for (request, status, text) in [
            (Request<Bytes>("/"), 200, "body"), (Request<Bytes>("/", method: .head), 200, ""),
            (Request<Bytes>("/", headers: ["If-None-Match": "\"a\""]), 304, ""),
            (Request<Bytes>("/", headers: ["If-None-Match": "\"b\""]), 200, "body"),
            (Request<Bytes>("/", headers: ["Range": "bytes=1-2"]), 206, "od"),
        ] {
            var request = request.cached(.server(.cacheOnly))
            request.acceptedStatuses = .any
            let answer = try await fixture.agent.send(request)
            #expect(answer.status == status && answer.value.text == text && answer.source == .cache)
        }
        #expect(
            await ending(
                of: Request<Bytes>("/", headers: ["Range": "bytes=9-"]).cached(.server(.cacheOnly)), from: fixture.agent
            )
                == .failed(.notCached))
        #expect(fixture.stub.requests.count == 1)
    }

    @Test func cacheThenNetworkSendsAnUncacheableRequestOnce() async throws {
        let changing = Request<String>("/", method: .post, body: .text("order"))
        for (rules, request) in [
            (CacheRules.off, Request<String>("/")), (.off, changing), (.server(), changing),
            (.server(), Request<String>("/", method: .delete)), (.server(), Request<String>("/", method: .head)),
            (.server(), Request<String>("/", headers: ["Range": "bytes=0-1"])),
            (.app(5), Request<String>("/", headers: ["If-None-Match": "\"a\""])),
        ] {
            let fixture = CacheFixture()
            fixture.stub.register("/", with: .text("1"))
            var answers: [String] = []
            for try await answer in fixture.agent.answers(to: request.cached(rules)) {
                answers.append(answer.value)
            }
            #expect(answers == [request.method == .head ? "" : "1"])
            #expect(fixture.stub.requests.count == 1)
        }
    }

    @Test func cacheThenNetworkAppliesAgentRulesOnlyToSafeMethods() async throws {
        let fixture = CacheFixture(.app(5000))
        fixture.stub.register("/", with: .text("1"), .text("2"))
        for value in ["1", "2"] {
            var answers: [String] = []
            for try await answer in fixture.agent.answers(to: Request<String>("/", method: .post, body: .text("x"))) {
                answers.append(answer.value)
            }
            #expect(answers == [value])
        }
    }

    @Test func cacheThenNetworkReturnsTwoResponsesInOneCall() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await send(.app(5000))
        let before = fixture.names.count
        var answers: [String] = []
        for try await answer in fixture.agent.answers(to: request.cached(.app(5000))) {
            answers.append("\(answer.value) \(answer.cache?.outcome == .hit)")
        }
        #expect(answers == ["1 true", "2 false"])
        #expect(
            fixture.names.dropFirst(before) == [
                "started", "cache use (fresh)", "exchange 1", "answered 200", "cache fetch (networkFirst)",
                "stopping 200", "stopped",
            ])
        #expect(try await send(.app(5000)).value == "2")
    }

    @Test func cacheThenNetworkReturnsOneResponseIfNothingFreshIsStored() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        for (count, value) in [(1, "1"), (1, "2")] {
            var answers: [String] = []
            for try await answer in fixture.agent.answers(to: request.cached(.app(5))) {
                answers.append(answer.value)
            }
            #expect(answers.count == count && answers.last == value)
            fixture.pass(6)
        }
        #expect(fixture.names.count { $0 == "stopped" } == 2)
    }

    @Test func serviceMapsTheErrorOfCacheThenNetwork() async throws {
        fixture.stub.register("/", with: .text("1"), .status(500))
        var configuration = Service.Configuration()
        configuration.mapError = { NetError(.invalidValue, "it was \($0.code)", underlying: $0) }
        var cachedRequest = request.cached(.app(5000))
        cachedRequest.service = Service("a", configuration)
        _ = try await fixture.agent.send(cachedRequest)
        var answers = fixture.agent.answers(to: cachedRequest).makeAsyncIterator()
        #expect(try await answers.next()?.value == "1")
        let error = await #expect(throws: NetError.self) { try await answers.next() }
        #expect(error?.message == "it was status")
        #expect(fixture.names.suffix(2) == ["stopping invalidValue", "stopped"])
    }

    @Test(arguments: [false, true])
    func hookCanStopTheLastResponseOfCacheThenNetwork(isFailure: Bool) async throws {
        fixture.stub.register("/", with: isFailure ? .failure(.reset) : .text("1"))
        let notifications = Collected<String>()
        var hooks = CallHooks()
        hooks.didReceive = { _, _ in notifications.append("did receive") }
        hooks.beforeSuccess = { _, _ in false }
        hooks.beforeFailure = { _, _ in false }
        hooks.afterSuccess = { _, _ in notifications.append("after success") }
        hooks.afterFailure = { _, _ in notifications.append("after failure") }
        var cachedRequest = request.cached(.app(5000))
        cachedRequest.interceptors = [hooks]
        var answers = fixture.agent.answers(to: cachedRequest).makeAsyncIterator()
        let error = await #expect(throws: NetError.self) { try await answers.next() }
        #expect(error?.code == .stoppedByCaller)
        #expect(notifications.values == ["did receive"])
    }

    @Test func failureAfterTheCachedResponseEndsTheSequenceOnce() async throws {
        fixture.stub.register("/", with: .text("1"), .failure(.reset))
        _ = try await send(.app(5000))
        var answers = fixture.agent.answers(to: request.cached(.app(5000))).makeAsyncIterator()
        #expect(try await answers.next()?.value == "1")
        do {
            _ = try await answers.next()
            Issue.record("no failure")
        } catch {
            #expect(error is NetError)
        }
        #expect(try await answers.next() == nil)
        #expect(fixture.names.suffix(2) == ["stopping reset", "stopped"])
    }

    @Test func droppedSequenceEndsOnce() async throws {
        fixture.stub.register("/", with: .text("1"))
        _ = try await send(.app(5000))
        for try await _ in fixture.agent.answers(to: request.cached(.app(5000))) { break }
        #expect(fixture.names.suffix(2) == ["stopping cancelled", "stopped"])
        #expect(fixture.names.count { $0 == "stopped" } == 2)
    }

    @Test func staleResponseIsReturnedWhileRevalidating() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"), .text("3"))
        let rules = CacheRules.app(5, .staleWhileRevalidate(.seconds(10)))
        _ = try await send(rules)
        fixture.pass(15)
        let old = try await send(rules)
        #expect(old.value == "1" && old.cache?.reason == .staleWhileRevalidate && old.cache?.outcome == .staleHit)
        await fixture.caching.finish()
        let fresh = try await send(rules)
        #expect(fresh.value == "2" && fresh.cache?.outcome == .hit)
        fixture.pass(16)
        #expect(try await send(rules).value == "3")
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func onlyOneBackgroundRefreshIsInFlight() async throws {
        let gate = StubGate()
        fixture.stub.register("/", with: .text("1"), .text("2").held(by: gate))
        let rules = CacheRules.app(5, .staleWhileRevalidate(.seconds(100)))
        _ = try await send(rules)
        fixture.pass(6)
        for _ in 0..<5 {
            #expect(try await send(rules).value == "1")
        }
        try await gate.waitForArrivals(1)
        gate.open()
        await fixture.caching.finish()
        #expect(fixture.stub.requests.count == 2)
    }

    @Test(arguments: [StubReply.failure(.reset), .failure(.connectTimeout), .status(500), .status(503)])
    func staleResponseIsReturnedWithinStaleIfError(reply: StubReply) async throws {
        fixture.stub.register("/", with: .text("1"), reply)
        let rules = CacheRules.app(5, .staleIfError(.seconds(10)))
        _ = try await send(rules)
        fixture.pass(15)
        let old = try await send(rules)
        #expect(old.value == "1" && old.cache?.reason == .staleIfError)
        fixture.pass(1)
        await #expect(throws: NetError.self) { try await send(rules) }
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func storedResponseIsReturnedImmediatelyAndRefreshedForTheNextCall() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"), .text("3"))
        let rules = CacheRules.app(5, .nativeLoad)
        #expect(try await send(rules).value == "1")
        fixture.pass(1_000_000)
        let known = try await send(rules)
        #expect(known.value == "1" && known.cache?.reason == .lastKnown && known.cache?.outcome == .staleHit)
        await fixture.caching.finish()
        #expect(try await send(rules).value == "2")
        await fixture.caching.finish()
        // An entry of another version does not count as known.
        let other = try await send(.app(5, .nativeLoad) { $0.version = 1 })
        #expect(other.cache?.outcome == .network)
    }

    @Test func expiredResponseIsRevalidated() async throws {
        let tag = "\"v1\""
        fixture.stub.register(
            "/", with: StubReply(headers: ["ETag": tag, "A": "1"], body: [.text("1")]),
            StubReply(status: 304, headers: ["A": "2"]), .text("3"))
        _ = try await send(.app(5))
        fixture.pass(6)
        let held = try await send(.app(5))
        #expect(
            held.value == "1" && held.cache?.decision == .revalidate(.expired) && held.cache?.outcome == .revalidated)
        #expect(held.headers["A"] == "2" && held.headers["ETag"] == tag)
        #expect(fixture.stub.requests[1].headers["If-None-Match"] == tag)
        fixture.pass(5)
        #expect(try await send(.app(5)).cache?.outcome == .hit)
        fixture.pass(1)
        #expect(try await send(.app(5) { $0.revalidates = false }).value == "3")
        #expect(fixture.stub.requests[2].headers["If-None-Match"] == nil)
    }

    /// On other methods If-None-Match would prevent the request from having an effect (RFC 9110, 13.1.2).
    @Test(
        arguments: [Method.post, .put, .patch, .delete, "QUERY"],
        [CacheMode.cacheElseNetwork, .networkElseCache, .staleIfError(.seconds(1))])
    func expiredResponseIsNotRevalidatedWithUnsafeMethods(method: Method, mode: CacheMode) async throws {
        let fields: Headers = ["ETag": "\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("1")]), .text("2"))
        let asking = Request<String>("/", method: method, body: .text("x")).cached(.app(5, mode))
        _ = try await fixture.agent.send(asking)
        fixture.pass(6)
        let answer = try await fixture.agent.send(asking)
        #expect(answer.value == "2" && answer.cache?.outcome == .network)
        #expect(answer.cache?.decision == .fetch(mode == .networkElseCache ? .networkFirst : .expired))
        let sent = try #require(fixture.stub.requests.last).headers
        #expect(sent["If-None-Match"] == nil && sent["If-Modified-Since"] == nil)
    }

    @Test func notModifiedForAnotherVersionIsIgnored() async throws {
        fixture.stub.register(
            "/", with: StubReply(headers: ["ETag": "\"a\""], body: [.text("1")]),
            StubReply(status: 304, headers: ["ETag": "\"b\""]), .text("2"))
        _ = try await send(.app(5))
        fixture.pass(6)
        #expect(try await send(.app(5)).value == "2")
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func expectationAppliesToARevalidatedResponse() async throws {
        let fields: Headers = ["ETag": "\"a\"", "Content-Type": "application/json"]
        fixture.stub.register(
            "/", with: StubReply(headers: fields, body: [.text("{\"a\": 1}")]), StubReply(status: 304, headers: fields))
        let shapedRequest = Request<Bytes>("/").cached(.app(5)).expecting(shape)
        _ = try await fixture.agent.send(shapedRequest)
        fixture.pass(6)
        #expect(try await fixture.agent.send(shapedRequest).bytes.text == "{\"a\": 1}")
    }

    @Test func networkFirstRequestSendsHeadAndConditionalRequests() async throws {
        let fixture = CacheFixture(.server(.networkElseCache))
        let whole = StubReply(headers: ["Cache-Control": "max-age=6000", "ETag": "\"a\""], body: [.text("1")])
        fixture.stub.register("/", with: whole, whole, .failure(.reset))
        fixture.stub.register("/", method: .head, with: whole, .failure(.reset))
        let head = Request<Bytes>("/", method: .head)
        let conditional = Request<Bytes>("/", headers: ["If-None-Match": "\"a\""])
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        for request in [head, conditional] {
            #expect(try await fixture.agent.send(request).cache?.outcome == .network)
        }
        // The stored response is used if the network fails.
        for (request, status) in [(head, 200), (conditional, 304)] {
            let answer = try await fixture.agent.send(request)
            #expect(answer.source == .cache && answer.status == status && answer.bytes.isEmpty)
        }
        #expect(fixture.stub.requests.count == 5)
    }
}

import NetKit
import NetKitTesting
import Testing

/// The order of cache and network in each mode.
@Suite(.timeLimit(.minutes(5)))
struct CachingModeTests {
    private let scene = CacheScene()
    private let shape: JSONShape = ["a": .integer]
    private let request = Request<String>("/")

    private func send(_ rules: CacheRules) async throws -> Response<String> {
        try await scene.agent.send(request.cached(rules))
    }

    @Test func withoutANetworkTheLastAnswerStandsIn() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"), .failure(.refused))
        #expect(try await send(.app(5, .networkElseCache)).value == "1")
        #expect(try await send(.app(5, .networkElseCache)).value == "2")
        scene.pass(1000)
        let stored = try await send(.app(5, .networkElseCache))
        #expect(stored.value == "2" && stored.cache?.outcome == .staleHit && stored.cache?.reason == .staleIfError)
        // A stored response of another version is not used. Neither is any if the caller caused the error.
        await #expect(throws: NetError.self) { try await send(.app(5, .networkElseCache) { $0.version = 1 }) }
        scene.stub.answer("/", with: .failure(.badURL))
        await #expect(throws: NetError.self) { try await send(.app(5, .networkElseCache)) }
    }

    @Test func theCacheAloneSendsNothing() async throws {
        let thrown = await #expect(throws: NetError.self) { try await send(.app(5, .cacheOnly)) }
        #expect(thrown?.code == .notCached && thrown?.response?.cache?.reason == .absent)
        #expect(thrown?.message.contains("absent") == true)
        #expect(scene.stub.requests.isEmpty)
        scene.stub.answer("/", with: .text("1"))
        _ = try await send(.app(5))
        #expect(try await send(.app(5, .cacheOnly)).value == "1")
        scene.pass(6)
        let late = await #expect(throws: NetError.self) { try await send(.app(5, .cacheOnly)) }
        #expect(late?.response?.cache?.decision == .fetch(.expired) && late?.response?.cache?.age == .seconds(6))
        #expect(scene.stub.requests.count == 1)
    }

    @Test func theCacheAloneSendsNothingOfWhatItDoesNotTake() async throws {
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
            #expect(await ending(of: request.cached(rules), from: scene.agent) == .failed(.notCached))
        }
        #expect(scene.stub.requests.isEmpty)
    }

    @Test func theCacheAloneSendsNothingWhereThereIsNoCache() async throws {
        let stub = StubTransport()
        stub.answer("*", with: .text("1"))
        let agent = Agent(Agent.Configuration(baseURL: "http://stub"), transport: stub)
        for rules in [CacheRules.app(5, .cacheOnly), .server(.cacheOnly)] {
            #expect(await ending(of: request.cached(rules), from: agent) == .failed(.notCached))
            let stream = await #expect(throws: NetError.self) { try await agent.stream(request.cached(rules)) }
            #expect(stream?.code == .notCached)
        }
        #expect(stub.requests.isEmpty)
        #expect(try await agent.send(request.cached(.app(5))).value == "1")
    }

    @Test func theCacheAloneAnswersWhatItsServersRulesLetItAnswer() async throws {
        let fields: Headers = ["Cache-Control": "max-age=50", "ETag": "\"a\""]
        scene.stub.answer("/", with: StubReply(headers: fields, body: [.text("body")]))
        _ = try await send(.server())
        for (request, status, text) in [
            (Request<Bytes>("/"), 200, "body"), (Request<Bytes>("/", method: .head), 200, ""),
            (Request<Bytes>("/", headers: ["If-None-Match": "\"a\""]), 304, ""),
            (Request<Bytes>("/", headers: ["If-None-Match": "\"b\""]), 200, "body"),
            (Request<Bytes>("/", headers: ["Range": "bytes=1-2"]), 206, "od"),
        ] {
            var request = request.cached(.server(.cacheOnly))
            request.acceptedStatuses = nil
            let answer = try await scene.agent.send(request)
            #expect(answer.status == status && answer.value.text == text && answer.source == .cache)
        }
        #expect(
            await ending(
                of: Request<Bytes>("/", headers: ["Range": "bytes=9-"]).cached(.server(.cacheOnly)), from: scene.agent)
                == .failed(.notCached))
        #expect(scene.stub.requests.count == 1)
    }

    @Test func whatNoCacheTakesIsSentOnceWhereAllAnswersAreAskedFor() async throws {
        let changing = Request<String>("/", method: .post, body: .text("order"))
        for (rules, request) in [
            (CacheRules.off, Request<String>("/")), (.off, changing), (.server(), changing),
            (.server(), Request<String>("/", method: .delete)), (.server(), Request<String>("/", method: .head)),
            (.server(), Request<String>("/", headers: ["Range": "bytes=0-1"])),
            (.app(5), Request<String>("/", headers: ["If-None-Match": "\"a\""])),
        ] {
            let scene = CacheScene()
            scene.stub.answer("/", with: .text("1"))
            var answers: [String] = []
            for try await answer in scene.agent.answers(to: request.cached(rules)) {
                answers.append(answer.value)
            }
            #expect(answers == [request.method == .head ? "" : "1"])
            #expect(scene.stub.requests.count == 1)
        }
    }

    @Test func rulesOfAllRequestsAreForThoseThatReadWhereAllAnswersAreAskedFor() async throws {
        let scene = CacheScene(.app(50))
        scene.stub.answer("/", with: .text("1"), .text("2"))
        for value in ["1", "2"] {
            var answers: [String] = []
            for try await answer in scene.agent.answers(to: Request<String>("/", method: .post, body: .text("x"))) {
                answers.append(answer.value)
            }
            #expect(answers == [value])
        }
    }

    @Test func twoAnswersComeInOneCall() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"))
        _ = try await send(.app(50))
        let before = scene.names.count
        var answers: [String] = []
        for try await answer in scene.agent.answers(to: request.cached(.app(50))) {
            answers.append("\(answer.value) \(answer.cache?.outcome == .hit)")
        }
        #expect(answers == ["1 true", "2 false"])
        #expect(
            scene.names.dropFirst(before) == [
                "started", "cache use (fresh)", "exchange 1", "answered 200", "cache fetch (networkFirst)",
                "stopping 200", "stopped",
            ])
        #expect(try await send(.app(50)).value == "2")
    }

    @Test func oneAnswerComesWhereNothingIsStoredOrItIsOver() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"))
        for (count, value) in [(1, "1"), (1, "2")] {
            var answers: [String] = []
            for try await answer in scene.agent.answers(to: request.cached(.app(5))) {
                answers.append(answer.value)
            }
            #expect(answers.count == count && answers.last == value)
            scene.pass(6)
        }
        #expect(scene.names.count { $0 == "stopped" } == 2)
    }

    @Test func theServiceSaysAFailureOfAnswersInItsOwnWay() async throws {
        scene.stub.answer("/", with: .text("1"), .status(500))
        var configuration = Service.Configuration()
        configuration.mapError = { NetError(.invalidValue, "it was \($0.code)", underlying: $0) }
        var asked = request.cached(.app(50))
        asked.service = Service("a", configuration)
        _ = try await scene.agent.send(asked)
        var answers = scene.agent.answers(to: asked).makeAsyncIterator()
        #expect(try await answers.next()?.value == "1")
        let error = await #expect(throws: NetError.self) { try await answers.next() }
        #expect(error?.message == "it was unacceptableStatus")
        #expect(scene.names.suffix(2) == ["stopping invalidValue", "stopped"])
    }

    @Test(arguments: [false, true])
    func hooksMayStopTheLastOfTheAnswers(isFailure: Bool) async throws {
        scene.stub.answer("/", with: isFailure ? .failure(.reset) : .text("1"))
        let heard = Collected<String>()
        var hooks = CallHooks()
        hooks.didReceive = { _, _ in heard.append("did receive") }
        hooks.beforeSuccess = { _, _ in false }
        hooks.beforeFailure = { _, _ in false }
        hooks.afterSuccess = { _, _ in heard.append("after success") }
        hooks.afterFailure = { _, _ in heard.append("after failure") }
        var asked = request.cached(.app(50))
        asked.interceptors = [hooks]
        var answers = scene.agent.answers(to: asked).makeAsyncIterator()
        let error = await #expect(throws: NetError.self) { try await answers.next() }
        #expect(error?.code == .stoppedByCaller)
        #expect(heard.values == ["did receive"])
    }

    @Test func aFailureAfterTheStoredAnswerEndsTheSequenceOnce() async throws {
        scene.stub.answer("/", with: .text("1"), .failure(.reset))
        _ = try await send(.app(50))
        var answers = scene.agent.answers(to: request.cached(.app(50))).makeAsyncIterator()
        #expect(try await answers.next()?.value == "1")
        await #expect(throws: NetError.self) { try await answers.next() }
        #expect(try await answers.next() == nil)
        #expect(scene.names.suffix(2) == ["stopping reset", "stopped"])
    }

    @Test func aSequenceThatIsLetGoEndsOnce() async throws {
        scene.stub.answer("/", with: .text("1"))
        _ = try await send(.app(50))
        for try await _ in scene.agent.answers(to: request.cached(.app(50))) { break }
        #expect(scene.names.suffix(2) == ["stopping cancelled", "stopped"])
        #expect(scene.names.count { $0 == "stopped" } == 2)
    }

    @Test func anOldAnswerDoesWhileANewOneIsFetched() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"), .text("3"))
        let rules = CacheRules.app(5, .staleWhileRevalidate(.seconds(10)))
        _ = try await send(rules)
        scene.pass(15)
        let old = try await send(rules)
        #expect(old.value == "1" && old.cache?.reason == .staleWhileRevalidate && old.cache?.outcome == .staleHit)
        await scene.caching.finish()
        let fresh = try await send(rules)
        #expect(fresh.value == "2" && fresh.cache?.outcome == .hit)
        scene.pass(16)
        #expect(try await send(rules).value == "3")
        #expect(scene.stub.requests.count == 3)
    }

    @Test func oneRefreshIsUnderWayAtATime() async throws {
        let gate = StubGate()
        scene.stub.answer("/", with: .text("1"), .text("2").held(by: gate))
        let rules = CacheRules.app(5, .staleWhileRevalidate(.seconds(100)))
        _ = try await send(rules)
        scene.pass(6)
        for _ in 0..<5 {
            #expect(try await send(rules).value == "1")
        }
        try await gate.waitForArrivals(1)
        gate.open()
        await scene.caching.finish()
        #expect(scene.stub.requests.count == 2)
    }

    @Test(arguments: [StubReply.failure(.reset), .failure(.connectTimedOut), .status(500), .status(503)])
    func whenTheServerFailsAnOldAnswerDoesForAWhile(reply: StubReply) async throws {
        scene.stub.answer("/", with: .text("1"), reply)
        let rules = CacheRules.app(5, .staleIfError(.seconds(10)))
        _ = try await send(rules)
        scene.pass(15)
        let old = try await send(rules)
        #expect(old.value == "1" && old.cache?.reason == .staleIfError)
        scene.pass(1)
        await #expect(throws: NetError.self) { try await send(rules) }
        #expect(scene.stub.requests.count == 3)
    }

    @Test func theLastKnownAnswerComesAtOnceAndTheNetworksTheNextTime() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"), .text("3"))
        let rules = CacheRules.app(5, .nativeLoad)
        #expect(try await send(rules).value == "1")
        scene.pass(1_000_000)
        let known = try await send(rules)
        #expect(known.value == "1" && known.cache?.reason == .lastKnown && known.cache?.outcome == .staleHit)
        await scene.caching.finish()
        #expect(try await send(rules).value == "2")
        await scene.caching.finish()
        // An entry of another version does not count as known.
        let other = try await send(.app(5, .nativeLoad) { $0.version = 1 })
        #expect(other.cache?.outcome == .network)
    }

    @Test func whatIsOverIsAskedAboutAndNotSentAgain() async throws {
        let tag = "\"v1\""
        scene.stub.answer(
            "/", with: StubReply(headers: ["ETag": tag, "A": "1"], body: [.text("1")]),
            StubReply(status: 304, headers: ["A": "2"]), .text("3"))
        _ = try await send(.app(5))
        scene.pass(6)
        let held = try await send(.app(5))
        #expect(
            held.value == "1" && held.cache?.decision == .revalidate(.expired) && held.cache?.outcome == .revalidated)
        #expect(held.headers["A"] == "2" && held.headers["ETag"] == tag)
        #expect(scene.stub.requests[1].headers["If-None-Match"] == tag)
        scene.pass(5)
        #expect(try await send(.app(5)).cache?.outcome == .hit)
        scene.pass(1)
        #expect(try await send(.app(5) { $0.revalidates = false }).value == "3")
        #expect(scene.stub.requests[2].headers["If-None-Match"] == nil)
    }

    /// On other methods If-None-Match would prevent the request from having an effect (RFC 9110, 13.1.2).
    @Test(
        arguments: [Method.post, .put, .patch, .delete, "QUERY"],
        [CacheMode.cacheElseNetwork, .networkElseCache, .staleIfError(.seconds(1))])
    func whatIsOverIsNotAskedAboutWithMethodsThatChangeSomething(method: Method, mode: CacheMode) async throws {
        let fields: Headers = ["ETag": "\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
        scene.stub.answer("/", with: StubReply(headers: fields, body: [.text("1")]), .text("2"))
        let asking = Request<String>("/", method: method, body: .text("x")).cached(.app(5, mode))
        _ = try await scene.agent.send(asking)
        scene.pass(6)
        let answer = try await scene.agent.send(asking)
        #expect(answer.value == "2" && answer.cache?.outcome == .network)
        #expect(answer.cache?.decision == .fetch(mode == .networkElseCache ? .networkFirst : .expired))
        let sent = try #require(scene.stub.requests.last).headers
        #expect(sent["If-None-Match"] == nil && sent["If-Modified-Since"] == nil)
    }

    @Test func aNotModifiedOfAnotherVersionIsNotBelieved() async throws {
        scene.stub.answer(
            "/", with: StubReply(headers: ["ETag": "\"a\""], body: [.text("1")]),
            StubReply(status: 304, headers: ["ETag": "\"b\""]), .text("2"))
        _ = try await send(.app(5))
        scene.pass(6)
        #expect(try await send(.app(5)).value == "2")
        #expect(scene.stub.requests.count == 3)
    }

    @Test func anExpectationHoldsForAnAnswerThatIsAskedAbout() async throws {
        let fields: Headers = ["ETag": "\"a\"", "Content-Type": "application/json"]
        scene.stub.answer(
            "/", with: StubReply(headers: fields, body: [.text("{\"a\": 1}")]), StubReply(status: 304, headers: fields))
        let wanted = Request<Bytes>("/").cached(.app(5)).expecting(shape)
        _ = try await scene.agent.send(wanted)
        scene.pass(6)
        #expect(try await scene.agent.send(wanted).bytes.text == "{\"a\": 1}")
    }

    @Test func headsAndConditionsAskFirstWhereTheNetworkComesFirst() async throws {
        let scene = CacheScene(.server(.networkElseCache))
        let whole = StubReply(headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: [.text("1")])
        scene.stub.answer("/", with: whole, whole, .failure(.reset))
        scene.stub.answer("/", method: .head, with: whole, .failure(.reset))
        let head = Request<Bytes>("/", method: .head)
        let conditional = Request<Bytes>("/", headers: ["If-None-Match": "\"a\""])
        _ = try await scene.agent.send(Request<Bytes>("/"))
        for request in [head, conditional] {
            #expect(try await scene.agent.send(request).cache?.outcome == .network)
        }
        // The stored response is used if the network fails.
        for (request, status) in [(head, 200), (conditional, 304)] {
            let answer = try await scene.agent.send(request)
            #expect(answer.source == .cache && answer.status == status && answer.bytes.isEmpty)
        }
        #expect(scene.stub.requests.count == 5)
    }
}

import NetKit
import NetKitTesting
import Testing

/// Newer responses that are not stored: whether the stored one stays valid (RFC 9111, 4.3.3).
@Suite(.timeLimit(.minutes(5)))
struct CacheSupersedingTests {
    private static let fresh: Headers = ["Cache-Control": "max-age=60"]
    private let fixture = CacheFixture(.server())
    private let request = Request<Bytes>("/")
    private let reload = Request<Bytes>("/", headers: ["Cache-Control": "no-cache"])

    private func store(_ fields: Headers = fresh, then more: StubReply...) async throws {
        fixture.stub.register("/", method: .get, with: [StubReply(headers: fields, body: [.text("1")])] + more)
        _ = try await fixture.agent.send(request)
        #expect(try await isUsed)
    }

    private var isUsed: Bool {
        get async throws { try await fixture.agent.cached(request).decision.isUse }
    }

    @Test(arguments: [
        StubReply.status(404), .status(410), .status(403), .status(302), .status(201),
        StubReply(headers: ["Cache-Control": "no-store"]), StubReply(headers: ["Vary": "*"]), .text("2"),
    ])
    func unstorableResponseRemovesTheOlderEntry(reply: StubReply) async throws {
        try await store(then: reply)
        #expect(try await fixture.agent.send(reload).cache?.isStorable == false)
        #expect(try await fixture.agent.cached(request).decision == .fetch(.absent))
    }

    @Test(arguments: [
        StubReply.status(500), .status(503), .status(599), .status(407), .status(408), .status(429), .failure(.reset),
    ])
    func unrelatedStatusKeepsTheOlderEntry(reply: StubReply) async throws {
        try await store(then: reply)
        _ = await ending(of: reload, from: fixture.agent)
        #expect(fixture.stub.requests.count == 2)
        #expect(try await isUsed)
    }

    @Test func redirectedResponseRemovesTheOlderEntry() async throws {
        try await store(then: .redirect(to: "/there"))
        fixture.stub.register("/there", with: StubReply(headers: Self.fresh, body: [.text("2")]))
        #expect(try await fixture.agent.send(reload).bytes.text == "2")
        #expect(try await !isUsed)
    }

    @Test(
        arguments: [
            (["Range": "bytes=9-"], 416), (["Range": "bytes=0-0"], 206), (["If-None-Match": "\"b\""], 304),
            (["If-Match": "\"b\""], 412), (["Cache-Control": "no-store"], 404),
        ] as [(Headers, Int)])
    func responseToADifferentRequestKeepsTheOlderEntry(asking: Headers, status: Int) async throws {
        try await store(then: .status(status))
        var other = Request<Bytes>("/", headers: asking)
        other.headers.append(name: "Pragma", value: "no-cache")
        if asking["Cache-Control"] == nil {
            other.headers["Cache-Control"] = "no-cache"
        }
        #expect(try await fixture.agent.send(other).status == status)
        #expect(try await isUsed)
    }

    @Test func failedHeadKeepsTheOlderEntry() async throws {
        try await store()
        fixture.stub.register("/", method: .head, with: .status(404))
        let head = Request<Bytes>("/", method: .head, headers: ["Cache-Control": "no-cache"])
        #expect(try await fixture.agent.send(head).status == 404)
        #expect(try await isUsed)
    }

    @Test func responseWithAnUnacceptedStatusRemovesTheOlderEntry() async throws {
        try await store(then: StubReply(status: 404, headers: Self.fresh))
        var strict = reload
        strict.acceptedStatuses = 200..<300
        #expect(await ending(of: strict, from: fixture.agent) == .failed(.status))
        #expect(try await !isUsed)
    }

    @Test func unstorableStreamRemovesTheOlderEntry() async throws {
        try await store(then: StubReply(headers: ["Cache-Control": "no-store"], body: [.text("2")]))
        #expect(try await fixture.agent.stream(reload).collect(upTo: 10).text == "2")
        #expect(try await !isUsed)
    }

    @Test func responseExcludedByAHookRemovesTheOlderEntry() async throws {
        try await store(then: StubReply(headers: Self.fresh, body: [.text("2")]))
        var other = reload
        other.interceptors.append(TransferHooks(willStore: { _ in nil }))
        #expect(try await fixture.agent.send(other).bytes.text == "2")
        #expect(try await !isUsed)
    }

    @Test func backgroundRefreshRemovesAnEntryThatNoLongerExists() async throws {
        try await store(["Cache-Control": "max-age=60, stale-while-revalidate=60"], then: .status(404))
        fixture.pass(61)
        #expect(try await fixture.agent.send(request).cache?.outcome == .staleHit)
        await fixture.caching.finish()
        #expect(try await !isUsed)
    }

    @Test(arguments: [CacheRules.server(), .app(60)])
    func earlierRequestDoesNotReplaceALaterResponse(rules: CacheRules) async throws {
        let fixture = CacheFixture(rules)
        let gate = StubGate()
        let (early, late) = (
            StubReply(headers: Self.fresh, body: [.text("1")]), StubReply(headers: Self.fresh, body: [.text("2")])
        )
        fixture.stub.register("/", with: early.held(by: gate), late, .text("3"))
        async let slow = fixture.agent.send(request)
        try await gate.waitForArrivals(1)
        #expect(try await fixture.agent.send(request).bytes.text == "2")
        gate.open()
        #expect(try await slow.bytes.text == "1")
        let stored = try await fixture.agent.send(request)
        #expect(stored.cache?.outcome == .hit && stored.bytes.text == "2")
    }

    @Test func responseOfAnotherVariantIsNotALaterResponse() async throws {
        let gate = StubGate()
        let replies = ["1", "2"].map {
            StubReply(headers: ["Cache-Control": "max-age=60", "Vary": "A"], body: [.text($0)])
        }
        let asking = ["1", "2"].map { Request<Bytes>("/", headers: ["A": $0]) }
        fixture.stub.register("/", with: replies[0].held(by: gate), replies[1])
        async let slow = fixture.agent.send(asking[0])
        try await gate.waitForArrivals(1)
        _ = try await fixture.agent.send(asking[1])
        gate.open()
        _ = try await slow
        for (laterRequest, text) in zip(asking, ["1", "2"]) {
            let stored = try await fixture.agent.send(laterRequest)
            #expect(stored.cache?.outcome == .hit && stored.bytes.text == text)
        }
    }

    @Test func requestThatIgnoresTheCacheStillRemovesTheEntry() async throws {
        try await store(then: .status(404))
        _ = try await fixture.agent.send(request.cached(.reload))
        #expect(try await !isUsed)
    }

    @Test func readOnlyRequestRemovesNothing() async throws {
        try await store(then: .status(404))
        _ = try await fixture.agent.send(reload.cached(.server { $0.isReadOnly = true }))
        #expect(try await isUsed)
    }

    @Test func responseOfAnotherUserKeepsTheEntry() async throws {
        let mine = Request<Bytes>("/", headers: ["Cookie": "me=1"])
        let others = Request<Bytes>("/", headers: ["Cookie": "me=2", "Cache-Control": "no-cache"])
        fixture.stub.register("/", with: StubReply(headers: Self.fresh, body: [.text("1")]), .status(404))
        _ = try await fixture.agent.send(mine)
        #expect(try await fixture.agent.send(others).status == 404)
        #expect(try await fixture.agent.send(mine).cache?.outcome == .hit)
    }

    @Test func everyVariantThatMatchesTheRequestIsRemoved() async throws {
        let asking: [Headers] = [["A": "1", "B": "1"], ["A": "1", "B": "1"], ["A": "2", "B": "1"]]
        let chosen = ["A", "A, B", "A"].map { StubReply(headers: ["Cache-Control": "max-age=60", "Vary": $0]) }
        fixture.stub.register("/", with: chosen + [.status(404)])
        for headers in asking {
            var request = Request<Bytes>("/", headers: headers)
            request.headers["Cache-Control"] = "no-cache"
            _ = try await fixture.agent.send(request)
        }
        #expect(try await fixture.agent.cached(Request<Bytes>("/", headers: asking[0])).decision.isUse)
        var again = Request<Bytes>("/", headers: asking[0])
        again.headers["Cache-Control"] = "no-cache"
        #expect(try await fixture.agent.send(again).status == 404)
        #expect(try await fixture.agent.cached(Request<Bytes>("/", headers: asking[0])).decision == .fetch(.varies))
        #expect(try await fixture.agent.cached(Request<Bytes>("/", headers: asking[2])).decision.isUse)
    }
}

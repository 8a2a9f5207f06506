import NetKit
import NetKitTesting
import Testing

/// Updates of a stored response by later responses of its server (RFC 9111, 4.3.4 and 4.3.5).
@Suite(.timeLimit(.minutes(5)))
struct CacheFresheningTests {
    private static let whole: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
    private let scene = CacheScene(.server())
    private let request = Request<Bytes>("/")
    private let head = Request<Bytes>("/", method: .head)

    /// Stores a response and lets its lifetime pass.
    private func store(_ fields: Headers = whole, status: Int = 200, then more: StubReply...) async throws {
        let reply = StubReply(status: status, headers: fields, body: [.text("1")])
        scene.stub.answer("/", method: .get, with: [reply] + more)
        _ = try await scene.agent.send(request)
        scene.pass(60)
    }

    private var decision: CacheDecision {
        get async throws { try await scene.agent.cached(request).decision }
    }

    @Test(
        arguments: [
            ["Cache-Control": "no-store, max-age=60"], ["Cache-Control": "max-age=60", "Vary": "*"],
            ["Vary": "Foo, *"], ["Cache-Control": "no-store"],
        ] as [Headers])
    func whatANotModifiedForbidsToStoreIsGivenOnceMoreAndGoes(news: Headers) async throws {
        try await store(then: StubReply(status: 304, headers: news), .text("2"))
        let held = try await scene.agent.send(request)
        #expect(held.cache?.outcome == .revalidated && held.status == 200 && held.bytes.text == "1")
        #expect(try await decision == .fetch(.absent))
        #expect(try await scene.agent.send(request).bytes.text == "2")
    }

    /// Otherwise the old body would be stored under the new version's tag, and the server would confirm it on every
    /// validation.
    @Test(
        arguments: [
            (["ETag": "W/\"a\""], ["ETag": "W/\"b\""]), (["ETag": "\"a\""], ["ETag": "W/\"b\""]),
            (
                ["Last-Modified": "Sun, 06 Nov 1994 08:00:00 GMT"], ["Last-Modified": "Sun, 06 Nov 1994 08:00:01 GMT"]
            ),
        ] as [(Headers, Headers)])
    func aNotModifiedOfAnotherVersionIsNotBelieved(old: Headers, new: Headers) async throws {
        func fresh(_ validator: Headers) -> Headers {
            Headers([.init(name: "Cache-Control", value: "max-age=60")] + validator)
        }
        try await store(
            fresh(old), then: StubReply(status: 304, headers: fresh(new)),
            StubReply(headers: fresh(new), body: [.text("2")]))
        #expect(try await scene.agent.send(request).bytes.text == "2")
        #expect(scene.stub.requests.last?.headers["If-None-Match"] == nil)
        #expect(try await scene.agent.send(request).bytes.text == "2")
        #expect(scene.stub.requests.count == 3)
    }

    @Test(arguments: ["no-store, must-understand, max-age=60", "private, max-age=60"])
    func whatANotModifiedAllowsToStoreStays(control: String) async throws {
        try await store(then: StubReply(status: 304, headers: ["Cache-Control": control]))
        #expect(try await scene.agent.send(request).cache?.outcome == .revalidated)
        #expect(try await decision == .use(.fresh))
    }

    @Test func aConditionOfTheCallersMayBringTheWordThatForbidsToStore() async throws {
        try await store(then: StubReply(status: 304, headers: ["Cache-Control": "no-store"]))
        let asking = Request<Bytes>("/", headers: ["If-None-Match": "\"a\""])
        #expect(try await scene.agent.send(asking).status == 304)
        #expect(try await decision == .fetch(.absent))
    }

    @Test func aHeadMayBringTheWordThatForbidsToStore() async throws {
        try await store()
        scene.stub.answer(
            "/", method: .head, with: StubReply(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60, no-store"]))
        #expect(try await scene.agent.send(head).status == 200)
        #expect(try await decision == .fetch(.absent))
    }

    /// A HEAD with a success cannot refresh the stored response of a resource that did not exist then.
    @Test(arguments: [404, 410, 301, 203])
    func aHeadThatSucceedsMakesAnotherStatusNotFreshAgain(status: Int) async throws {
        try await store(status: status, then: .text("2"))
        scene.stub.answer("/", method: .head, with: StubReply(headers: ["Cache-Control": "max-age=600"]))
        #expect(try await scene.agent.send(head).status == 200)
        #expect(try await decision == .fetch(.absent))
        #expect(try await scene.agent.send(request).bytes.text == "2")
    }

    @Test func oneOfSeveralChosenResponsesGoesAlone() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "Foo"]
        let asking = ["1", "2"].map { Request<Bytes>("/", headers: ["Foo": $0]) }
        scene.stub.answer(
            "/", with: StubReply(headers: fields, body: [.text("1")]), StubReply(headers: fields, body: [.text("2")]),
            StubReply(status: 304, headers: ["Cache-Control": "no-store", "Vary": "Foo"]))
        _ = try await scene.agent.send(asking[0])
        scene.pass(30)
        _ = try await scene.agent.send(asking[1])
        scene.pass(30)
        #expect(try await scene.agent.send(asking[0]).cache?.outcome == .revalidated)
        #expect(try await scene.agent.cached(asking[0]).decision == .fetch(.varies))
        #expect(try await scene.agent.cached(asking[1]).decision == .use(.fresh))
    }

    /// If a response has no Date, the time of its receipt counts (RFC 9110, 6.6.1).
    @Test(arguments: [Method.get, .head])
    func whatSpeaksOfAResponseWithoutADateMakesItFreshFromNowOn(method: Method) async throws {
        let news: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        try await store(
            ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            then: StubReply(status: 304, headers: news))
        scene.stub.answer("/", method: .head, with: StubReply(headers: news))
        _ = try await scene.agent.send(method == .get ? request : head)
        scene.pass(59)
        let stored = try await scene.agent.send(request)
        #expect(stored.cache?.outcome == .hit && stored.headers["Date"] == "Sun, 06 Nov 1994 08:50:37 GMT")
        #expect(stored.headers.values(named: "Age") == ["59"])
    }

    /// Some servers send another Content-Type in each 304 (RFC 9111, 3.2).
    @Test(
        arguments: [CacheRules.server(), .app(60)],
        [
            "text/plain", "application/json; charset=iso-8859-1", "text/html", "",
        ])
    func aNotModifiedLeavesWhatDescribesTheStoredBody(rules: CacheRules, type: String) async throws {
        let scene = CacheScene(rules)
        let fields: Headers = ["Content-Type": "application/json", "ETag": "\"a\"", "Cache-Control": "max-age=60"]
        let news: Headers = [
            "Content-Type": type, "Content-Length": "0", "Content-Encoding": "gzip", "Content-Range": "bytes 0-0/1",
            "ETag": "\"a\"", "Cache-Control": "max-age=60", "X-News": "1",
        ]
        scene.stub.answer(
            "/", with: StubReply(headers: fields, body: [.text("[1]")]), StubReply(status: 304, headers: news))
        for _ in 1...3 {
            let response = try await scene.agent.send(Request<[Int]>("/"))
            #expect(response.value == [1] && response.headers["Content-Type"] == "application/json")
            #expect(response.headers["Content-Encoding"] == nil && response.headers["Content-Range"] == nil)
            scene.pass(61)
        }
        #expect(scene.stub.requests.count == 3)
        let last = try await scene.agent.send(Request<[Int]>("/"))
        #expect(last.headers["X-News"] == "1")
    }
}

import NetKit
import NetKitTesting
import Testing

/// Updates of a stored response by later responses of its server (RFC 9111, 4.3.4 and 4.3.5).
@Suite(.timeLimit(.minutes(5)))
struct CacheFresheningTests {
    private static let whole: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
    private let fixture = CacheFixture(.server())
    private let request = Request<Bytes>("/")
    private let head = Request<Bytes>("/", method: .head)

    /// Stores a response and lets its lifetime pass.
    private func store(_ fields: Headers = whole, status: Int = 200, then more: StubReply...) async throws {
        let reply = StubReply(status: status, headers: fields, body: [.text("1")])
        fixture.stub.register("/", method: .get, with: [reply] + more)
        _ = try await fixture.agent.send(request)
        fixture.pass(60)
    }

    private var decision: CacheDecision {
        get async throws { try await fixture.agent.cached(request).decision }
    }

    @Test(
        arguments: [
            ["Cache-Control": "no-store, max-age=60"], ["Cache-Control": "max-age=60", "Vary": "*"],
            ["Vary": "Foo, *"], ["Cache-Control": "no-store"],
        ] as [Headers])
    func notModifiedWithNoStoreReturnsTheEntryAndRemovesIt(news: Headers) async throws {
        try await store(then: StubReply(status: 304, headers: news), .text("2"))
        let held = try await fixture.agent.send(request)
        #expect(held.cache?.outcome == .revalidated && held.status == 200 && held.bytes.text == "1")
        #expect(try await decision == .fetch(.absent))
        #expect(try await fixture.agent.send(request).bytes.text == "2")
    }

    /// If such a 304 were used, the old body would get the new version's tag. The server would then confirm the old body
    /// on every validation.
    @Test(
        arguments: [
            (["ETag": "W/\"a\""], ["ETag": "W/\"b\""]), (["ETag": "\"a\""], ["ETag": "W/\"b\""]),
            (
                ["Last-Modified": "Sun, 06 Nov 1994 08:00:00 GMT"], ["Last-Modified": "Sun, 06 Nov 1994 08:00:01 GMT"]
            ),
        ] as [(Headers, Headers)])
    func notModifiedForAnotherVersionIsIgnored(old: Headers, new: Headers) async throws {
        func fresh(_ validator: Headers) -> Headers {
            Headers([.init(name: "Cache-Control", value: "max-age=60")] + validator)
        }
        try await store(
            fresh(old), then: StubReply(status: 304, headers: fresh(new)),
            StubReply(headers: fresh(new), body: [.text("2")]))
        #expect(try await fixture.agent.send(request).bytes.text == "2")
        #expect(fixture.stub.requests.last?.headers["If-None-Match"] == nil)
        #expect(try await fixture.agent.send(request).bytes.text == "2")
        #expect(fixture.stub.requests.count == 3)
    }

    @Test(arguments: ["no-store, must-understand, max-age=60", "private, max-age=60"])
    func notModifiedThatAllowsStoringKeepsTheEntry(control: String) async throws {
        try await store(then: StubReply(status: 304, headers: ["Cache-Control": control]))
        #expect(try await fixture.agent.send(request).cache?.outcome == .revalidated)
        #expect(try await decision == .use(.fresh))
    }

    @Test func callerConditionalRequestCanRemoveTheEntryByNoStore() async throws {
        try await store(then: StubReply(status: 304, headers: ["Cache-Control": "no-store"]))
        let asking = Request<Bytes>("/", headers: ["If-None-Match": "\"a\""])
        #expect(try await fixture.agent.send(asking).status == 304)
        #expect(try await decision == .fetch(.absent))
    }

    @Test func headResponseCanRemoveTheEntryByNoStore() async throws {
        try await store()
        fixture.stub.register(
            "/", method: .head, with: StubReply(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60, no-store"]))
        #expect(try await fixture.agent.send(head).status == 200)
        #expect(try await decision == .fetch(.absent))
    }

    /// A HEAD with a success cannot refresh the stored response of a resource that did not exist then.
    @Test(arguments: [404, 410, 301, 203])
    func successfulHeadDoesNotFreshenAnEntryWithAnotherStatus(status: Int) async throws {
        try await store(status: status, then: .text("2"))
        fixture.stub.register("/", method: .head, with: StubReply(headers: ["Cache-Control": "max-age=600"]))
        #expect(try await fixture.agent.send(head).status == 200)
        #expect(try await decision == .fetch(.absent))
        #expect(try await fixture.agent.send(request).bytes.text == "2")
    }

    @Test func onlyTheSelectedVariantIsRemoved() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "Foo"]
        let asking = ["1", "2"].map { Request<Bytes>("/", headers: ["Foo": $0]) }
        fixture.stub.register(
            "/", with: StubReply(headers: fields, body: [.text("1")]), StubReply(headers: fields, body: [.text("2")]),
            StubReply(status: 304, headers: ["Cache-Control": "no-store", "Vary": "Foo"]))
        _ = try await fixture.agent.send(asking[0])
        fixture.pass(30)
        _ = try await fixture.agent.send(asking[1])
        fixture.pass(30)
        #expect(try await fixture.agent.send(asking[0]).cache?.outcome == .revalidated)
        #expect(try await fixture.agent.cached(asking[0]).decision == .fetch(.varies))
        #expect(try await fixture.agent.cached(asking[1]).decision == .use(.fresh))
    }

    /// If a response has no Date, the time of its receipt counts (RFC 9110, 6.6.1).
    @Test(arguments: [Method.get, .head])
    func revalidationOfAnUndatedResponseFreshensItFromNow(method: Method) async throws {
        let news: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        try await store(
            ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            then: StubReply(status: 304, headers: news))
        fixture.stub.register("/", method: .head, with: StubReply(headers: news))
        _ = try await fixture.agent.send(method == .get ? request : head)
        fixture.pass(59)
        let stored = try await fixture.agent.send(request)
        #expect(stored.cache?.outcome == .hit && stored.headers["Date"] == "Sun, 06 Nov 1994 08:50:37 GMT")
        #expect(stored.headers.values(named: "Age") == ["59"])
    }

    /// Some servers send another Content-Type in each 304 (RFC 9111, 3.2).
    @Test(
        arguments: [CacheRules.server(), .app(60)],
        [
            "text/plain", "application/json; charset=iso-8859-1", "text/html", "",
        ])
    func notModifiedKeepsFieldsThatDescribeTheStoredBody(rules: CacheRules, type: String) async throws {
        let fixture = CacheFixture(rules)
        let fields: Headers = ["Content-Type": "application/json", "ETag": "\"a\"", "Cache-Control": "max-age=60"]
        let news: Headers = [
            "Content-Type": type, "Content-Length": "0", "Content-Encoding": "gzip", "Content-Range": "bytes 0-0/1",
            "ETag": "\"a\"", "Cache-Control": "max-age=60", "X-News": "1",
        ]
        fixture.stub.register(
            "/", with: StubReply(headers: fields, body: [.text("[1]")]), StubReply(status: 304, headers: news))
        for _ in 1...3 {
            let response = try await fixture.agent.send(Request<[Int]>("/"))
            #expect(response.value == [1] && response.headers["Content-Type"] == "application/json")
            #expect(response.headers["Content-Encoding"] == nil && response.headers["Content-Range"] == nil)
            fixture.pass(61)
        }
        #expect(fixture.stub.requests.count == 3)
        let last = try await fixture.agent.send(Request<[Int]>("/"))
        #expect(last.headers["X-News"] == "1")
    }
}

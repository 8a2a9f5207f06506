import NetKit
import NetKitTesting
import Testing

/// A private cache by RFC 9111. Each test has a stored response, a second request, and the time between them.
@Suite(.timeLimit(.minutes(5)))
struct HTTPCachingTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 09:49:37 GMT"
    private let fixture = CacheFixture(.server())

    /// Returns the outcome of a second request: from the cache, validated, or from the network.
    private func outcome(
        _ fields: Headers, after seconds: Int = 0, _ asking: Headers = [:], first: Headers = [:], status: Int = 200,
        second: StubReply = .text("2")
    ) async throws -> CacheReport.Outcome? {
        fixture.stub.register("/", with: StubReply(status: status, headers: fields, body: [.text("1")]), second)
        _ = try await fixture.agent.send(Request<Bytes>("/", headers: first))
        fixture.pass(seconds)
        return try await fixture.agent.send(Request<Bytes>("/", headers: asking)).cache?.outcome
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 59, true), (["Cache-Control": "max-age=60"], 60, false),
            (["Cache-Control": "max-age=60", "Age": "30"], 29, true),
            (["Cache-Control": "max-age=60", "Age": "30"], 30, false),
            (["Cache-Control": "max-age=0", "Expires": "Sun, 06 Nov 2094 08:49:37 GMT"], 0, false),
            (["Cache-Control": "s-maxage=60"], 0, false), (["Cache-Control": "private, max-age=60"], 0, true),
            (["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": date], 59, true),
            (["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": date], 60, false), (["Expires": "0"], 0, false),
            (["Date": date, "Last-Modified": "Sun, 06 Nov 1994 08:32:57 GMT"], 99, true), ([:], 0, false),
            (["Cache-Control": "no-store, max-age=60"], 0, false),
            (["Cache-Control": "no-cache, max-age=60"], 0, false),
            (["Cache-Control": "no-cache=\"a\", max-age=60"], 0, true),
            (["Vary": "*", "Cache-Control": "max-age=60"], 0, false),
            (["Pragma": "no-cache", "Cache-Control": "max-age=60"], 0, true),
            (["Cache-Control": "max-age=60"], -1, false),
        ] as [(Headers, Int, Bool)])
    func aResponseIsUsedWhileItIsFresh(fields: Headers, seconds: Int, isHit: Bool) async throws {
        #expect(try await outcome(fields, after: seconds) == (isHit ? .hit : .network))
    }

    @Test(
        arguments: [
            ("max-age=10", 10, true), ("max-age=10", 11, false), ("max-age=0", 0, false), ("no-cache", 0, false),
            ("no-store", 0, false), ("min-fresh=50", 10, true), ("min-fresh=51", 10, false), ("nothing-known", 0, true),
            ("max-stale", 1_000_000, true), ("max-stale=5", 65, true), ("max-stale=5", 66, false),
            ("only-if-cached", 59, true),
        ] as [(String, Int, Bool)])
    func requestCacheControlIsRespected(control: String, seconds: Int, isHit: Bool) async throws {
        let result = try await outcome(["Cache-Control": "max-age=60"], after: seconds, ["Cache-Control": control])
        #expect(result == (isHit ? (seconds >= 60 ? .staleHit : .hit) : .network))
    }

    @Test func pragmaNoCacheAppliesWithoutCacheControl() async throws {
        for pragma in ["no-cache", "x, No-Cache"] {
            #expect(try await outcome(["Cache-Control": "max-age=60"], ["Pragma": "\(pragma)"]) == .network)
        }
        #expect(
            try await outcome(["Cache-Control": "max-age=60"], ["Pragma": "no-cache", "Cache-Control": "x"]) == .hit)
    }

    @Test func immutableResponseIsNotRevalidatedByAReload() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60, immutable", "ETag": "\"a\""]
        #expect(try await outcome(fields, ["Cache-Control": "max-age=0"]) == .hit)
        _ = try await fixture.agent.removeCached(Request<Bytes>("/"))
        #expect(try await outcome(fields, ["Cache-Control": "no-cache"], second: .status(304)) == .revalidated)
    }

    @Test func onlyIfCachedMissReturns504() async throws {
        let request = Request<Bytes>("/", headers: ["Cache-Control": "only-if-cached"])
        let answer = try await fixture.agent.send(request)
        #expect(answer.status == 504 && answer.source == .cache && answer.cache?.outcome == CacheReport.Outcome.none)
        #expect(fixture.stub.requests.isEmpty)
    }

    @Test func ageFieldIsAddedAndTheDateIsPreserved() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "Age": "5", "Date": Self.date]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("1")]))
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        fixture.time.advance(by: .milliseconds(3900))
        let stored = try await fixture.agent.send(Request<Bytes>("/"))
        #expect(stored.headers.values(named: "Age") == ["8"])
        #expect(stored.headers["Date"] == Self.date)
    }

    @Test(arguments: [200, 203, 204, 300, 301, 302, 308, 400, 404, 410, 499, 500, 503, 599])
    func anyStatusWithExplicitFreshnessIsReused(status: Int) async throws {
        #expect(try await outcome(["Cache-Control": "max-age=60"], status: status) == .hit)
        let modified: Headers = ["Last-Modified": "Sun, 06 Nov 1993 08:49:37 GMT", "Date": Self.date]
        _ = try await fixture.agent.removeCached(Request<Bytes>("/"))
        let isGuessed = [200, 203, 204, 300, 301, 308, 404, 410].contains(status)
        #expect(try await outcome(modified, status: status) == (isGuessed ? .hit : .network))
    }

    @Test func partialAndNotModifiedResponsesAreNotStored() async throws {
        for (status, asking) in [
            (206, Headers(dictionaryLiteral: ("Range", "bytes=0-1"))), (304, ["If-None-Match": "\"x\""]),
        ] {
            let fields: Headers = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-1/2"]
            #expect(try await outcome(fields, first: asking, status: status) == .network)
            _ = try await fixture.agent.removeCached(Request<Bytes>("/"))
        }
    }

    // MARK: Validation

    @Test func staleResponseIsRevalidatedWithBothValidators() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "W/\"a\"", "Last-Modified": Self.date, "A": "1"]
        let notModified = StubReply(
            status: 304, headers: ["Cache-Control": "max-age=100", "A": "2", "Content-Length": "99"])
        #expect(try await outcome(fields, after: 60, second: notModified) == .revalidated)
        #expect(fixture.stub.requests[1].headers["If-None-Match"] == "W/\"a\"")
        #expect(fixture.stub.requests[1].headers["If-Modified-Since"] == Self.date)
        fixture.pass(99)
        let stored = try await fixture.agent.send(Request<Bytes>("/"))
        #expect(stored.cache?.outcome == .hit && stored.bytes.text == "1")
        #expect(stored.headers["A"] == "2" && stored.headers["Content-Length"] == nil && stored.status == 200)
    }

    @Test func newResponseReplacesTheOldOne() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        #expect(
            try await outcome(fields, after: 60, second: StubReply(headers: fields, body: [.text("2")])) == .network)
        #expect(try await fixture.agent.send(Request<Bytes>("/")).bytes.text == "2")
    }

    @Test(
        arguments: [
            (["If-None-Match": "\"a\""], 304), (["If-None-Match": "\"x\", W/\"a\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"b\""], 200), (["If-Modified-Since": date], 304),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-None-Match": "\"b\"", "If-Modified-Since": date], 200), (["If-Modified-Since": "soon"], 200),
        ] as [(Headers, Int)])
    func callerConditionIsEvaluatedAgainstAFreshResponse(asking: Headers, status: Int) async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Last-Modified": Self.date, "A": "1"]
        _ = try await outcome(fields)
        let answer = try await fixture.agent.send(Request<Bytes>("/", headers: asking))
        #expect(answer.status == status && answer.source == .cache && answer.headers["ETag"] == "\"a\"")
        #expect(answer.bytes.isEmpty == (status == 304) && (answer.headers["A"] == nil) == (status == 304))
        #expect(fixture.stub.requests.count == 1)
    }

    /// Conditions apply only if the response would be a success (RFC 9110, 13.2.1).
    @Test(
        arguments: [["If-None-Match": "\"a\""], ["If-None-Match": "*"], ["If-Modified-Since": date]] as [Headers],
        [(203, 304), (404, 404), (410, 410), (301, 301), (500, 500)])
    func callerConditionIsIgnoredForAFreshErrorResponse(asking: Headers, status: (stored: Int, told: Int))
        async throws
    {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Last-Modified": Self.date]
        _ = try await outcome(fields, status: status.stored)
        let answer = try await fixture.agent.send(Request<Bytes>("/", headers: asking))
        #expect(answer.status == status.told && answer.source == .cache && fixture.stub.requests.count == 1)
        #expect(answer.bytes.text == (status.told == 304 ? "" : "1"))
    }

    @Test func callerConditionIsSentIfNothingFreshIsStored() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        let asking: Headers = ["If-None-Match": "\"mine\""]
        #expect(try await outcome(fields, after: 60, asking, second: .status(304)) == .network)
        #expect(fixture.stub.requests[1].headers.values(named: "If-None-Match") == ["\"mine\""])
    }

    /// The stored version differs from the caller's, and the 304 confirms the caller's.
    @Test(
        arguments: [
            (["If-None-Match": "W/\"b\""], ["ETag": "W/\"b\""]), (["If-None-Match": "\"b\""], [:]),
            (["If-Modified-Since": later], ["Last-Modified": later]), (["If-Modified-Since": later], [:]),
        ] as [(Headers, Headers)])
    func callerConditionForAnotherVersionDoesNotFreshenTheEntry(asking: Headers, told: Headers) async throws {
        let validator: Headers =
            asking["If-None-Match"] == nil ? ["Last-Modified": Self.date] : ["ETag": "W/\"a\""]
        let fields = Headers([.init(name: "Cache-Control", value: "max-age=60")] + validator)
        let notModified = StubReply(
            status: 304, headers: Headers([.init(name: "Cache-Control", value: "max-age=60")] + told))
        #expect(try await outcome(fields, after: 60, asking, second: notModified) == .network)
        #expect(try await !fixture.agent.cached(Request<Bytes>("/")).decision.isUse)
    }

    @Test(
        arguments: [
            ("bytes=1-2", "12", "bytes 1-2/5"), ("bytes=-1", "4", "bytes 4-4/5"), ("bytes=3-", "34", "bytes 3-4/5"),
        ])
    func rangeIsServedFromACompleteResponse(range: String, text: String, place: String) async throws {
        fixture.stub.register("/", with: StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("01234")]))
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        let part = try await fixture.agent.send(Request<Bytes>("/", headers: ["Range": range]))
        #expect(part.status == 206 && part.bytes.text == text && part.headers["Content-Range"] == place)
        // If the entry cannot serve a range, the request is sent to the server.
        _ = try await fixture.agent.send(Request<Bytes>("/", headers: ["Range": "bytes=0-0,2-2"]))
        _ = try await fixture.agent.send(Request<Bytes>("/", headers: ["Range": "bytes=0-0", "If-Range": "\"x\""]))
        #expect(fixture.stub.requests.count == 3)
    }

    // MARK: Vary

    @Test func responseIsReusedOnlyForItsVaryFields() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "Vary": "Foo, Bar"]
        fixture.stub.register("/", with: (1...9).map { StubReply(headers: fields, body: [.text("\($0)")]) })
        let asked: [(Headers, String)] = [
            (["Foo": "1"], "1"), (["Foo": "2"], "2"), (["Foo": "1"], "1"), ([:], "3"),
            (["Foo": "2", "Other": "x"], "2"),
            (["Foo": "1", "Bar": ""], "4"), (["foo": " 1 "], "1"), (["Foo": "1", "Foo": "2"], "5"),
            (["Foo": "1,2"], "5"),
        ]
        for (headers, text) in asked {
            #expect(try await fixture.agent.send(Request<Bytes>("/", headers: headers)).bytes.text == text)
        }
        // An unsafe request invalidates all variants.
        fixture.stub.register("/", method: .put, with: .status(204))
        _ = try await fixture.agent.send(Request<Bytes>("/", method: .put))
        let answer = try await fixture.agent.send(Request<Bytes>("/", headers: ["Foo": "1"]))
        #expect(answer.cache?.reason == .absent)
    }

    @Test func responseCanStartToVary() async throws {
        let varying: Headers = ["Cache-Control": "max-age=60", "Vary": "A"]
        let other: Headers = ["Cache-Control": "max-age=60", "Vary": "B"]
        fixture.stub.register(
            "/", with: StubReply(headers: ["Cache-Control": "max-age=1"], body: [.text("1")]),
            StubReply(headers: varying, body: [.text("2")]), StubReply(headers: other, body: [.text("3")]),
            StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("4")]))
        for (headers, text) in [
            ([:], "1"), (["A": "1"], "2"), (["A": "2", "B": "1"], "3"), (["A": "1", "B": "1"], "3"),
        ]
            as [(Headers, String)]
        {
            fixture.pass(1)
            #expect(try await fixture.agent.send(Request<Bytes>("/", headers: headers)).bytes.text == text)
        }
        #expect(try await fixture.agent.send(Request<Bytes>("/", headers: ["A": "1"])).bytes.text == "2")
        #expect(try await fixture.agent.send(Request<Bytes>("/", headers: ["A": "9", "B": "9"])).bytes.text == "4")
        #expect(try await fixture.agent.send(Request<Bytes>("/", headers: ["A": "1"])).bytes.text == "4")
    }

    // MARK: Other methods

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])
    func unsafeMethodInvalidatesStoredResponses(method: String) async throws {
        fixture.stub.register("*", with: StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("x")]))
        func isStored(_ path: String) async throws -> Bool {
            try await fixture.agent.cached(Request<Bytes>(path)).decision.isUse
        }
        for path in ["/", "/l", "/c"] {
            _ = try await fixture.agent.send(Request<Bytes>(path))
        }
        let change = Request<Bytes>("/", method: Method(rawValue: method))
        fixture.stub.register("/", method: change.method, with: .status(500))
        _ = try await fixture.agent.send(change)
        #expect(try await isStored("/"))
        let fields: Headers = ["Location": "l", "Content-Location": "http://stub:80/c"]
        fixture.stub.register("/", method: change.method, with: StubReply(status: 303, headers: fields))
        var returning = change
        returning.redirects = .return
        _ = try await fixture.agent.send(returning)
        for path in ["/", "/l", "/c"] {
            #expect(try await !isStored(path))
        }
        // A response cannot invalidate another origin's entries.
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        fixture.stub.register("/", method: change.method, with: StubReply(headers: ["Location": "http://stub/"]))
        _ = try await fixture.agent.send(Request<Bytes>("http://evil/", method: change.method))
        #expect(try await isStored("/"))
    }

    @Test func unsafeRequestCanHaveAOneShotBodyAndBeSaved() async throws {
        let folder = try TemporaryFolder()
        fixture.stub.register("/", with: StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("x")]))
        fixture.stub.register("/", method: .put, with: .status(204))
        fixture.stub.register("/", method: .post, with: .text("y"))
        let read = Request<Bytes>("/")
        func isStored() async throws -> Bool { try await fixture.agent.cached(read).decision.isUse }
        _ = try await fixture.agent.send(read)
        #expect(try await isStored())
        _ = try await fixture.agent.send(
            Request<Bytes>("/", method: .put, body: .once(Pieces([Bytes([1])]))))
        #expect(try await !isStored())
        _ = try await fixture.agent.send(read)
        _ = try await fixture.agent.download(
            Request<Bytes>("/", method: .post), to: folder.file("f"), options: .init(isResumable: false))
        #expect(try await !isStored())
    }

    @Test func queryBodiesHaveSeparateEntries() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60"]
        fixture.stub.register("/", with: ["1", "2"].map { StubReply(headers: fields, body: [.text($0)]) })
        for text in ["1", "2"] {
            let query = Request<Bytes>("/", body: Body(Bytes(Array(text.utf8))))
            #expect(try await fixture.agent.send(query).bytes.text == text)
        }
    }

    @Test func headIsServedFromAFreshResponseAndFreshensAStaleOne() async throws {
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        _ = try await outcome(fields)
        let head = try await fixture.agent.send(Request<Bytes>("/", method: .head))
        #expect(head.source == .cache && head.bytes.isEmpty && head.headers["ETag"] == "\"a\"")
        fixture.pass(60)
        fixture.stub.register("/", method: .head, with: StubReply(headers: fields))
        #expect(try await fixture.agent.send(Request<Bytes>("/", method: .head)).cache?.outcome == .network)
        #expect(try await fixture.agent.send(Request<Bytes>("/")).bytes.text == "1")
        fixture.pass(60)
        fixture.stub.register("/", method: .head, with: StubReply(headers: ["ETag": "\"b\""]))
        _ = try await fixture.agent.send(Request<Bytes>("/", method: .head))
        #expect(try await fixture.agent.cached(Request<Bytes>("/")).decision == .fetch(.absent))
    }

    @Test func redirectedResponseIsNotStoredUnderTheFirstURL() async throws {
        fixture.stub.register("/", with: .redirect(to: "/there"))
        fixture.stub.register("/there", with: StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("x")]))
        let answer = try await fixture.agent.send(Request<Bytes>("/"))
        #expect(answer.cache?.isStorable == false)
        #expect(try await fixture.agent.send(Request<Bytes>("/")).cache?.outcome == .network)
    }

    // MARK: Stale responses

    @Test func staleResponseIsUsedIfTheServerAllowsIt() async throws {
        let revalidating: Headers = ["Cache-Control": "max-age=1, stale-while-revalidate=10", "ETag": "\"a\""]
        #expect(try await outcome(revalidating, after: 10) == .staleHit)
        await fixture.caching.finish()
        #expect(fixture.stub.requests.count == 2)
        for (fields, reply, isUsed) in [
            ("max-age=1, stale-if-error=10", StubReply.failure(.reset), true),
            ("max-age=1, stale-if-error=10", .status(503), true), ("max-age=1, stale-if-error=9", .status(503), false),
            ("max-age=1, stale-if-error=10, must-revalidate", .status(503), false), ("max-age=1", .status(503), false),
        ] {
            _ = try await fixture.agent.removeCached(Request<Bytes>("/"))
            let result = try await outcome(["Cache-Control": fields], after: 10, second: reply)
            #expect(result == (isUsed ? .staleHit : .network), "\(fields)")
        }
    }

    @Test(
        arguments: [(.get, ["Range": "bytes=0-0"], 206), (.get, ["If-None-Match": "\"a\""], 304), (.head, [:], 200)]
            as [(Method, Headers, Int)])
    func derivedStaleResponseIsUsedOnAServerError(method: Method, asking: Headers, status: Int)
        async throws
    {
        let fields: Headers = ["Cache-Control": "max-age=1, stale-if-error=100", "ETag": "\"a\""]
        let request = Request<Bytes>("/", method: method, headers: asking)
        for failure in [500, 502, 503, 504] {
            fixture.stub.register(
                "/", method: .get, with: StubReply(headers: fields, body: [.text("1")]), .status(failure))
            fixture.stub.register("/", method: .head, with: .status(failure))
            _ = try await fixture.agent.send(Request<Bytes>("/"))
            fixture.pass(10)
            let answer = try await fixture.agent.send(request)
            #expect(answer.status == status && answer.cache?.reason == .staleIfError)
            fixture.pass(100)
            #expect(try await fixture.agent.send(request).status == failure)
        }
    }

    @Test(
        arguments: [(.get, ["Range": "bytes=0-0"]), (.get, ["If-None-Match": "\"a\""]), (.head, [:])]
            as [(Method, Headers)])
    func derivedStaleResponseTriggersRevalidation(method: Method, asking: Headers) async throws {
        let fields: Headers = ["Cache-Control": "max-age=1, stale-while-revalidate=100", "ETag": "\"a\""]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("1")]), .status(304))
        _ = try await fixture.agent.send(Request<Bytes>("/"))
        fixture.pass(10)
        let request = Request<Bytes>("/", method: method, headers: asking)
        #expect(try await fixture.agent.send(request).cache?.outcome == .staleHit)
        await fixture.caching.finish()
        let asked = try #require(fixture.stub.requests.dropFirst().first)
        #expect(asked.method == .get && asked.headers["Range"] == nil)
        #expect(asked.headers.values(named: "If-None-Match") == ["\"a\""])
        #expect(try await fixture.agent.send(Request<Bytes>("/")).cache?.outcome == .hit)
    }

    @Test func offlineRequestUsesAStaleResponseUnlessForbidden() async throws {
        for (control, isUsed) in [("max-age=1", true), ("max-age=1, must-revalidate", false), ("no-cache", false)] {
            _ = try await outcome(["Cache-Control": control, "ETag": "\"a\""])
            fixture.pass(100)
            let stored = Request<Bytes>("/").cached(.server(.cacheOnly))
            #expect(await ending(of: stored, from: fixture.agent) == (isUsed ? .answered : .failed(.notCached)))
            _ = try await fixture.agent.removeCached(Request<Bytes>("/"))
        }
    }
}

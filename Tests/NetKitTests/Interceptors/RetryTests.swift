import NetKit
import NetKitTesting
import Testing

struct RetryTests {
    private let stub = StubTransport()
    private let time = StubTime()

    private func agent(_ change: (inout Retry) -> Void = { _ in }) -> Agent {
        var retry = Retry(time: time.source)
        retry.random = { 1 }
        change(&retry)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [retry]
        return Agent(configuration, transport: stub)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func aPassingStatusIsTriedAgain(status: Int) async throws {
        stub.answer("/", with: .status(status), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(200)])
    }

    @Test(arguments: [200, 304, 400, 401, 404, 409, 501, 505])
    func anyOtherStatusIsTheReply(status: Int) async throws {
        stub.answer("/", with: .status(status), .text("x"))
        #expect(try await agent().send(Request<Bytes>("/")).status == status)
        #expect(stub.requests.count == 1)
    }

    @Test func theWaitsDoubleUpToTheirLimitAndTheLastReplyIsTheCalls() async throws {
        stub.answer("/", with: .status(503))
        let agent = agent { retry in
            retry.maxRetries = 6
            retry.baseDelay = .seconds(1)
            retry.maxDelay = .seconds(10)
        }
        #expect(try await agent.send(Request<Bytes>("/")).status == 503)
        #expect(time.waits == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
        #expect(stub.requests.count == 7)
    }

    @Test func onceItsTimeIsOverTheLastReplyIsTheCalls() async throws {
        stub.answer("/", with: .status(503))
        let agent = agent { retry in
            retry.maxRetries = 9
            retry.baseDelay = .seconds(1)
            retry.maxElapsed = .seconds(5)
        }
        // Retries start 1 s and 3 s after the first attempt. The third delay begins within the limit of 5 s and ends at
        // 7 s.
        #expect(try await agent.send(Request<Bytes>("/")).status == 503)
        #expect(time.waits == [1, 2, 4].map { .seconds($0) })
    }

    @Test(arguments: [("5", 1), ("6", 0)])
    func whatAServerAsksForIsWaitedForWithinItsTimeOnly(seconds: String, count: Int) async throws {
        stub.answer("/", with: StubReply(status: 503, headers: ["Retry-After": seconds]))
        _ = try await agent { $0.maxElapsed = .seconds(5) }.send(Request<Bytes>("/"))
        #expect(time.waits.count == count)
    }

    @Test func theWaitIsARandomPartOfItsTime() async throws {
        stub.answer("/", with: .status(503))
        let parts = Collected<Double>()
        _ = try await agent { retry in
            retry.baseDelay = .seconds(1)
            retry.random = {
                parts.append(0)
                return [0, 0.5, 0.25][parts.values.count - 1]
            }
        }.send(Request<Bytes>("/"))
        #expect(time.waits == [.zero, .seconds(1), .seconds(1)])
    }

    @Test func withoutJitterTheWaitIsTheWholeTime() async throws {
        stub.answer("/", with: .status(503))
        _ = try await agent { retry in
            retry.random = { 0 }
            retry.hasJitter = false
        }.send(Request<Bytes>("/"))
        #expect(time.waits == [200, 400, 800].map { .milliseconds($0) })
    }

    @Test(arguments: ["7", " 7 ", "Sun, 06 Nov 1994 08:49:44 GMT"])
    func theServerSaysHowLongToWait(field: String) async throws {
        stub.answer("/", with: StubReply(status: 429, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.seconds(7)])
    }

    @Test(arguments: [("08:49:37", 7000), ("08:49:44", 200), ("08:50:00", 200)])
    func aDateIsMeasuredByTheServersClockAndOneThatIsOverBacksOff(sent: String, milliseconds: Int) async throws {
        let fields: Headers = [
            "Date": "Mon, 07 Nov 1994 \(sent) GMT", "Retry-After": "Mon, 07 Nov 1994 08:49:44 GMT",
        ]
        stub.answer("/", with: StubReply(status: 503, headers: fields), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(milliseconds)])
    }

    @Test(arguments: ["-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:44"])
    func aRetryAfterThatSaysNothingIsIgnored(field: String) async throws {
        stub.answer("/", with: StubReply(status: 429, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(200)])
    }

    @Test(arguments: ["61", "99999999999999999999999999", "Mon, 07 Nov 1994 08:49:44 GMT"])
    func aRetryAfterTooFarAheadIsNotWaitedFor(field: String) async throws {
        stub.answer("/", with: StubReply(status: 503, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<Bytes>("/")).status == 503)
        #expect(time.waits == [])
    }

    @Test(arguments: ["POST", "PATCH", "get", "OTHER"])
    func aMethodThatMayNotBeRepeatedIsSentOnce(method: String) async throws {
        stub.answer("/", with: .status(503), .text("x"))
        let request = Request<Bytes>("/", method: Method(rawValue: method))
        #expect(try await agent().send(request).status == 503)
        stub.answer("/", with: .failure(.idleTimedOut), .text("x"))
        #expect(await ending(of: request, from: agent()) == .failed(.idleTimedOut))
        #expect(stub.requests.count == 2)
    }

    @Test func anIdempotencyKeyOrThePolicyLetsAnyMethodBeRepeated() async throws {
        stub.answer("/", with: .status(503), .text("x"), .status(503), .text("y"))
        var request = Request<String>("/", method: .post)
        #expect(try await agent { $0.retriesAnyMethod = true }.send(request).value == "x")
        request.headers["Idempotency-Key"] = "1"
        #expect(try await agent().send(request).value == "y")
    }

    @Test(arguments: [NetError.Code.refused, .resolve, .connect, .connectTimedOut, .slotTimedOut])
    func whatNeverReachedTheServerIsSentAgainWhateverItsMethod(code: NetError.Code) async throws {
        stub.answer("/", with: .failure(code), .text("x"))
        #expect(try await agent().send(Request<String>("/", method: .post)).value == "x")
    }

    @Test(arguments: [NetError.Code.emptyReply, .reset, .send, .receive])
    func onlyAnOldConnectionThatClosedLetsAPostBeSentAgain(code: NetError.Code) async throws {
        var hop = HopMetrics()
        let fresh = StubReply.failure(NetError(code, "closed", metrics: Metrics([hop])))
        hop.isReused = true
        let old = StubReply.failure(NetError(code, "closed", metrics: Metrics([hop])))
        stub.answer("/", with: old, fresh, .text("x"))
        #expect(await ending(of: Request<Bytes>("/", method: .post), from: agent()) == .failed(code))
        #expect(stub.requests.count == 2)
        stub.answer("/", with: fresh, .text("x"))
        #expect(try await agent().send(Request<String>("/", method: .put)).value == "x")
    }

    @Test func afterARedirectAnUnansweredPostIsNotSentAgain() async throws {
        stub.answer("/", with: .redirect(to: "/there", status: 307))
        stub.answer("/there", with: .failure(.emptyReply), .text("x"))
        let request = Request<Bytes>("/", method: .post)
        #expect(await ending(of: request, from: agent()) == .failed(.emptyReply))
        #expect(stub.requests.count == 2)
    }

    @Test func aBodyThatCanBeReadOnceIsNeverSentAgain() async throws {
        stub.answer("/", with: .failure(.emptyReply), .text("x"))
        let pieces = Pieces([Bytes([1])])
        let request = Request<Bytes>("/", method: .put, body: .once(pieces))
        let agent = agent { retry in
            retry.retriesAnyMethod = true
            retry.retriesAnyError = true
        }
        #expect(await ending(of: request, from: agent) == .failed(.emptyReply))
        #expect(stub.requests.count == 1)
        #expect(time.waits == [])
    }

    @Test func aBodyThatCanBeReadAgainIsSentWhole() async throws {
        stub.answer("/", with: .status(503), .text("x"))
        let request = Request<String>("/", method: .put, body: .stream { Pieces([Bytes([1]), Bytes([2])]) })
        #expect(try await agent().send(request).value == "x")
        #expect(stub.requests.map(\.body) == [[1, 2], [1, 2]])
    }

    @Test(arguments: [NetError.Code.badURL, .cancelled, .bodySource, .tooLarge, .badCoding, .tlsExpired])
    func whatTryingAgainWouldNotHelpIsNotTriedAgain(code: NetError.Code) async throws {
        stub.answer("/", with: .failure(code), .text("x"))
        #expect(await ending(of: Request<Bytes>("/"), from: agent()) == .failed(code))
        #expect(stub.requests.count == 1)
    }

    @Test func anyErrorIsTriedAgainIfAskedButForThoseOfOurOwn() async throws {
        let agent = agent { $0.retriesAnyError = true }
        stub.answer("/", with: .failure(.tlsExpired), .failure(.badCoding), .text("x"))
        #expect(try await agent.send(Request<String>("/")).value == "x")
        stub.answer("/", with: .failure(.usage), .text("x"))
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.usage))
    }

    @Test func anEmptyBudgetLetsFailuresThrough() async throws {
        stub.answer("/", with: .status(503))
        let budget = RetryBudget(perCall: 0.5, reserve: 4)
        let agent = agent { $0.budget = budget }
        for _ in 0..<10 {
            _ = try await agent.send(Request<Bytes>("/"))
        }
        // The budget starts full, with four retries, so the first call adds nothing. Each further call adds half a
        // retry.
        #expect(stub.requests.count == 10 + 4 + 4)
        #expect(budget.remaining == 0)
    }

    @Test func aStreamIsTriedAgainUntilItsHeadIsThere() async throws {
        stub.answer("/", with: .status(503), StubReply(body: [.text("a"), .fail(NetError(.reset, "gone"))]))
        var request = Request<Bytes>("/")
        let ends = Counter()
        request.progress = { progress in
            if progress.isOver {
                ends.increment()
            }
        }
        let stream = try await agent().stream(request)
        #expect(stream.status == 200)
        let code = await failureCode { () async throws(NetError) in _ = try await stream.collect(upTo: 10) }
        #expect(code == .reset)
        #expect(stub.requests.count == 2)
        #expect(ends.value == 1)
    }

    @Test func aSaveIsTriedAgain() async throws {
        let folder = try TemporaryFolder()
        stub.answer("/", with: .status(503), .text("x"))
        #expect(try await agent().save(Request<Bytes>("/"), to: folder.file("f")).value.byteCount == 1)
        #expect(folder.contents(of: "f") == Array("x".utf8))
    }

    @Test func cancellingEndsTheWait() async throws {
        stub.answer("/", with: .status(503), .text("x"))
        let gate = StubGate()
        time.hold(by: gate)
        let agent = agent()
        let task = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        #expect(stub.requests.count == 1)
    }

    @Test func aClosedConnectionIsReplacedOnTheWire() async throws {
        let server = try LoopbackServer()
        server.script("/", [.text("w"), Reply(cutAfter: 0, ending: .close), .text("x")])
        var configuration = Agent.Configuration()
        configuration.interceptors = [Retry(time: time.source)]
        let agent = Agent(configuration)
        let request = Request<String>(server.url("/"), method: .post, body: .text("body"))
        #expect(try await agent.send(request).value == "w")
        #expect(try await agent.send(request).value == "x")
        #expect(server.requestCount == 3)
    }

    @Test(arguments: [Reply.Ending.close, .reset])
    func aPostThatCameWholeOverAFreshConnectionIsSentOnce(ending how: Reply.Ending) async throws {
        let server = try LoopbackServer()
        server.script("/", [Reply(cutAfter: 0, ending: how), .text("x")])
        var configuration = Agent.Configuration()
        configuration.interceptors = [Retry(time: time.source)]
        let request = Request<String>(server.url("/"), method: .post, body: .text("body"))
        let end = await NetKitTests.ending(of: request, from: Agent(configuration))
        #expect(end == .failed(how == .close ? .emptyReply : .reset))
        #expect(server.requestCount == 1)
    }
}

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
    func transientStatusIsRetried(status: Int) async throws {
        stub.register("/", with: .status(status), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(200)])
    }

    @Test(arguments: [200, 304, 400, 401, 404, 409, 501, 505])
    func otherStatusIsReturned(status: Int) async throws {
        stub.register("/", with: .status(status), .text("x"))
        #expect(try await agent().send(Request<Bytes>("/")).status == status)
        #expect(stub.requests.count == 1)
    }

    @Test func backoffDoublesUpToItsLimitAndTheLastResponseIsReturned() async throws {
        stub.register("/", with: .status(503))
        let agent = agent { retry in
            retry.maxRetries = 6
            retry.baseDelay = .seconds(1)
            retry.maxDelay = .seconds(10)
        }
        #expect(try await agent.send(Request<Bytes>("/")).status == 503)
        #expect(time.waits == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
        #expect(stub.requests.count == 7)
    }

    @Test func closureCanWaitInPlaceOfTheDelayAfterAFailure() async throws {
        stub.register("/", with: .failure(.reset), .status(503), .failure(.refused), .text("x"))
        let asked = Collected<String>()
        let agent = agent { retry in
            retry.waitForConnectivity = { call throws(NetError) in
                asked.append(call.request.url)
                return asked.values.count == 1
            }
        }
        #expect(try await agent.send(Request<String>("/")).value == "x")
        #expect(asked.values == ["http://stub/", "http://stub/"])
        #expect(time.waits == [.milliseconds(400), .milliseconds(800)])
    }

    @Test func lastResponseIsReturnedWhenTheRetryTimeIsExceeded() async throws {
        stub.register("/", with: .status(503))
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
    func retryAfterIsRespectedOnlyWithinTheRetryTime(seconds: String, count: Int) async throws {
        stub.register("/", with: StubReply(status: 503, headers: ["Retry-After": seconds]))
        _ = try await agent { $0.maxElapsed = .seconds(5) }.send(Request<Bytes>("/"))
        #expect(time.waits.count == count)
    }

    @Test func backoffHasJitter() async throws {
        stub.register("/", with: .status(503))
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

    @Test func backoffWithoutJitterIsExact() async throws {
        stub.register("/", with: .status(503))
        _ = try await agent { retry in
            retry.random = { 0 }
            retry.hasJitter = false
        }.send(Request<Bytes>("/"))
        #expect(time.waits == [200, 400, 800].map { .milliseconds($0) })
    }

    @Test(arguments: ["7", " 7 ", "Sun, 06 Nov 1994 08:49:44 GMT"])
    func retryAfterSetsTheWait(field: String) async throws {
        stub.register("/", with: StubReply(status: 429, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.seconds(7)])
    }

    @Test(arguments: [("08:49:37", 7000), ("08:49:44", 200), ("08:50:00", 200)])
    func retryAfterDateUsesTheServersClockAndAPastDateBacksOff(sent: String, milliseconds: Int) async throws {
        let fields: Headers = [
            "Date": "Mon, 07 Nov 1994 \(sent) GMT", "Retry-After": "Mon, 07 Nov 1994 08:49:44 GMT",
        ]
        stub.register("/", with: StubReply(status: 503, headers: fields), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(milliseconds)])
    }

    @Test(arguments: ["-1", "1.5", "soon", "", "Sun, 06 Nov 1994 08:49:44"])
    func malformedRetryAfterIsIgnored(field: String) async throws {
        stub.register("/", with: StubReply(status: 429, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(200)])
    }

    @Test(arguments: ["61", "99999999999999999999999999", "Mon, 07 Nov 1994 08:49:44 GMT"])
    func excessiveRetryAfterIsNotWaitedFor(field: String) async throws {
        stub.register("/", with: StubReply(status: 503, headers: ["Retry-After": field]), .text("x"))
        #expect(try await agent().send(Request<Bytes>("/")).status == 503)
        #expect(time.waits == [])
    }

    @Test(arguments: ["POST", "PATCH", "get", "OTHER"])
    func nonIdempotentMethodIsSentOnce(method: String) async throws {
        stub.register("/", with: .status(503), .text("x"))
        let request = Request<Bytes>("/", method: Method(rawValue: method))
        #expect(try await agent().send(request).status == 503)
        stub.register("/", with: .failure(.idleTimeout), .text("x"))
        #expect(await ending(of: request, from: agent()) == .failed(.idleTimeout))
        #expect(stub.requests.count == 2)
    }

    @Test func idempotencyKeyOrPolicyAllowsRetryingAnyMethod() async throws {
        stub.register("/", with: .status(503), .text("x"), .status(503), .text("y"))
        var request = Request<String>("/", method: .post)
        #expect(try await agent { $0.methods = [.post] }.send(request).value == "x")
        request.headers["Idempotency-Key"] = "1"
        #expect(try await agent().send(request).value == "y")
    }

    @Test(arguments: [NetError.Code.refused, .resolve, .connect, .connectTimeout, .slotTimeout])
    func requestThatNeverReachedTheServerIsRetriedWithAnyMethod(code: NetError.Code) async throws {
        stub.register("/", with: .failure(code), .text("x"))
        #expect(try await agent().send(Request<String>("/", method: .post)).value == "x")
    }

    @Test(arguments: [NetError.Code.emptyReply, .reset, .send, .receive])
    func postIsResentOnlyAfterAReusedConnectionClosed(code: NetError.Code) async throws {
        var hop = HopMetrics()
        let fresh = StubReply.failure(NetError(code, "closed", metrics: Metrics([hop])))
        hop.isReused = true
        let old = StubReply.failure(NetError(code, "closed", metrics: Metrics([hop])))
        stub.register("/", with: old, fresh, .text("x"))
        #expect(await ending(of: Request<Bytes>("/", method: .post), from: agent()) == .failed(code))
        #expect(stub.requests.count == 2)
        stub.register("/", with: fresh, .text("x"))
        #expect(try await agent().send(Request<String>("/", method: .put)).value == "x")
    }

    @Test func unansweredPostAfterARedirectIsNotResent() async throws {
        stub.register("/", with: .redirect(to: "/there", status: 307))
        stub.register("/there", with: .failure(.emptyReply), .text("x"))
        let request = Request<Bytes>("/", method: .post)
        #expect(await ending(of: request, from: agent()) == .failed(.emptyReply))
        #expect(stub.requests.count == 2)
    }

    @Test(arguments: [(407, 1), (502, 2)])
    func proxyThatRefusedCredentialsIsNotAskedAgain(status: Int, count: Int) async throws {
        let refusal = NetError(.proxy, "the proxy refused the tunnel", response: Response(status: status))
        stub.register("/", with: .failure(refusal), .text("x"))
        _ = await ending(of: Request<Bytes>("/"), from: agent())
        #expect(stub.requests.count == count)
    }

    @Test func everyStatusCanBeRetried() async throws {
        stub.register("/", with: .status(599), .status(418), .text("x"))
        #expect(try await agent { $0.statuses = Set(400...599) }.send(Request<String>("/")).value == "x")
        #expect(time.waits == [200, 400].map { .milliseconds($0) })
    }

    @Test(arguments: [
        (Duration.microseconds(300), 1), (.microseconds(1500), 2), (.zero, 0), (.seconds(Int64.max), 20_000),
    ])
    func delayIsInWholeMillisecondsAndLimited(baseDelay: Duration, milliseconds: Int) async throws {
        stub.register("/", with: .status(503), .text("x"))
        #expect(try await agent { $0.baseDelay = baseDelay }.send(Request<String>("/")).value == "x")
        #expect(time.waits == [.milliseconds(milliseconds)])
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func retryTimeOfZeroAllowsNoRetry(maxElapsed: Duration) async throws {
        stub.register("/", with: .status(503), .text("x"))
        #expect(try await agent { $0.maxElapsed = maxElapsed }.send(Request<Bytes>("/")).status == 503)
    }

    @Test func oneShotBodyIsNeverResent() async throws {
        stub.register("/", with: .failure(.emptyReply), .text("x"))
        let pieces = Pieces([Bytes([1])])
        let request = Request<Bytes>("/", method: .put, body: .once(pieces))
        let agent = agent { retry in
            retry.methods = [.put]
            retry.condition = { _ in true }
        }
        #expect(await ending(of: request, from: agent) == .failed(.emptyReply))
        #expect(stub.requests.count == 1)
        #expect(time.waits == [])
    }

    @Test func replayableBodyIsResentWhole() async throws {
        stub.register("/", with: .status(503), .text("x"))
        let request = Request<String>("/", method: .put, body: .stream { Pieces([Bytes([1]), Bytes([2])]) })
        #expect(try await agent().send(request).value == "x")
        #expect(stub.requests.map(\.body) == [[1, 2], [1, 2]])
    }

    @Test(arguments: [NetError.Code.badURL, .cancelled, .bodySource, .tooLarge, .badCoding, .tlsExpired])
    func permanentErrorsAreNotRetried(code: NetError.Code) async throws {
        stub.register("/", with: .failure(code), .text("x"))
        #expect(await ending(of: Request<Bytes>("/"), from: agent()) == .failed(code))
        #expect(stub.requests.count == 1)
    }

    @Test func conditionCanAcceptAnyErrorExceptLocalOnes() async throws {
        let agent = agent { $0.condition = { _ in true } }
        stub.register("/", with: .failure(.tlsExpired), .failure(.badCoding), .text("x"))
        #expect(try await agent.send(Request<String>("/")).value == "x")
        stub.register("/", with: .failure(.usage), .text("x"))
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.usage))
    }

    @Test func conditionReplacesTheRulesForErrorsAndStatuses() async throws {
        let agent = agent { retry in
            retry.condition = { error in error.code == .badCoding || error.response?.text == "busy" }
        }
        stub.register("/", with: .failure(.badCoding), .text("busy", status: 423), .text("x"))
        #expect(try await agent.send(Request<String>("/")).value == "x")
        stub.register("/", with: .status(503), .text("x"))
        #expect(try await agent.send(Request<Bytes>("/")).status == 503)
        stub.register("/", with: .failure(.emptyReply), .text("x"))
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.emptyReply))
        stub.register("/", with: .failure(.badCoding), .text("x"))
        #expect(await ending(of: Request<Bytes>("/", method: .post), from: agent) == .failed(.badCoding))
    }

    @Test func requestWithAnotherMethodThanTheListedOnesIsSentOnce() async throws {
        let agent = agent { $0.methods = [.get, .post] }
        stub.register("/", with: .status(503), .text("x"))
        #expect(try await agent.send(Request<Bytes>("/", method: .put)).status == 503)
        stub.register("/", with: .failure(.refused), .text("x"))
        #expect(await ending(of: Request<Bytes>("/", method: .delete), from: agent) == .failed(.refused))
        stub.register("/", with: .failure(.emptyReply), .text("x"))
        #expect(try await agent.send(Request<String>("/", method: .post)).value == "x")
    }

    @Test func exhaustedBudgetReturnsFailures() async throws {
        stub.register("/", with: .status(503))
        let budget = RetryBudget(perCall: 0.5, reserve: 4)
        let agent = agent { $0.budget = budget }
        for _ in 0..<10 {
            _ = try await agent.send(Request<Bytes>("/"))
        }
        // The budget starts full, with four retries, so the first call adds nothing. The nine others add half a retry
        // each, which makes four more.
        #expect(stub.requests.count == 10 + 4 + 4)
        #expect(budget.remaining == 0)
    }

    @Test func streamIsRetriedUntilItsHeadArrives() async throws {
        stub.register("/", with: .status(503), StubReply(body: [.text("a"), .fail(NetError(.reset, "gone"))]))
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

    @Test func saveIsRetried() async throws {
        let folder = try TemporaryFolder()
        stub.register("/", with: .status(503), .text("x"))
        #expect(
            try await agent().download(Request<Bytes>("/"), to: folder.file("f"), options: .init(isResumable: false))
                .value.byteCount == 1)
        #expect(folder.contents(of: "f") == Array("x".utf8))
    }

    @Test func cancellingEndsTheWait() async throws {
        stub.register("/", with: .status(503), .text("x"))
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
    func postReceivedWholeOverANewConnectionIsSentOnce(ending how: Reply.Ending) async throws {
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

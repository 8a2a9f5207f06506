import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Request tasks that release their connection while they are paused, and resume with a Range request.
@Suite(.timeLimit(.minutes(5)))
struct ResumableBodyTests {
    private static let head: Headers = ["ETag": "\"v1\"", "Content-Length": "10"]
    private let gate = StubGate()
    private let stub = StubTransport()
    private let output = BufferingOutput()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    /// Returns a response that sends five bytes and then waits.
    private func begun(_ headers: Headers = head, status: Int = 200) -> StubReply {
        StubReply(status: status, headers: headers, body: [.text("01234"), .wait(gate)])
    }

    private func rangeReply(_ range: String = "bytes 5-9/10", _ more: Headers = ["ETag": "\"v1\""]) -> StubReply {
        let fields = [Headers.Field(name: "Content-Range", value: range)] + Array(more)
        return StubReply(status: 206, headers: Headers(fields), body: [.text("56789")])
    }

    private func whole(_ text: String = "abcdefghij", tag: String = "\"v2\"") -> StubReply {
        StubReply(headers: ["ETag": tag], body: [.text(text)])
    }

    /// Starts a request task, pauses it after five bytes, and resumes it.
    private func interrupted(
        _ request: Request<Void>, into output: BufferingOutput,
        options: StartOptions = .init(pausing: .releasingConnection)
    ) async -> Result<Response<Void>, NetError> {
        let agent = agent
        let handle = agent.start(request, on: .here, options: options)
        await output.wait(for: 5)
        handle.pause()
        #expect(handle.task.isPaused)
        handle.resume()
        return await handle.result
    }

    private func ranges() -> [String?] { stub.requests.map { $0.headers["Range"] } }

    @Test func resumeContinuesAfterTheReceivedBytes() async throws {
        stub.register("/", with: begun(), rangeReply())
        let response = try await interrupted(Request<Void>("/").writing(to: output), into: output).get()
        #expect(output.text == "0123456789" && output.log == ["whole"])
        #expect(ranges() == [nil, "bytes=5-"])
        #expect(stub.requests[1].headers["If-Range"] == "\"v1\"")
        // The response reported to the caller is that to the original request: the whole body.
        #expect(response.status == 200 && response.headers["Content-Range"] == nil)
    }

    @Test func differentResponseIsNeverAppended() async throws {
        stub.register("/", with: begun(), whole())
        _ = try await interrupted(Request<Void>("/").writing(to: output), into: output).get()
        #expect(output.text == "abcdefghij" && output.log == ["anew", "whole"])
        #expect(ranges() == [nil, "bytes=5-"])
    }

    @Test func mismatchedRangeRequestsTheWholeBody() async throws {
        let wrong: [StubReply] = [
            rangeReply("bytes 4-9/10"), rangeReply("bytes 5-9/11"), rangeReply("bytes 5-9/10", ["ETag": "\"v2\""]),
            rangeReply("5-9/10"),
            rangeReply("bytes 5-9"), rangeReply("bytes 5-10/10"), rangeReply("bytes 9-5/10"),
            rangeReply("bytes +5-9/10"), rangeReply("bytes 5-/10"),
            rangeReply("bytes 5-9/10", ["Content-Encoding": "gzip"]), .status(416),
            StubReply(status: 206, headers: ["ETag": "\"v1\""], body: [.text("56789")]),
            StubReply(
                status: 206, headers: ["Content-Type": "multipart/byteranges; boundary=b"], body: [.text("--b")]),
        ]
        for reply in wrong {
            let test = ResumableBodyTests()
            test.stub.register("/", with: test.begun(), reply, test.whole())
            let output = test.output
            _ = try await test.interrupted(Request<Void>("/").writing(to: output), into: output).get()
            #expect(output.text == "abcdefghij" && output.log == ["anew", "whole"])
            #expect(test.ranges() == [nil, "bytes=5-", nil])
        }
    }

    @Test func status200WithAMatchingRangeContinuesTheBody() async throws {
        var part = rangeReply()
        part.status = 200
        stub.register("/", with: begun(), part)
        _ = try await interrupted(Request<Void>("/").writing(to: output), into: output).get()
        #expect(output.text == "0123456789" && output.log == ["whole"])
        #expect(ranges() == [nil, "bytes=5-"])
    }

    @Test func status200WithAnotherRangeIsRefused() async throws {
        for range in ["bytes 4-9/10", "bytes 5-9/11", "bytes 0-4/10", "bytes */10", "bytes all"] {
            let test = ResumableBodyTests()
            var part = rangeReply(range)
            part.status = 200
            test.stub.register("/", with: test.begun(), part, test.whole())
            let output = test.output
            _ = try await test.interrupted(Request<Void>("/").writing(to: output), into: output).get()
            #expect(output.text == "abcdefghij" && test.ranges() == [nil, "bytes=5-", nil])
        }
    }

    @Test func unrequestedRangeIsNotWrittenAsTheWholeBody() async throws {
        for status in [200, 206] {
            let test = ResumableBodyTests()
            test.stub.register("/", with: test.begun(["Content-Range": "bytes 0-9/100"], status: status))
            let outcome = await test.agent.start(Request<Void>("/").writing(to: test.output), on: .here).result
            #expect(failureCode(of: outcome) == .badRange && test.output.text.isEmpty)
        }
    }

    @Test func totalOfTheRangeAppliesWhenNoneWasKnown() async throws {
        stub.register("/", with: begun(["ETag": "\"v1\""]), rangeReply("bytes 5-9/100"))
        let outcome = await interrupted(Request<Void>("/").writing(to: output), into: output)
        let error = #expect(throws: NetError.self) { try outcome.get() }
        #expect(error?.code == .cutShort)
    }

    @Test func rangeBeyondTheTotalIsRefused() async throws {
        let long = StubReply(
            status: 206, headers: ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/10"], body: [.text("5678956789")])
        stub.register("/", with: begun(), long)
        let outcome = await interrupted(Request<Void>("/").writing(to: output), into: output)
        let error = #expect(throws: NetError.self) { try outcome.get() }
        #expect(error?.code == .badResponse)
    }

    @Test func rangeOfANewerVersionRequestsTheWholeBody() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let first: Headers = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:50:37 GMT"]
        stub.register(
            "/", with: begun(first), rangeReply("bytes 5-9/10", ["Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"]),
            whole())
        _ = try await interrupted(Request<Void>("/").writing(to: output), into: output).get()
        #expect(output.text == "abcdefghij" && output.log == ["anew", "whole"])
    }

    @Test func nonresumableResponseIsRequestedAgain() async throws {
        let firsts: [Headers] = [
            [:], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Accept-Ranges": "none"], ["ETag": "v1"],
            ["ETag": "\"v1\"", "Content-Encoding": "x-own"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:36 GMT"],
        ]
        for first in firsts {
            let test = ResumableBodyTests()
            test.stub.register("/", with: test.begun(first), test.whole())
            let output = test.output
            _ = try await test.interrupted(Request<Void>("/").writing(to: output), into: output).get()
            #expect(output.text == "abcdefghij" && output.log == ["anew", "whole"])
            #expect(test.ranges() == [nil, nil])
        }
    }

    @Test func oldEnoughDateIsAValidator() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        stub.register(
            "/", with: begun(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"]),
            rangeReply("bytes 5-9/*", ["Last-Modified": date]))
        _ = try await interrupted(Request<Void>("/").writing(to: output), into: output).get()
        #expect(output.text == "0123456789")
        #expect(stub.requests[1].headers["If-Range"] == date)
    }

    @Test func onlyAGetForTheWholeBodyIsResumed() async throws {
        for change in [{ $0.method = .post }, { $0.headers["Range"] = "bytes=0-9" }] as [(inout Request<Void>) -> Void]
        {
            let test = ResumableBodyTests()
            test.stub.register("/", with: test.begun(), test.whole())
            let output = test.output
            var request = Request<Void>("/").writing(to: output)
            change(&request)
            _ = try await test.interrupted(request, into: output).get()
            #expect(output.text == "abcdefghij")
            #expect(test.stub.requests[1].headers["If-Range"] == nil)
        }
    }

    @Test func errorStatusKeepsTheReceivedBytesAndFails() async throws {
        stub.register("/", with: begun(), .text("later", status: 503))
        let result = await interrupted(Request<Void>("/").writing(to: output), into: output)
        #expect(failureCode(of: result) == .status)
        #expect(output.text == "01234" && output.log == [])
    }

    @Test func truncatedRangeIsAnError() async throws {
        var short = rangeReply("bytes 5-7/10")
        short.body = [.text("567")]
        stub.register("/", with: begun(), short)
        let result = await interrupted(Request<Void>("/").writing(to: output), into: output)
        #expect(failureCode(of: result) == .cutShort)
        #expect(output.log == [])
    }

    @Test func singleUseBodyIsNotSentAgain() async throws {
        stub.register("/", with: begun(), whole())
        let pieces = AsyncStream<Bytes> {
            $0.yield(Bytes([1, 2, 3])); $0.finish()
        }
        let request = Request<Void>("/", method: .put, body: .once(pieces)).writing(to: output)
        #expect(failureCode(of: await interrupted(request, into: output)) == .notRewindable)
        #expect(stub.requests.map { $0.isWhole } == [true, false])
    }

    @Test func outputThatCannotRestartFailsWithAReason() async throws {
        stub.register("/", with: begun(), whole())
        let output = BufferingOutput(canStartOver: false)
        let result = await interrupted(Request<Void>("/").writing(to: output), into: output)
        #expect(failureCode(of: result) == .notRewindable)
        #expect(output.text == "01234")
    }

    @Test func requestCanBePausedRepeatedly() async throws {
        let pieces = (0..<5).map { StubReply.Step.text("\($0)") }
        var replies = [StubReply(headers: Self.head, body: [pieces[0], .wait(gate)])]
        for place in 1..<5 {
            replies.append(
                StubReply(
                    status: 206, headers: ["Content-Range": "bytes \(place)-9/10"], body: [pieces[place], .wait(gate)]))
        }
        replies.append(rangeReply())
        stub.register("/", with: replies)
        let handle = agent.start(
            Request<Void>("/").writing(to: output), on: .here, options: .init(pausing: .releasingConnection))
        for count in 1...5 {
            await output.wait(for: count)
            handle.pause()
            handle.resume()
        }
        #expect(failureCode(of: await handle.result) == nil)
        #expect(output.text == "0123456789")
        #expect(ranges() == [nil] + (1...5).map { "bytes=\($0)-" })
    }

    @Test func pausingAtTheStartClosesTheConnection() async throws {
        for _ in 0..<100 {
            let test = ResumableBodyTests()
            test.stub.register("/", with: test.whole())
            let holding = PausingInterceptor()
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [holding]
            let agent = Agent(configuration, transport: test.stub)
            holding.agent.withLock { $0 = agent }
            let handle = agent.start(
                Request<Void>("/").writing(to: test.output), on: .here, options: .init(pausing: .releasingConnection))
            #expect(failureCode(of: await handle.result) == nil)
            #expect(test.output.text == "abcdefghij")
            // The pause ended the first attempt before the transport sent it. Only the second attempt was sent.
            #expect(holding.calls.withLock { $0 } == 2 && test.stub.requests.count == 1)
        }
    }

    @Test func pausedRequestHasNoTransferAndCanBeCancelled() async throws {
        let server = try LoopbackServer()
        server.script(
            "/", Reply(headers: ["ETag: \"v\""], patternLength: 100_000, cutAfter: 50_000, ending: .stall))
        let agent = Agent()
        let output = output
        let handle = agent.start(
            Request<Void>(server.url("/")).writing(to: output), on: .here,
            options: .init(reportsCancellation: true, pausing: .releasingConnection))
        await output.wait(for: 1)
        handle.pause()
        try await server.waitForSilence()
        try await agent.waitUntilNothingIsInFlight()
        #expect(handle.state == .running && handle.task.isPaused)
        #expect(agent.requestTasks().map(\.id) == [handle.id])
        handle.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(output.log == [])
    }

    @Test func largeBodyIsCompleteOverTheEngine() async throws {
        let server = try LoopbackServer()
        let head = ["ETag: \"v\"", "Content-Type: application/octet-stream"]
        server.script(
            "/",
            [
                Reply(
                    headers: head, patternLength: 3_000_000, answersRanges: true, cutAfter: 1_000_000,
                    ending: .stall),
                Reply(headers: head, patternLength: 3_000_000, answersRanges: true),
            ])
        let output = output
        let progress = CallProgress()
        let handle = Agent().start(
            Request<Void>(server.url("/")).writing(to: output), on: .here,
            options: .init(pausing: .releasingConnection, tracking: progress))
        await output.wait(for: 500_000)
        progress.pause()
        try await server.waitForSilence()
        let offset = output.bytes.count
        progress.resume()
        let response = try await handle.value
        #expect(response.status == 200 && output.bytes == pattern(3_000_000))
        #expect(server.received(1).values(named: "Range") == ["bytes=\(offset)-"])
        let download = progress.current.download
        #expect(download.completed == 3_000_000 && download.total == 3_000_000 && download.bytesPerSecond == 0)
    }

    @Test func receivedBytesStayInMemoryWithoutAnOutput() async throws {
        let server = try LoopbackServer()
        server.script(
            "/",
            [
                Reply(
                    headers: ["ETag: \"v\"", "Content-Type: text/plain"], patternLength: 300_000, answersRanges: true,
                    cutAfter: 100_000, ending: .stall),
                Reply(
                    headers: ["ETag: \"v\"", "Content-Type: text/plain"], patternLength: 300_000, answersRanges: true),
            ])
        let handle = Agent().start(
            Request<String>(server.url("/")), on: .here, options: .init(pausing: .releasingConnection))
        try await server.waitForStalled(1)
        handle.pause()
        try await server.waitForSilence()
        handle.resume()
        let response = try await handle.value
        #expect(response.value.utf8.count == 300_000)
        #expect(Array(response.value.utf8) == pattern(300_000))
        #expect(server.requestCount == 2)
    }

    @Test func bodyInMemoryIsLimited() async throws {
        stub.register("/", with: .bytes(Bytes(pattern(2000))))
        var request = Request<Bytes>("/")
        var limits = Limits()
        limits.maxBodyBytes = 1999
        request.limits = limits
        let handle = agent.start(request, on: .here, options: .init(pausing: .releasingConnection))
        #expect(failureCode(of: await handle.result) == .bodyTooLarge)
    }

    @Test func requestThatIsNeverPausedBehavesNormally() async throws {
        stub.register("/", with: .json(#"{"a":1}"#))
        stub.register("/bad", with: .json(#"{"a":"#))
        let options = StartOptions(pausing: .releasingConnection)
        let request = Request<[String: Int]>("/").expecting(["a": .integer])
        #expect(try await agent.start(request, on: .here, options: options).value.value == ["a": 1])
        let wrong = Request<[String: Int]>("/").expecting(["a": .string])
        #expect(failureCode(of: await agent.start(wrong, on: .here, options: options).result) == .shapeMismatch)
        let bad = Request<[String: Int]>("/bad")
        #expect(failureCode(of: await agent.start(bad, on: .here, options: options).result) == .decoding)
        let head = Request<Void>("/", method: .head)
        #expect(failureCode(of: await agent.start(head, on: .here, options: options).result) == nil)
    }

    @Test func pausesFromManyThreadsLoseNothing() async throws {
        let server = try LoopbackServer()
        server.script(
            "/", Reply(headers: ["ETag: \"v\""], patternLength: 2_000_000, answersRanges: true))
        let agent = Agent()
        for _ in 0..<10 {
            let output = BufferingOutput()
            let handle = agent.start(
                Request<Void>(server.url("/")).writing(to: output), on: .here,
                options: .init(pausing: .releasingConnection))
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask { index % 2 == 0 ? handle.pause() : handle.resume() }
                }
            }
            handle.resume()
            #expect(failureCode(of: await handle.result) == nil)
            #expect(output.bytes.count == 2_000_000 && output.bytes == pattern(2_000_000))
        }
    }
}

/// Pauses the agent when its first call begins, and resumes it immediately.
private final class PausingInterceptor: Interceptor {
    let agent = Lock<Agent?>(nil)
    let calls = Lock(0)

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        calls.withLock { $0 += 1 }
        let agent = agent.withLock { agent in
            defer { agent = nil }
            return agent
        }
        agent?.pauseAll()
        agent?.resumeAll()
        return try await next(call)
    }
}

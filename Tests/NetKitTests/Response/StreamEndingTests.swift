import NetKit
import Testing

/// Streamed bodies that end early: by the reader, the task, the server, or a limit.
@Suite(.timeLimit(.minutes(5)))
struct StreamEndingTests {
    /// A response that sends a part of its announced length and then waits until the server is released.
    private static let held = Reply(patternLength: 1_000_000, cutAfter: 100_000, ending: .stall)

    // MARK: Ended by the reader

    @Test func aBodyRefusedAfterTheHeadDeliversNoByteMore() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 500, patternLength: 1 << 40))
        let agent = Agent()
        var stream: ResponseStream? = try await agent.stream(Request<Bytes>(server.url("/")))
        #expect(stream?.status == 500)
        let iterator = stream?.makeAsyncIterator()
        stream = nil
        // The iterator keeps the body readable. When the stream and the iterator are gone, the transfer ends.
        #expect(agent.transfers().count == 1)
        _ = consume iterator
        try await server.waitForSilence()
        try await agent.waitUntilNothingIsInFlight()
        #expect(server.connectionCount == 1)
    }

    @Test func droppingTheStreamUnreadEndsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Self.held)
        let agent = Agent()
        for _ in 0..<10 {
            _ = try await agent.stream(Request<Bytes>(server.url("/")))
        }
        try await server.waitForSilence()
        #expect(server.connectionCount == 10)
    }

    @Test(arguments: [Reply(patternLength: 1 << 40), held])
    func breakingOutOfTheLoopEndsTheTransfer(reply: Reply) async throws {
        let server = try LoopbackServer()
        server.script("/", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var check = PatternCheck()
        for try await chunk in stream {
            check.take(chunk)
            break
        }
        #expect(check.count > 0 && check.isPattern)
        // A stream has only one iterator. Without it, nothing more can be read, so the transfer ends.
        try await server.waitForSilence()
        #expect(await failureCode { () throws(NetError) in for try await _ in stream {} } == .usage)
    }

    @Test func droppingAgentAndStreamDeallocatesTheAgent() async throws {
        func use(_ server: LoopbackServer) async throws -> WeakAgent {
            let agent = Agent()
            var iterator = try await agent.stream(Request<Bytes>(server.url("/"))).makeAsyncIterator()
            _ = try await iterator.next()
            return WeakAgent(agent)
        }
        let server = try LoopbackServer()
        server.script("/", Self.held)
        let observer = try await use(server)
        try await server.waitForSilence()
        #expect(observer.agent == nil)
    }

    @Test func aStreamOutlivesItsAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 20_000_000))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        let check = try await stream.checked()
        #expect(check.count == 20_000_000)
        #expect(check.isPattern)
        try await server.waitForSilence()
    }

    // MARK: Ended by the task

    @Test func cancellingBeforeTheHeadEndsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let task = Task {
            await failureCode { () throws(NetError) in _ = try await agent.stream(Request<Bytes>(server.url("/"))) }
        }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(await task.value == .cancelled)
        try await server.waitForSilence()
    }

    @Test func cancellingBeforeTheStartNeverReachesTheNetwork() async throws {
        let server = try LoopbackServer()
        let agent = Agent()
        let failed = await withTaskGroup(of: NetError.Code?.self) { group in
            group.cancelAll()
            group.addTask {
                await failureCode { () throws(NetError) in _ = try await agent.stream(Request<Bytes>(server.url("/"))) }
            }
            return await group.next() ?? nil
        }
        #expect(failed == .cancelled)
        await agent.shutdown()
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [Reply(patternLength: 1 << 40), held])
    func cancellingTheTaskThatReadsEndsTheTransfer(reply: Reply) async throws {
        let server = try LoopbackServer()
        server.script("/", reply)
        let agent = Agent()
        let hasRead = Gate()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let task = Task {
            await failureCode { () throws(NetError) in
                for try await _ in stream {
                    hasRead.open()
                }
            }
        }
        try await hasRead.opened()
        task.cancel()
        #expect(await task.value == .cancelled)
        try await server.waitForSilence()
    }

    @Test func cancellingWhileItIsPausedEndsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        let isPaused = Gate()
        let isCancelled = Gate()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let task = Task {
            await failureCode { () throws(NetError) in
                for try await _ in stream {
                    try? await agent.waitUntilPausedOrOver()
                    isPaused.open()
                    try? await isCancelled.opened()
                }
            }
        }
        try await isPaused.opened()
        task.cancel()
        isCancelled.open()
        #expect(await task.value == .cancelled)
        try await server.waitForSilence()
    }

    /// A cancelled stream ends exactly once, in every phase.
    @Test func cancellingAtAnyMomentEndsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 300_000))
        let agent = Agent()
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var request = Request<Bytes>(server.url("/"))
            request.streamBufferBytes = Int.random(in: 1..<100_000, using: &random)
            let task = Task { [request] in
                await failureCode { () throws(NetError) in
                    let check = try await agent.stream(request).checked()
                    #expect(check.count == 300_000 && check.isPattern)
                }
            }
            for _ in 0..<Int.random(in: 0..<60, using: &random) {
                await Task.yield()
            }
            task.cancel()
            let failed = await task.value
            try #require(failed == nil || failed == .cancelled)
        }
        await agent.shutdown()
        try await server.waitForSilence()
    }

    // MARK: Ended by the server

    /// Every byte before the connection's end is delivered. Then the stream throws.
    @Test(arguments: [0, 1000], [Reply.Ending.close, .reset])
    func truncationIsAnErrorAfterTheBytesBeforeIt(chunkBytes: Int, ending: Reply.Ending) async throws {
        let server = try LoopbackServer()
        var reply = Reply(patternLength: 5_000_000)
        reply.chunkBytes = chunkBytes
        reply.cutAfter = 300_000
        reply.ending = ending
        server.script("/", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var check = PatternCheck()
        do throws(NetError) {
            for try await chunk in stream {
                check.take(chunk)
            }
            Issue.record("no error")
        } catch {
            #expect(error.code == (ending == .close ? .cutShort : .reset))
            #expect(error.response?.status == 200)
        }
        #expect(check.isPattern)
        if ending == .close {
            #expect(check.count > 290_000)
        }
        #expect(!stream.isCloseDelimited)
        #expect(stream.trailers.isEmpty)
    }

    @Test func nothingIsDeliveredAfterAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, cutAfter: 500, ending: .close))
        var iterator = try await Agent().stream(Request<Bytes>(server.url("/"))).makeAsyncIterator()
        do throws(NetError) {
            while try await iterator.next() != nil {}
            Issue.record("no error")
        } catch {
            #expect(error.code == .cutShort)
        }
        #expect(try await iterator.next() == nil)
    }

    @Test func malformedChunkIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nnonsense\r\n"))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var bytes: [UInt8] = []
        do throws(NetError) {
            for try await chunk in stream {
                bytes += chunk
            }
            Issue.record("no error")
        } catch {
            #expect(error.code == .badResponse || error.code == .receive)
        }
        #expect(bytes == Array("abcd".utf8))
    }

    @Test func errorBeforeTheHeadIsThrownByTheCall() async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("not a response at all\r\n\r\n"))
        let agent = Agent()
        var urls = [server.url("/"), "http://a b/", "http://127.0.0.1:1/"]
        for url in urls {
            let failed = await failureCode { () throws(NetError) in _ = try await agent.stream(Request<Bytes>(url)) }
            #expect(failed != nil)
        }
        await agent.shutdown()
        urls = [server.url("/")]
        #expect(await failureCode { () throws(NetError) in _ = try await agent.stream(Request<Bytes>(urls[0])) } != nil)
    }

    // MARK: Ended by a limit

    @Test func aBodyOverItsLimitIsAnErrorAfterTheBytesBeforeIt() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5_000_000, chunkBytes: 10_000))
        server.script("/announced", Reply(patternLength: 5_000_000))
        var request = Request<Bytes>(server.url("/"))
        request.limits = .streaming
        request.limits.maxBodyBytes = 1_000_000
        let stream = try await Agent().stream(request)
        var check = PatternCheck()
        do throws(NetError) {
            for try await chunk in stream {
                check.take(chunk)
            }
            Issue.record("no error")
        } catch {
            #expect(error.code == .bodyTooLarge)
        }
        #expect((900_000...1_000_000).contains(check.count) && check.isPattern)
        // A response whose head announces too much does not begin.
        request.url = server.url("/announced")
        let announced = request
        let failed = await failureCode { () throws(NetError) in _ = try await Agent().stream(announced) }
        #expect(failed == .bodyTooLarge)
    }

    @Test func silentServerIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Self.held)
        var request = Request<Bytes>(server.url("/"))
        request.limits = .streaming
        request.limits.idle = .milliseconds(50)
        let stream = try await Agent().stream(request)
        var check = PatternCheck()
        do throws(NetError) {
            for try await chunk in stream {
                check.take(chunk)
            }
            Issue.record("no error")
        } catch {
            #expect(error.code == .idleTimeout)
        }
        #expect(check.count > 90_000 && check.isPattern)
        try await server.waitForSilence()
    }

    @Test func shutdownLetsAStreamFinish() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5_000_000))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let shutdown = Task { await agent.shutdown() }
        let check = try await stream.checked()
        #expect(check.count == 5_000_000 && check.isPattern)
        await shutdown.value
    }
}

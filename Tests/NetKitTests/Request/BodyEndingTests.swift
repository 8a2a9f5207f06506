import NetKit
import NetKitTesting
import Testing

/// The producer of a body when the transfer ends early or is sent again.
@Suite(.timeLimit(.minutes(5)))
struct BodyEndingTests {
    private func put(_ server: LoopbackServer, _ body: Body) -> Request<Bytes> {
        Request<Bytes>(server.url("/"), method: .put, body: body)
    }

    /// A sequence of one piece that then waits forever and ignores cancellation.
    private final class Stuck: Sendable {
        let isAsked = Gate()
        let isCancelled = Gate()
        private let mayEnd = Gate()

        var pieces: Pieces<Bytes> {
            Pieces { [self] index in
                if index == 0 {
                    return Bytes(pattern(1000))
                }
                isAsked.open()
                try await withTaskCancellationHandler {
                    try await mayEnd.opened()
                } onCancel: {
                    isCancelled.open()
                }
                return nil
            }
        }

        func end() {
            mayEnd.open()
        }
    }

    // MARK: Cancellation

    @Test(arguments: [nil, 5000])
    func cancellingWhileTheSequenceWaitsEndsBoth(length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent()
        let stuck = Stuck()
        let request = put(server, .stream(length: length) { stuck.pieces })
        let task = Task { await ending(of: request, from: agent) }
        try await stuck.isAsked.opened()
        try await server.waitForReceivedBytes(1000)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        try await stuck.isCancelled.opened()
        try await server.waitForSilence()
        stuck.end()
    }

    @Test func aStreamedResponseIsCancelledWhileItsBodyWaits() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent()
        let stuck = Stuck()
        let request = put(server, .stream { stuck.pieces })
        let task = Task { await failureCode { () throws(NetError) in _ = try await agent.stream(request) } }
        try await stuck.isAsked.opened()
        task.cancel()
        #expect(await task.value == .cancelled)
        try await stuck.isCancelled.opened()
        try await server.waitForSilence()
        stuck.end()
    }

    /// A sequence that ignores cancellation retains neither the agent nor its thread and connections.
    @Test func suspendedSequenceRetainsNothing() async throws {
        func use(_ server: LoopbackServer, _ stuck: Stuck) async throws -> WeakAgent {
            let agent = Agent()
            let request = put(server, .stream { stuck.pieces })
            let task = Task { await ending(of: request, from: agent) }
            try await stuck.isAsked.opened()
            task.cancel()
            _ = await task.value
            server.script("/kept", .text("x"))
            _ = try await agent.send(Request<Bytes>(server.url("/kept")))
            return WeakAgent(agent)
        }
        let server = try LoopbackServer()
        server.script("/", .echo)
        let stuck = Stuck()
        let observer = try await use(server, stuck)
        #expect(observer.agent == nil)
        try await server.waitForSilence()
        stuck.end()
    }

    @Test func cancellingAtAnyMomentEndsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent()
        var random = SeededGenerator(seed: 5)
        for round in 0..<300 {
            let pieces = Pieces<Bytes> { index in
                await Task.yield()
                return index < 20 ? Bytes(pattern(26_000)) : nil
            }
            let request = put(server, .stream(length: round.isMultiple(of: 2) ? nil : 520_000) { pieces })
            let task = Task { await ending(of: request, from: agent) }
            for _ in 0..<Int.random(in: 0..<120, using: &random) {
                await Task.yield()
            }
            task.cancel()
            let end = await task.value
            try #require(end == .answered || end == .failed(.cancelled))
        }
        await agent.shutdown()
        try await server.waitForSilence()
    }

    // MARK: Early responses

    /// After an early error response the sequence is not read any further.
    @Test(arguments: [Reply.Early.discard, .end])
    func anEarlyResponseEndsTheSequence(early: Reply.Early) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 413, body: Array("too much".utf8), early: early))
        let pieces = Pieces<Bytes> { _ in
            await Task.yield()
            return Bytes(pattern(10_000))
        }
        let request = put(server, .stream { pieces })
        let response = try await Agent().send(request)
        #expect(response.status == 413)
        #expect(response.bytes == Bytes(Array("too much".utf8)))
        // At most one more piece was requested.
        let asked = pieces.asked.value
        try await server.waitForSilence()
        #expect(pieces.asked.value <= asked + 1)
    }

    /// The response is complete, and the sequence never continues, so the call must not wait for it.
    @Test(arguments: [200, 413], [nil, 100_000])
    func earlyResponseReachesTheCaller(status: UInt16, length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: status, body: Array("enough".utf8), early: .discard))
        let stuck = Stuck()
        let response = try await Agent().send(put(server, .stream(length: length) { stuck.pieces }))
        #expect(response.status == Int(status))
        #expect(response.bytes == Bytes(Array("enough".utf8)))
        try await server.waitForSilence()
        stuck.end()
    }

    // MARK: Sending again

    @Test(arguments: [307, 308], [nil, 300_000])
    func redirectThatKeepsTheBodyRestartsTheSequence(status: UInt16, length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there", status: status))
        server.script("/there", .echo)
        let made = Counter()
        let body = Body.stream(length: length) {
            made.increment()
            return Pieces<Bytes> { $0 < 3 ? Bytes(pattern(100_000, from: $0 * 100_000)) : nil }
        }
        var check = PatternCheck()
        check.take(try await Agent().send(put(server, body)).bytes)
        #expect(check.count == 300_000 && check.isPattern)
        #expect(made.value == 2)
    }

    @Test(arguments: [307, 308])
    func redirectThatKeepsTheBodyRestartsFilesAndReaders(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there", status: status))
        server.script("/there", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(100_000), to: "body")
        let reader = Body.pull(length: 100_000) {
            var offset = 0
            return { span in
                let bytes = pattern(min(1000, span.count, 100_000 - offset), from: offset)
                for index in bytes.indices {
                    span[index] = bytes[index]
                }
                offset += bytes.count
                return bytes.count
            }
        }
        for body in [.file(folder.file("body")), reader] {
            var check = PatternCheck()
            check.take(try await Agent().send(put(server, body)).bytes)
            #expect(check.count == 100_000 && check.isPattern)
        }
    }

    @Test(arguments: [307, 308])
    func oneShotBodyFailsOnSuchARedirect(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there", status: status))
        server.script("/there", .echo)
        let pieces = Pieces([pattern(1000)])
        let request = put(server, .once(pieces))
        let error = await #expect(throws: NetError.self) { _ = try await Agent().send(request) }
        #expect(error?.code == .notRewindable)
        #expect(server.requestCount == 1)
        // A redirect that drops the body does not read it again.
        server.script("/", .redirect(to: "/there", status: 303))
        #expect(try await Agent().send(put(server, .once(Pieces([pattern(1000)])))).status == 200)
    }

    @Test func resentOneShotSequenceErrorContainsARemedy() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let request = put(server, .once(Pieces([pattern(1000)])))
        let agents = [Agent(), Agent(transport: StubTransport { _ in .status(200) })]
        #expect(try await agents[0].send(request).status == 200)
        for agent in agents {
            let error = try await expectFailure(.notRewindable, of: request, from: agent)
            #expect(error.message.contains("was sent before") && error.message.contains("Body.stream"), "\(error)")
        }
    }

    @Test func aRedirectBeforeTheSequencesEndStopsTheFirstOne() async throws {
        let server = try LoopbackServer()
        var reply = Reply.redirect(to: "/there", status: 307)
        reply.early = .end
        server.script("/", reply)
        server.script("/there", .echo)
        let made = Counter()
        let stuck = Stuck()
        let body = Body.stream {
            made.increment() == 1 ? stuck.pieces : Pieces([Bytes(pattern(500))])
        }
        let response = try await Agent().send(put(server, body))
        #expect(response.bytes == Bytes(pattern(500)))
        stuck.end()
    }

    // MARK: Progress

    @Test(arguments: [nil, 3_000_000])
    func sequenceProgressIsReportedToTheEnd(length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let reported = Collected<TransferProgress>()
        let pieces = Pieces<Bytes> { $0 < 30 ? Bytes(pattern(100_000)) : nil }
        var request = put(server, .stream(length: length) { pieces })
        request.progress = { reported.append($0) }
        _ = try await Agent().send(request)
        let last = try #require(reported.values.last { !$0.isOver })
        #expect(last.sent == 3_000_000)
        #expect(last.sendTotal == length)
        #expect(last.bytesPerSecond > 0)
        #expect(last.timeLeft == (length == nil ? nil : .zero))
        #expect(reported.values.filter(\.isOver).count == 1)
        #expect(reported.values.last?.isOver == true)
    }

    @Test func progressContainsTheRemainingTime() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000, cutAfter: 300_000, ending: .stall))
        let reported = Collected<TransferProgress>()
        let hasHalf = Gate()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { progress in
            reported.append(progress)
            hasHalf.open()
        }
        let task = Task { [request] in try await Agent().send(request) }
        try await server.waitForStalled(1)
        try await hasHalf.opened()
        server.releaseStalled()
        _ = try await task.value
        let first = try #require(reported.values.first { $0.received > 0 })
        #expect(first.receiveTotal == 1_000_000)
        #expect(first.bytesPerSecond > 0)
        #expect(first.timeLeft != nil)
        #expect(reported.values.last { !$0.isOver }?.timeLeft == .zero)
    }

    @Test func theProgressSequenceEndsWhenASequenceFails() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let (handler, updates) = TransferProgress.stream()
        var request = put(server, .stream { Pieces<Bytes> { _ in throw CancellationError() } })
        request.progress = handler
        #expect(await ending(of: request, from: Agent()) == .failed(.bodySource))
        for await _ in updates {}
    }
}

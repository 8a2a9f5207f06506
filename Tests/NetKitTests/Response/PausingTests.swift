import NetKit
import Testing

/// Pausing one transfer by its id.
@Suite(.timeLimit(.minutes(5)))
struct PausingTests {
    private static let length = 3_000_003

    @Test(arguments: [0, 5000], [false, true])
    func pausingAndResumingLosesAndRepeatsNothing(chunkBytes: Int, isSecure: Bool) async throws {
        let server = try LoopbackServer(isSecure ? .valid : .plain)
        server.script("/", Reply(patternLength: UInt64(Self.length), chunkBytes: chunkBytes))
        let agent = isSecure ? Agent(trusting: server) : Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        var check = PatternCheck()
        for try await chunk in stream {
            check.take(chunk)
            if let transfer = agent.transfers().first {
                agent.pause(transfer.id)
                await Task.yield()
                agent.resume(transfer.id)
            }
        }
        #expect(check.count == Self.length)
        #expect(check.isPattern)
    }

    @Test func aResponseInMemoryIsPausedAndResumed() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 20_000_000))
        let agent = Agent()
        agent.suspend()
        let task = Task { try await agent.send(Request<Bytes>(server.url("/"))) }
        let pausing = Task {
            var pauses = 0
            while !Task.isCancelled {
                for transfer in agent.transfers() {
                    agent.pause(transfer.id)
                    agent.resume()  // The agent starts its transfers only now, after the first pause.
                    await Task.yield()
                    agent.resume(transfer.id)
                    pauses += 1
                }
                await Task.yield()
            }
            return pauses
        }
        var check = PatternCheck()
        check.take(try await task.value.bytes)
        pausing.cancel()
        #expect(check.count == 20_000_000 && check.isPattern)
        #expect(await pausing.value > 0)
    }

    @Test func anUploadIsPausedAndResumed() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent()
        let pieces = Pieces<Bytes> { index in
            for transfer in agent.transfers() {
                agent.pause(transfer.id)
                agent.resume(transfer.id)
            }
            return index < 100 ? Bytes(pattern(26_000)) : nil
        }
        let request = Request<Bytes>(server.url("/"), method: .put, body: .once(pieces))
        var check = PatternCheck()
        check.take(try await agent.send(request).bytes)
        #expect(check.count == 2_600_000 && check.isPattern)
    }

    /// Flow control does not undo a pause: neither a reader that catches up nor a body sequence with new data.
    @Test func pauseIsIndependentOfTheReader() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 30_000_000))
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = 100_000
        let stream = try await agent.stream(request)
        try await agent.waitUntilPausedOrOver()
        let transfer = try #require(agent.transfers().first)
        agent.pause(transfer.id)
        // Reads the buffered bytes, so that flow control no longer holds the transfer.
        var iterator = stream.makeAsyncIterator()
        var check = PatternCheck()
        while check.count < transfer.receivedBytes, let chunk = try await iterator.next() {
            check.take(chunk)
        }
        server.script("/other", .text("x"))
        _ = try await agent.send(Request<Bytes>(server.url("/other")))
        let held = try #require(agent.transfers().first { $0.id == transfer.id })
        #expect(held.isPaused)
        #expect(held.receivedBytes == transfer.receivedBytes)
        agent.resume(transfer.id)
        while let chunk = try await iterator.next() {
            check.take(chunk)
        }
        #expect(check.count == 30_000_000 && check.isPattern)
    }

    @Test func cancellingAPausedTransferEndsIt() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let transfer = try #require(agent.transfers().first)
        agent.pause(transfer.id)
        let task = Task { await failureCode { () throws(NetError) in for try await _ in stream {} } }
        while agent.transfers().first?.isPaused != true {
            await Task.yield()
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        try await server.waitForSilence()
        // The connection closes a moment before the transfer leaves the list.
        try await agent.waitUntilNothingIsInFlight()
        // Pausing an ended transfer has no effect.
        agent.pause(transfer.id)
        agent.resume(transfer.id)
        #expect(agent.transfers().isEmpty)
    }

    @Test func queuedTransferCanBePaused() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000))
        let agent = Agent()
        agent.suspend()
        let task = Task { try await agent.send(Request<Bytes>(server.url("/"))).bytes.count }
        while agent.transfers().isEmpty {
            await Task.yield()
        }
        let id = try #require(agent.transfers().first?.id)
        agent.pause(id)
        agent.resume()
        while agent.transfers().first?.state != .receiving {
            await Task.yield()
        }
        #expect(agent.transfers().first?.receivedBytes == 0)
        agent.resume(id)
        #expect(try await task.value == 100_000)
    }
}

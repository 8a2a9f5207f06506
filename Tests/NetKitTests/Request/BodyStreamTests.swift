import NetKit
import NetKitTesting
import Testing

/// Bodies that are produced or read while they are sent.
@Suite(.timeLimit(.minutes(5)))
struct BodyStreamTests {
    private static let lengths = [0, 1, 65_535, 65_536, 65_537, 8_000_003]

    private func pieces(_ length: Int, of pieceBytes: Int) -> Pieces<Bytes> {
        Pieces { index in
            let start = index * pieceBytes
            return start < length ? Bytes(pattern(min(pieceBytes, length - start), from: start)) : nil
        }
    }

    private func expectEcho(of body: Body, _ length: Int, from server: LoopbackServer) async throws {
        let request = Request<Bytes>(server.url("/"), method: .put, body: body)
        let response = try await Agent().send(request)
        var check = PatternCheck()
        check.take(response.bytes)
        #expect(check.count == length && check.isPattern)
    }

    @Test(arguments: lengths, [1000, 100_000, 1_000_000])
    func sequenceArrivesUnchanged(length: Int, pieceBytes: Int) async throws {
        if pieceBytes == 1000 && length > 1_000_000 {
            return
        }
        let server = try LoopbackServer()
        server.script("/", .echo)
        let pieces = pieces(length, of: pieceBytes)
        try await expectEcho(of: .stream(length: length) { pieces }, length, from: server)
        #expect(server.received().values(named: "Content-Length") == ["\(length)"])
        #expect(server.received().values(named: "Transfer-Encoding").isEmpty)
        server.forgetRequests()
        try await expectEcho(of: .stream { pieces }, length, from: server)
        #expect(server.received().values(named: "Content-Length").isEmpty)
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
        try await expectEcho(of: .once(pieces), length, from: server)
        try await expectEcho(of: .once(length: length, pieces), length, from: server)
    }

    @Test func arraySequencesAndSynchronousSequencesAreAccepted() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let arrays = Pieces([pattern(10), [], pattern(20, from: 10)])
        try await expectEcho(of: .stream { arrays }, 30, from: server)
        try await expectEcho(of: .once(length: 30, arrays), 30, from: server)
        let stream = AsyncStream<Bytes> { continuation in
            for start in stride(from: 0, to: 100, by: 10) {
                continuation.yield(Bytes(pattern(10, from: start)))
            }
            continuation.finish()
        }
        try await expectEcho(of: .once(stream), 100, from: server)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 1_000_003])
    func readerArrivesUnchanged(length: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let make: @Sendable () -> Body.Reader = {
            var offset = 0
            return { span in
                let count = min(span.count, length - offset, 50_000)
                let bytes = pattern(count, from: offset)
                for index in 0..<count {
                    span[index] = bytes[index]
                }
                offset += count
                return count
            }
        }
        try await expectEcho(of: .pull(length: length, make), length, from: server)
        try await expectEcho(of: .pull(make), length, from: server)
    }

    @Test(arguments: lengths)
    func fileArrivesUnchanged(length: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(length), to: "body")
        try await expectEcho(of: .file(folder.file("body"), contentType: "text/x"), length, from: server)
        #expect(server.received().values(named: "Content-Length") == ["\(length)"])
        #expect(server.received().values(named: "Content-Type") == ["text/x"])
    }

    @Test func unreadableFileErrorContainsThePath() async throws {
        let server = try LoopbackServer()
        let folder = try TemporaryFolder()
        for path in [folder.file("missing"), folder.path] {
            let request = Request<Bytes>(server.url("/"), method: .put, body: .file(path))
            let error = await #expect(throws: NetError.self) { _ = try await Agent().send(request) }
            #expect(error?.code == .file)
            #expect(error?.message.contains(path) == true)
        }
        #expect(server.connectionCount == 0)
    }

    // MARK: Wrong lengths

    @Test func aNegativeLengthIsAnErrorBeforeAnythingIsSent() async throws {
        let server = try LoopbackServer()
        for body in [
            Body.stream(length: -5) { Pieces([[1]]) }, .once(length: -1, Pieces([[1]])),
            .pull(length: -1) { { _ in 0 } },
        ] {
            let request = Request<Bytes>(server.url("/"), method: .put, body: body)
            let error = try await expectFailure(.bodyLength, of: request, from: Agent())
            #expect(error.message.contains("-"))
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [1, 10, 99_999])
    func aSequenceThatIsTooShortIsAnError(length: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let pieces = pieces(length, of: 1000)
        let request = Request<Bytes>(
            server.url("/"), method: .put, body: .stream(length: length + 1) { pieces })
        let error = await #expect(throws: NetError.self) { _ = try await Agent().send(request) }
        #expect(error?.code == .bodyLength)
        #expect(error?.message.contains("fewer than the \(length + 1) bytes") == true)
        try await server.waitForSilence()
        #expect(server.requestCount == 0)
    }

    @Test(arguments: [1, 999, 1000, 1001, 99_999])
    func aSequenceThatIsTooLongIsAnError(length: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let pieces = pieces(100_000, of: 1000)
        let request = Request<Bytes>(server.url("/"), method: .put, body: .stream(length: length) { pieces })
        let error = await #expect(throws: NetError.self) { _ = try await Agent().send(request) }
        #expect(error?.code == .bodyLength)
        #expect(error?.message.contains("more than the \(length) bytes") == true)
        try await server.waitForSilence()
        #expect(server.requestCount == 0)
    }

    /// An extra byte may come late. The server must not see a complete body before the end of the sequence is known.
    @Test func lateExtraByteIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let mayContinue = Gate()
        let pieces = Pieces<Bytes> { index in
            if index == 1 {
                try await mayContinue.opened()
            }
            return index < 2 ? Bytes(pattern(1000)) : nil
        }
        let request = Request<Bytes>(server.url("/"), method: .put, body: .stream(length: 1000) { pieces })
        let response = Task { try await Agent().send(request) }
        try await server.waitForReceivedBytes(999)
        mayContinue.open()
        let error = await #expect(throws: NetError.self) { _ = try await response.value }
        #expect(error?.code == .bodyLength)
        try await server.waitForSilence()
        #expect(server.requestCount == 0)
    }

    @Test func theLastByteWaitsForTheSequencesEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        for length in [1, 1000] {
            let mayEnd = Gate()
            let pieces = Pieces<Bytes> { index in
                if index == 1 {
                    try await mayEnd.opened()
                }
                return index < 1 ? Bytes(pattern(length)) : nil
            }
            let request = Request<Bytes>(server.url("/"), method: .put, body: .stream(length: length) { pieces })
            let response = Task { try await Agent().send(request) }
            server.forgetRequests()
            try await server.waitForReceivedBytes(length - 1)
            #expect(server.requestCount == 0)
            mayEnd.open()
            #expect(try await response.value.bytes == Bytes(pattern(length)))
        }
    }

    // MARK: Sequences that fail

    private struct Broken: Error, Equatable {
        var number = 7
    }

    @Test(arguments: [0, 1, 50], [nil, 1_000_000])
    func errorThrownByASequenceReachesTheCaller(pieceCount: Int, length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let pieces = Pieces<Bytes> { index in
            if index == pieceCount {
                throw Broken()
            }
            return Bytes(pattern(1000))
        }
        let request = Request<Bytes>(server.url("/"), method: .put, body: .stream(length: length) { pieces })
        for isStreamed in [false, true] {
            let error = await #expect(throws: NetError.self) {
                _ = isStreamed ? try await Agent().stream(request).status : try await Agent().send(request).status
            }
            #expect(error?.code == .bodySource)
            #expect(error?.underlying as? Broken == Broken())
            #expect(error?.message.contains("Broken(") == true)
        }
        try await server.waitForSilence()
        #expect(server.requestCount == 0)
    }

    @Test func errorThrownByAReaderReachesTheCaller() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        for isLate in [false, true] {
            let body = Body.pull { () throws -> Body.Reader in
                if !isLate {
                    throw Broken()
                }
                return { _ in throw Broken() }
            }
            let request = Request<Bytes>(server.url("/"), method: .put, body: body)
            let error = await #expect(throws: NetError.self) { _ = try await Agent().send(request) }
            #expect(error?.code == .bodySource)
            #expect(error?.underlying as? Broken == Broken())
            #expect(error?.message.contains("Broken(") == true)
        }
    }

    /// Holds for every reader of the body: the core, another transport, or a hook that replaces it.
    @Test(arguments: [-1, Int.min, 1 << 20, Int.max], [nil, 9])
    func readerThatReturnsAnInvalidCountFailsTheRequest(count: Int, length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = Body.pull(length: length) {
            var isFirst = true
            return { span in
                guard isFirst else { return count }
                isFirst = false
                for index in 0..<9 {
                    span[index] = 1
                }
                return 9
            }
        }
        let stub = StubTransport { _ in .status(200) }
        let retrying = StubTransport()
        retrying.register("/", with: .status(503), .status(200))
        var renewing = Agent.Configuration()
        renewing.interceptors = [Retry(time: StubTime().source)]
        renewing.interceptors.append(TransferHooks(newBody: { _, _ in body }))
        let once = Body.once(length: length, Pieces([pattern(9)]))
        for (agent, url, body) in [
            (Agent(), server.url("/"), body), (Agent(transport: stub), "http://stub/", body),
            (Agent(renewing, transport: retrying), "http://stub/", once),
        ] {
            let request = Request<Bytes>(url, method: .put, body: body)
            let error = try await expectFailure(.bodySource, of: request, from: agent)
            #expect(error.message.hasPrefix("the reader of the body returned \(count), not 0 to "))
        }
    }

    // MARK: Backpressure

    @Test func aSequenceWaitsWhileTheServerDoesNotRead() async throws {
        let server = try LoopbackServer(receiveBufferBytes: 65_536)
        // The response is incomplete, because a complete one would end the transfer.
        var reply = Reply(cutAfter: 10)
        reply.early = .stop
        server.script("/", reply)
        let pieces = Pieces<Bytes> { $0 < 1000 ? Bytes(pattern(100_000)) : nil }
        var request = Request<Bytes>(server.url("/"), method: .put, body: .stream { pieces })
        request.limits = .streaming
        request.limits.idle = .seconds(1)
        let task = Task { [request] in await ending(of: request, from: Agent()) }
        try await server.waitForStalled(1)
        // When the kernel's buffers and the queue of pieces are full, no further piece is requested. After one second
        // the idle limit ends the request.
        #expect(await task.value == .failed(.idleTimeout))
        #expect((1..<200).contains(pieces.asked.value))
        server.releaseStalled()
        try await server.waitForSilence()
    }
}

import NetKit
import Testing

/// Bodies that are made while they are sent.
@Suite(.timeLimit(.minutes(1)))
struct BodyStreamTests {
    private struct Broken: Error {}

    private func send(_ body: Body, to path: String, on server: LoopbackServer) async throws -> Response<Bytes> {
        var request = Request<Bytes>(server.url(path), method: .post, body: body)
        request.limits = Limits()
        request.limits?.total = .seconds(30)
        return try await Agent().send(request)
    }

    @Test func aSequenceOfKnownLengthIsSentWithItsLength() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = Body.stream(length: 7, contentType: "text/x") {
            Pieces([Bytes(Array("hello".utf8)), [], [0, 255]])
        }
        let response = try await send(body, to: "/", on: server)
        #expect(Array(response.bytes) == Array("hello".utf8) + [0, 255])
        let received = server.received()
        #expect(received.values(named: "Content-Length") == ["7"])
        #expect(received.values(named: "Transfer-Encoding").isEmpty)
        #expect(received.values(named: "Content-Type") == ["text/x"])
    }

    @Test func aSequenceOfUnknownLengthIsSentChunked() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let response = try await send(.stream { Pieces([[1, 2], [3]] as [[UInt8]]) }, to: "/", on: server)
        #expect(Array(response.bytes) == [1, 2, 3])
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
        #expect(server.received().values(named: "Content-Length").isEmpty)
    }

    @Test func anEmptySequenceIsAnEmptyBody() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let response = try await send(.stream(length: 0) { Pieces([] as [Bytes]) }, to: "/", on: server)
        #expect(response.bytes.isEmpty)
        let chunked = try await send(.stream { Pieces([] as [Bytes]) }, to: "/", on: server)
        #expect(chunked.bytes.isEmpty)
    }

    @Test(arguments: [1, 1000, 100_000, 1 << 20])
    func aLongSequenceArrivesWholeWhateverItsPieces(size: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let total = size == 1 ? 20_000 : 3_000_000
        let body = Body.stream(length: total) {
            Pieces<[UInt8]> { index in
                let start = index * size
                return start < total ? pattern(min(size, total - start), from: start) : nil
            }
        }
        let response = try await send(body, to: "/", on: server)
        #expect(Array(response.bytes) == pattern(total))
    }

    @Test func aSequenceThatIsSlowHoldsTheRequestUp() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let gate = Gate()
        let body = Body.stream {
            Pieces<Bytes> { index in
                if index == 1 {
                    try await gate.opened()
                }
                return index < 3 ? [UInt8(index)] : nil
            }
        }
        async let response = send(body, to: "/", on: server)
        try await server.waitForReceivedBytes(1)
        gate.open()
        #expect(Array(try await response.bytes) == [0, 1, 2])
    }

    @Test func aServerThatDoesNotReadHoldsTheSequenceUp() async throws {
        let server = try LoopbackServer(receiveBufferBytes: 4096)
        server.script("/", Reply(cutAfter: 0, ending: .stall, early: .stop))
        let pieces = Pieces<[UInt8]> { $0 < 4096 ? [UInt8](repeating: 0, count: 64 << 10) : nil }
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"), method: .post, body: .stream { pieces })
        let task = Task { await ending(of: request, from: agent) }
        try await server.waitForStalled(1)
        // What the kernel holds (6 MiB at most here) and 256 KiB, of 256 MiB.
        var before = -1
        while before != pieces.asked.value {
            before = pieces.asked.value
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before < 256)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
    }

    @Test(arguments: [307, 308] as [UInt16])
    func aRedirectMakesTheSequenceAnew(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/there", status: status))
        server.script("/there", .echo)
        let made = Counter()
        let body = Body.stream(length: 400_000) {
            made.increment()
            return Pieces((0..<4).map { pattern(100_000, from: $0 * 100_000) })
        }
        let response = try await send(body, to: "/", on: server)
        #expect(Array(response.bytes) == pattern(400_000))
        #expect(made.value == 2)
    }

    @Test func aSequenceThatIsReadOnceIsSentOnce() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        server.script("/moved", .redirect(to: "/", status: 307))
        let response = try await send(.once(Pieces([[1], [2]] as [[UInt8]])), to: "/", on: server)
        #expect(Array(response.bytes) == [1, 2])
        #expect(Array(try await send(.once(length: 1, Pieces([[9]] as [Bytes])), to: "/", on: server).bytes) == [9])
        let request = Request<Bytes>(
            server.url("/moved"), method: .post, body: .once(length: 2, Pieces([[1], [2]] as [Bytes])))
        try await expectFailure(.notRewindable, of: request)
    }

    @Test(arguments: [nil, 10] as [Int?])
    func whatTheSequenceThrowsEndsTheRequest(length: Int?) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = Body.stream(length: length) {
            Pieces<Bytes> { index in
                if index == 1 {
                    throw Broken()
                }
                return [1]
            }
        }
        let error = try await expectFailure(
            .bodySource, of: Request<Bytes>(server.url("/"), method: .post, body: body))
        #expect(error.underlying is Broken)
        try await server.waitForSilence()
        #expect(server.requestCount == 0)
    }

    @Test(arguments: [1, 3])
    func aWrongLengthIsAnError(length: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = Body.stream(length: length) { Pieces([[1, 2]] as [Bytes]) }
        try await expectFailure(.bodyLength, of: Request<Bytes>(server.url("/"), method: .post, body: body))
    }

    @Test func aCancelledRequestCancelsItsSequence() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let cancelled = Gate()
        let body = Body.stream {
            Pieces<Bytes> { index in
                if index == 0 {
                    return [1]
                }
                await withTaskCancellationHandler {
                    try? await Task.sleep(for: .seconds(600))
                } onCancel: {
                    cancelled.open()
                }
                return nil
            }
        }
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        let task = Task { await ending(of: request, from: agent) }
        try await server.waitForReceivedBytes(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        try await cancelled.opened()
    }

    @Test func aReplyBeforeTheBodyIsOverCancelsItsSequence() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 413, early: .end))
        let cancelled = Gate()
        let body = Body.stream {
            Pieces<[UInt8]> { _ in
                await withTaskCancellationHandler {
                    try? await Task.sleep(for: .milliseconds(1))
                } onCancel: {
                    cancelled.open()
                }
                return [1]
            }
        }
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"), method: .post, body: body)
        _ = await ending(of: request, from: agent)
        try await cancelled.opened()
    }

    @Test func aReaderFillsWhatItIsGiven() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        server.script("/moved", .redirect(to: "/", status: 308))
        let made = Counter()
        let body = Body.pull(length: 500_000) {
            made.increment()
            var sent = 0
            return { memory in
                let count = min(memory.count, 500_000 - sent)
                for index in 0..<count {
                    memory[index] = UInt8(ascii: "a") + UInt8((sent + index) % 26)
                }
                sent += count
                return count
            }
        }
        #expect(Array(try await send(body, to: "/", on: server).bytes) == pattern(500_000))
        #expect(made.value == 1)
        #expect(Array(try await send(body, to: "/moved", on: server).bytes) == pattern(500_000))
        #expect(made.value == 3)
    }

    @Test func aReaderOfUnknownLengthIsSentChunked() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let body = Body.pull {
            var left = 3
            return { memory in
                guard left > 0 else { return 0 }
                left -= 1
                memory[0] = UInt8(left)
                return 1
            }
        }
        #expect(Array(try await send(body, to: "/", on: server).bytes) == [2, 1, 0])
        #expect(server.received().values(named: "Transfer-Encoding") == ["chunked"])
    }

    @Test func whatAReaderThrowsEndsTheRequest() async throws {
        let server = try LoopbackServer()
        let late = Body.pull { { _ in throw Broken() } }
        let early = Body.pull { throw Broken() }
        for body in [late, early] {
            let error = try await expectFailure(
                .bodySource, of: Request<Bytes>(server.url("/"), method: .post, body: body))
            #expect(error.underlying is Broken)
        }
    }

    @Test func aFileIsSentAsItIs() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        server.script("/moved", .redirect(to: "/", status: 307))
        let folder = try TemporaryFolder()
        let content = pattern(1_234_567)
        try folder.write(content, to: "body")
        for path in ["/", "/moved"] {
            let response = try await send(.file(folder.file("body"), contentType: "text/x"), to: path, on: server)
            #expect(Array(response.bytes) == content)
        }
        #expect(server.received().values(named: "Content-Length") == ["1234567"])
        #expect(server.received().values(named: "Content-Type") == ["text/x"])
    }

    @Test func aFileThatIsNotThereIsAnError() async throws {
        let folder = try TemporaryFolder()
        let missing = Request<Bytes>("http://127.0.0.1:9/", method: .post, body: .file(folder.file("missing")))
        try await expectFailure(.file, of: missing)
        try await expectFailure(.usage, of: Request<Bytes>("http://127.0.0.1:9/", method: .post, body: .file("")))
    }

    @Test func aBodyThatIsMadeHasSevenDays() async throws {
        let transport = StubTransport { _ throws(NetError) in Response(status: 200) }
        let agent = Agent(transport: transport)
        _ = try await agent.send(Request<Bytes>("http://h/", body: .file("/x")))
        _ = try await agent.send(Request<Bytes>("http://h/", body: .text("x")))
        #expect(transport.requests[0].limits?.total == .seconds(7 * 86_400))
        #expect(transport.requests[1].limits?.total == .seconds(300))
    }
}

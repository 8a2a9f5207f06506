import NetKit
import Testing

/// Bodies that are read while they come.
@Suite(.timeLimit(.minutes(1)))
struct ResponseStreamTests {
    @Test func theHeadIsThereBeforeTheBody() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["X: 1"], patternLength: 1000, cutAfter: 100, ending: .stall))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/", userinfo: "me:secret")))
        #expect(stream.status == 200)
        #expect(stream.headers["x"] == "1")
        #expect(stream.httpVersion == .http1_1)
        #expect(stream.url == server.url("/"))
        #expect(stream.metrics.isEmpty)
        try await server.waitForStalled(1)
        server.releaseStalled()
        #expect(Array(try await stream.collect(upTo: 1000)) == pattern(1000))
        #expect(stream.metrics.count == 1)
    }

    @Test(arguments: [0, 1, 100_000, 10_000_000] as [UInt64], [0, 999])
    func everyByteComesOnceAndInOrder(length: UInt64, chunkBytes: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: length, chunkBytes: chunkBytes))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var count = 0
        for try await chunk in stream {
            #expect(!chunk.isEmpty)
            chunk.withSpan { span in
                let isInOrder = span.indices.allSatisfy { span[$0] == UInt8(ascii: "a") + UInt8((count + $0) % 26) }
                #expect(isInOrder)
            }
            count += chunk.count
        }
        #expect(count == Int(length))
        #expect(stream.metrics.last?.decodedBytes == Int(length))
    }

    @Test func chunksThatAreKeptKeepTheirBytes() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5_000_000))
        var kept: [Bytes] = []
        for try await chunk in try await Agent().stream(Request<Bytes>(server.url("/"))) {
            kept.append(chunk)
        }
        #expect(kept.flatMap { Array($0) } == pattern(5_000_000))
    }

    @Test func anyStatusIsAnAnswer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 500, body: Array("oh".utf8)))
        server.script("/empty", Reply(status: 204))
        let agent = Agent()
        let failed = try await agent.stream(Request<String>(server.url("/")))
        #expect(failed.status == 500)
        #expect(Array(try await failed.collect(upTo: 10)) == Array("oh".utf8))
        let empty = try await agent.stream(Request<Bytes>(server.url("/empty")))
        #expect(empty.status == 204)
        #expect(try await empty.collect(upTo: 0).isEmpty)
    }

    @Test func aRedirectsBodyIsNotTheStreams() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 302, body: pattern(50_000), location: "/there"))
        server.script("/there", .text("there"))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        #expect(stream.url == server.url("/there"))
        #expect(Array(try await stream.collect(upTo: 10)) == Array("there".utf8))
        #expect(stream.metrics.count == 2)
    }

    @Test func trailersComeWithTheEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 10, chunkBytes: 5, trailers: ["X-Sum: 7"]))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        _ = try await stream.collect(upTo: 10)
        #expect(stream.trailers == ["X-Sum": "7"])
        #expect(stream.headers["X-Sum"] == nil)
        let response = try await agent.send(Request<Bytes>(server.url("/")))
        #expect(response.trailers == ["X-Sum": "7"])
        #expect(response.headers["X-Sum"] == nil)
    }

    @Test func aBodyUntilTheConnectionsEndIsKnownAsOne() async throws {
        let server = try LoopbackServer()
        server.script("/close", .raw("HTTP/1.1 200 OK\r\n\r\nto the end"))
        server.script("/length", .text("x"))
        let agent = Agent()
        for (path, expected) in [("/close", true), ("/length", false)] {
            let stream = try await agent.stream(Request<Bytes>(server.url(path)))
            _ = try await stream.collect(upTo: 100)
            #expect(stream.isCloseDelimited == expected)
            #expect(try await agent.send(Request<Bytes>(server.url(path))).isCloseDelimited == expected)
        }
    }

    @Test func aSlowReaderHoldsTheServerUp() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 64 << 20))
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = 100_000
        request.acceptsCodings = false
        let stream = try await agent.stream(request)
        var before = -1
        // Nobody reads: what has come stays where it is.
        while before != agent.transfers().first?.receivedBytes || before <= 0 {
            before = agent.transfers().first?.receivedBytes ?? 0
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(before < 2 << 20)
        var count = 0
        for try await chunk in stream {
            count += chunk.count
        }
        #expect(count == 64 << 20)
    }

    @Test func aCutBodyGivesWhatCameThenTheError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000, cutAfter: 50_000, ending: .close))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var count = 0
        let error = await #expect(throws: NetError.self) {
            for try await chunk in stream {
                count += chunk.count
            }
        }
        #expect(error?.code == .cutShort)
        #expect(error?.response?.status == 200)
        #expect(count > 40_000 && count < 50_000)
    }

    @Test func aFailureBeforeTheHeadIsThrownAtOnce() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let agent = Agent()
        let request = Request<Bytes>("http://127.0.0.1:\(port.number)/")
        let error = await #expect(throws: NetError.self) { _ = try await agent.stream(request) }
        #expect(error?.code == .refused)
        let malformed = await #expect(throws: NetError.self) {
            _ = try await agent.stream(Request<Bytes>("http://a b/"))
        }
        #expect(malformed?.code == .badURL)
    }

    @Test func lettingTheStreamGoCancelsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        do {
            let stream = try await agent.stream(Request<Bytes>(server.url("/")))
            #expect(stream.status == 200)
        }
        try await server.waitForSilence()
        #expect(agent.transfers().isEmpty)
    }

    @Test func leavingTheLoopCancelsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        for try await chunk in stream where chunk.count > 0 {
            break
        }
        try await server.waitForSilence()
        #expect(stream.status == 200)
        // It was read once.
        let error = await #expect(throws: NetError.self) { for try await _ in stream {} }
        #expect(error?.code == .usage)
    }

    @Test func cancellingTheReaderCancelsTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, cutAfter: 500, ending: .stall))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let task = Task { () -> NetError.Code? in
            do throws(NetError) {
                let stream = try await agent.stream(request)
                for try await _ in stream {}
                return nil
            } catch {
                return error.code
            }
        }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(await task.value == .cancelled)
        try await server.waitForSilence()
    }

    @Test func cancellingWhileTheHeadIsAwaitedEndsIt() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        for round in 0..<300 {
            let task = Task { () -> NetError.Code? in
                do throws(NetError) {
                    _ = try await agent.stream(request)
                    return nil
                } catch {
                    return error.code
                }
            }
            for _ in 0..<(round % 5) {
                await Task.yield()
            }
            task.cancel()
            try #require(await task.value == .cancelled)
        }
        try await server.waitForSilence()
    }

    @Test func aCancelThatRacesTheBodyDecidesOnce() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 300_000))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let task = Task { () -> Result<Int, NetError> in
                do throws(NetError) {
                    return .success(try await agent.stream(request).collect(upTo: 1 << 20).count)
                } catch {
                    return .failure(error)
                }
            }
            for _ in 0..<Int.random(in: 0..<200, using: &random) {
                await Task.yield()
            }
            task.cancel()
            switch await task.value {
            case .success(let count): #expect(count == 300_000)
            case .failure(let error): #expect(error.code == .cancelled)
            }
        }
    }

    @Test func aStreamOutlivesItsAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        #expect(try await stream.collect(upTo: 3_000_000).count == 3_000_000)
    }

    @Test func aStreamIsReadOnTheLoopThreadToo() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let count = try await withTaskExecutorPreference(agent.executor) {
            try await agent.stream(request).collect(upTo: 3_000_000).count
        }
        #expect(count == 3_000_000)
    }

    @Test func manyStreamsAtOnceDoNotMix() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000))
        let agent = Agent()
        let request = Request<Bytes>(server.url("/"))
        let expected = pattern(1_000_000)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { Array(try await agent.stream(request).collect(upTo: 1_000_000)) == expected }
            }
            for try await isWhole in group {
                #expect(isWhole)
            }
        }
    }

    @Test func collectingTooMuchIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_001))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let error = await #expect(throws: NetError.self) { _ = try await stream.collect(upTo: 1_000_000) }
        #expect(error?.code == .bodyTooLarge)
        let other = try await agent.stream(Request<Bytes>(server.url("/")))
        #expect(try await other.collect(upTo: 1_000_001).count == 1_000_001)
    }

    @Test func streamsHaveLimitsOfTheirOwn() async throws {
        let transport = StubTransport { _ throws(NetError) in Response(status: 200) }
        var configuration = Agent.Configuration()
        let agent = Agent(configuration, transport: transport)
        _ = try await agent.stream(Request<Bytes>("http://h/"))
        configuration.streamLimits.total = .seconds(5)
        _ = try await Agent(configuration, transport: transport).stream(Request<Bytes>("http://h/"))
        var request = Request<Bytes>("http://h/")
        request.limits = Limits()
        _ = try await agent.stream(request)
        #expect(transport.requests[0].limits == .streaming)
        #expect(transport.requests[0].limits?.total == .seconds(7 * 86_400))
        #expect(transport.requests[0].limits?.maxBodyBytes == nil)
        #expect(transport.requests[1].limits?.total == .seconds(5))
        #expect(transport.requests[2].limits == Limits())
    }

    @Test func aBodyBeyondItsLimitIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, chunkBytes: 100))
        var request = Request<Bytes>(server.url("/"))
        request.limits = .streaming
        request.limits?.maxBodyBytes = 500
        let agent = Agent()
        let stream = try await agent.stream(request)
        let error = await #expect(throws: NetError.self) { _ = try await stream.collect(upTo: 1 << 20) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func aStubsResponseIsAStreamOfOnePiece() async throws {
        let agent = Agent(
            transport: StubTransport { _ throws(NetError) in
                Response(status: 201, headers: ["X": "1"], bytes: [1, 2, 3])
            })
        let stream = try await agent.stream(Request<Bytes>("http://h/"))
        #expect(stream.status == 201)
        #expect(stream.headers == ["X": "1"])
        #expect(try await stream.collect(upTo: 3) == [1, 2, 3])
    }

    @Test func aStubMakesStreamsOfItsOwn() async throws {
        struct Broken: Error {}
        let pieces = Pieces<Bytes> { index in
            if index == 2 {
                throw Broken()
            }
            return [UInt8(index)]
        }
        let stream = ResponseStream(status: 200, url: "http://h/", chunks: pieces)
        var bytes: [UInt8] = []
        let error = await #expect(throws: NetError.self) {
            for try await chunk in stream {
                bytes += chunk
            }
        }
        #expect(bytes == [0, 1])
        #expect(error?.code == .receive)
        #expect(error?.underlying is Broken)
        let whole = ResponseStream(status: 200, trailers: ["X": "1"], chunks: Pieces([[1]] as [Bytes]))
        #expect(whole.trailers.isEmpty)
        #expect(try await whole.collect(upTo: 1) == [1])
        #expect(whole.trailers == ["X": "1"])
    }
}

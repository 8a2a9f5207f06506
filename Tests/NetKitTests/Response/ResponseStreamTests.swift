import NetKit
import Testing

/// Streamed bodies arrive unchanged, for every length, framing and way of reading.
@Suite(.timeLimit(.minutes(5)))
struct ResponseStreamTests {
    private static let lengths: [UInt64] = [0, 1, 65_535, 65_536, 65_537, 262_144, 20_000_003]

    @Test(arguments: lengths, [0, 1000])
    func streamDeliversTheSentBytes(length: UInt64, chunkBytes: Int) async throws {
        let server = try LoopbackServer()
        var reply = Reply(headers: ["X-Name: value"], patternLength: length)
        reply.chunkBytes = length > 1_000_000 ? chunkBytes * 100 : chunkBytes
        server.script("/body", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/body")))
        #expect(stream.status == 200)
        #expect(stream.headers["x-name"] == "value")
        #expect(stream.httpVersion == .http1_1)
        #expect(stream.url == server.url("/body"))
        let check = try await stream.checked()
        #expect(check.count == Int(length))
        #expect(check.isPattern)
        #expect(stream.metrics.last?.decodedBytes == Int(length))
        #expect(!stream.isCloseDelimited)
    }

    /// The reader takes a piece only when the buffer is full.
    @Test(arguments: [1, 4096, 100_000, 1 << 20])
    func aSlowReaderGetsTheSameBytes(bufferBytes: Int) async throws {
        let server = try LoopbackServer()
        let length = bufferBytes < 10_000 ? 1_000_003 : 20_000_003
        server.script("/", Reply(patternLength: UInt64(length)))
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = bufferBytes
        let stream = try await agent.stream(request)
        var check = PatternCheck()
        for try await chunk in stream {
            check.take(chunk)
            if check.count < length / 2 {
                try await agent.waitUntilPausedOrOver()
            }
        }
        #expect(check.count == length)
        #expect(check.isPattern)
    }

    @Test func concurrentStreamsDoNotMixBytes() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_001))
        let agent = Agent()
        let checks = try await withThrowingTaskGroup(of: PatternCheck.self) { group in
            for index in 0..<20 {
                group.addTask {
                    var request = Request<Bytes>(server.url("/"))
                    request.streamBufferBytes = 1 << (4 + index)
                    return try await agent.stream(request).checked()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(checks.count == 20)
        #expect(checks.allSatisfy { $0.count == 3_000_001 && $0.isPattern })
    }

    @Test func taskOnTheEventLoopCanReadAStream() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5_000_000))
        let agent = Agent()
        let check = try await withTaskExecutorPreference(agent.executor) {
            try await agent.stream(Request<Bytes>(server.url("/"))).checked()
        }
        #expect(check.count == 5_000_000)
        #expect(check.isPattern)
    }

    @Test func streamOverTLSDeliversTheSentBytes() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", Reply(patternLength: 5_000_003, chunkBytes: 70_000))
        let agent = Agent(trusting: server)
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = 1
        let check = try await agent.stream(request).checked()
        #expect(check.count == 5_000_003)
        #expect(check.isPattern)
    }

    @Test func bytesAreDeliveredAsTheyArrive() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
        var reply = Reply.raw("\(head)abcdef")
        reply.cutAfter = UInt64(head.utf8.count + 2)
        reply.ending = .stall
        server.script("/", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Bytes(Array("ab".utf8)))
        try await server.waitForStalled(1)
        server.releaseStalled()
        var rest: [UInt8] = []
        while let chunk = try await iterator.next() {
            rest.append(contentsOf: chunk)
        }
        #expect(rest == Array("cdef".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test func trailersAreAvailableAfterTheEnd() async throws {
        let server = try LoopbackServer()
        var reply = Reply(patternLength: 100, chunkBytes: 10)
        reply.trailers = ["X-Sum: 1", "X-Sum: 2"]
        reply.cutAfter = 150
        reply.ending = .stall
        server.script("/", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var iterator = stream.makeAsyncIterator()
        try await server.waitForStalled(1)
        #expect(try await iterator.next() != nil)
        #expect(stream.trailers.isEmpty)
        #expect(stream.metrics.last?.ended == nil)
        server.releaseStalled()
        while try await iterator.next() != nil {}
        #expect(stream.trailers.filter { $0.name == "X-Sum" }.map(\.value) == ["1", "2"])
        #expect(stream.headers["X-Sum"] == nil)
    }

    @Test func bodyEndedByConnectionCloseIsMarked() async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("HTTP/1.1 200 OK\r\n\r\nall there is"))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        #expect(try await stream.collect(upTo: 100) == Bytes(Array("all there is".utf8)))
        #expect(stream.isCloseDelimited)
    }

    @Test(arguments: [200, 404, 500])
    func streamOfBytesAcceptsEveryStatus(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: status, body: Array("text".utf8)))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        #expect(stream.status == Int(status))
        #expect(try await stream.collect(upTo: 4) == Bytes(Array("text".utf8)))
    }

    @Test func collectingStopsAtItsLimit() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        let error = await #expect(throws: NetError.self) { _ = try await stream.collect(upTo: 1_000_000) }
        #expect(error?.code == .bodyTooLarge)
        try await server.waitForSilence()
        #expect(stream.status == 200)
    }

    @Test func aSecondIteratorIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var first = stream.makeAsyncIterator()
        var second = stream.makeAsyncIterator()
        do {
            _ = try await second.next()
            Issue.record("no error")
        } catch {
            #expect(error.code == .usage)
        }
        #expect(try await second.next() == nil)
        // The first reader is not affected.
        var count = 0
        while let chunk = try await first.next() {
            count += chunk.count
        }
        #expect(count == 100)
    }

    @Test func redirectsAreFollowedBeforeTheHead() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 302, patternLength: 100_000, location: "/there"))
        server.script("/there", Reply(patternLength: 100_000))
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        #expect(stream.status == 200)
        #expect(stream.url == server.url("/there"))
        let check = try await stream.checked()
        #expect(check.count == 100_000)
        #expect(check.isPattern)
        #expect(stream.metrics.count == 2)
    }
}

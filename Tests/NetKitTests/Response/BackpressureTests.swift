import NetKit
import Testing

/// A slow reader, for which the server must wait.
@Suite(.timeLimit(.minutes(5)))
struct BackpressureTests {
    /// The number of bytes that the engine may buffer beyond `streamBufferBytes`: the last piece, which can be as large as
    /// libcurl's buffer.
    private static let slack = 512 << 10

    @Test(arguments: [1, 64 << 10, 256 << 10, 3 << 20])
    func unreadStreamPausesTheServer(bufferBytes: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = bufferBytes
        let stream = try await agent.stream(request)
        try await agent.waitUntilPausedOrOver()
        let before = try #require(agent.transfers().first)
        #expect(before.state == .receiving)
        #expect((bufferBytes...bufferBytes + Self.slack).contains(before.receivedBytes))
        // While this transfer is paused, others continue.
        server.script("/other", Reply(patternLength: 5_000_000))
        #expect(try await agent.send(Request<Bytes>(server.url("/other"))).bytes.count == 5_000_000)
        let after = try #require(agent.transfers().first { $0.id == before.id })
        #expect(after.isPaused)
        #expect(after.receivedBytes == before.receivedBytes)
        withExtendedLifetime(stream) {}
    }

    @Test func aStreamIsReadInBoundedMemory() async throws {
        let server = try LoopbackServer()
        let length = 100_000_000
        server.script("/", Reply(patternLength: UInt64(length)))
        let agent = Agent()
        var request = Request<Bytes>(server.url("/"))
        request.streamBufferBytes = 100_000
        let stream = try await agent.stream(request)
        var check = PatternCheck()
        var mostAhead = 0
        for try await chunk in stream {
            check.take(chunk)
            if let transfer = agent.transfers().first {
                mostAhead = max(mostAhead, transfer.receivedBytes - check.count)
            }
        }
        #expect(check.count == length && check.isPattern)
        #expect(mostAhead <= 100_000 + Self.slack)
    }
}

import NetKit
import Testing

/// Properties of a stream before its body has arrived.
@Suite(.timeLimit(.minutes(5)))
struct StreamHeadTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/", Reply(body: Array("late".utf8), cutAfter: 38 + 2, ending: .stall))
        server.script("/a", Reply(status: 301, headers: ["X-Way: first"], location: "/b"))
        server.script("/b", Reply(status: 302, headers: ["X-Way: second"], location: "/"))
    }

    @Test func metricsSoFarAreReportedWithTheHead() async throws {
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        let hop = try #require(stream.metrics.first)
        #expect(stream.metrics.count == 1)
        #expect(hop.status == 200 && hop.httpVersion == .http1_1)
        #expect(hop.remoteAddress == "127.0.0.1" && hop.remotePort == server.port)
        #expect(hop.connectionsOpened == 1 && hop.connectionID == 1 && !hop.isReused)
        let moments = [hop.started, hop.resolved, hop.connected, hop.ready, hop.firstByte].compactMap { $0 }
        #expect(moments.count == 5 && moments == moments.sorted())
        #expect(hop.ended == nil)
        try await server.waitForStalled(1)
        server.releaseStalled()
        #expect(try await stream.collect(upTo: 100).count == 4)
        #expect(try #require(stream.metrics.first?.ended) >= moments[4])
        #expect(stream.metrics.first?.receivedBytes == 4)
        #expect(stream.earlierHeads.isEmpty)
    }

    @Test func headsOfFollowedRedirectsAreRecorded() async throws {
        let stream = try await Agent().stream(Request<Bytes>(server.url("/a")))
        #expect(stream.earlierHeads.map(\.status) == [301, 302])
        #expect(stream.earlierHeads.map { $0.headers["X-Way"] } == ["first", "second"])
        #expect(stream.earlierHeads.map(\.url) == [server.url("/a"), server.url("/b")])
        #expect(stream.headers["X-Way"] == nil && stream.url == server.url("/"))
        #expect(stream.metrics.map(\.status) == [301, 302, 200])
        #expect(stream.metrics.map { $0.ended == nil } == [false, false, true])
    }
}

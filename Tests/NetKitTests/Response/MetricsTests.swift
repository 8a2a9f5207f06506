import NetKit
import Testing

struct MetricsTests {
    @Test func aHopTellsItsMomentsInOrder() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", Reply(patternLength: 3000))
        let agent = Agent(trusting: server)
        let response = try await agent.send(Request<Bytes>(server.url("/"), method: .post, body: .text("12345")))
        let hop = try #require(response.metrics.first)
        #expect(response.metrics.count == 1)
        let moments = [
            hop.started, hop.resolved, hop.connected, hop.secured, hop.ready, hop.firstByte, hop.ended,
        ].compactMap { $0 }
        #expect(moments.count == 7)
        #expect(moments == moments.sorted())
        #expect(moments.allSatisfy { $0 > .zero })
        #expect(hop.remoteAddress == "127.0.0.1")
        #expect(hop.remotePort == server.port)
        #expect(hop.connectionsOpened == 1)
        #expect(!hop.isReused)
        #expect(hop.status == 200)
        #expect(hop.httpVersion == .http1_1)
        #expect(hop.url == server.url("/"))
        #expect(hop.sentBytes == server.receivedBytes(0).count)
        #expect(hop.receivedBytes == 3000)
        #expect(hop.decodedBytes == 3000)
        #expect(hop.headBytes == "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n".utf8.count)
    }

    @Test func aReusedConnectionOpensNone() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply.text("x"))
        let agent = Agent()
        let first = try await agent.send(Request<Void>(server.url("/"))).metrics
        let second = try await agent.send(Request<Void>(server.url("/"))).metrics
        #expect(first.map(\.isReused) == [false])
        #expect(first.map(\.connectionsOpened) == [1])
        #expect(second.map(\.isReused) == [true])
        #expect(second.map(\.connectionsOpened) == [0])
        #expect(second[0].secured == nil)
        #expect(server.connectionCount == 1)
    }

    @Test func eachRedirectIsAHop() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b?x=1"))
        server.script("/b", .redirect(to: "/c", status: 307))
        server.script("/c", Reply.text("end"))
        let response = try await Agent().send(Request<String>(server.url("/a")))
        #expect(response.metrics.map(\.url) == ["/a", "/b?x=1", "/c"].map { server.url($0) })
        #expect(response.metrics.map(\.status) == [302, 307, 200])
        #expect(response.metrics.map(\.isReused) == [false, true, true])
        let ends = response.metrics.compactMap(\.ended)
        #expect(ends.count == 3)
        #expect(ends == ends.sorted())
    }

    @Test func aFailureTellsNoResponseWhenNoHeadCame() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 9, cutAfter: 0, ending: .close))
        let error = await #expect(throws: NetError.self) { try await Agent().send(Request<Bytes>(server.url("/"))) }
        #expect(error?.code == .emptyReply)
        #expect(error?.response == nil)
    }

    @Test func aFailureInTheBodyTellsWhatCame() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 26\r\n\r\n"
        server.script("/", .raw("\(head)abc"))
        let error = await #expect(throws: NetError.self) { try await Agent().send(Request<[Int]>(server.url("/"))) }
        #expect(error?.code == .cutShort)
        #expect(error?.response?.status == 200)
        #expect(error?.response?.headers["x"] == "1")
        #expect(error?.response?.bytes == Bytes(Array("abc".utf8)))
        #expect(error?.response?.metrics.first?.receivedBytes == 3)
        #expect(error?.response?.url == server.url("/"))
    }
}

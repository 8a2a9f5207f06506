import NetKit
import Testing

struct MetricsTests {
    @Test func hopTimestampsAreInOrder() async throws {
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

    @Test func durationsAreSumsOfTheHopsAndTimesSinceTheSubmission() {
        var first = HopMetrics()
        first.started = .milliseconds(10)
        first.resolved = .milliseconds(15)
        first.connected = .milliseconds(27)
        first.secured = .milliseconds(57)
        first.firstByte = .milliseconds(60)
        first.ended = .milliseconds(70)
        var second = HopMetrics()
        second.started = .milliseconds(70)
        second.connected = .milliseconds(74)
        second.firstByte = .milliseconds(80)
        second.ended = .milliseconds(90)
        var reused = HopMetrics()
        reused.started = .milliseconds(90)
        reused.firstByte = .milliseconds(95)
        reused.ended = .milliseconds(99)
        let metrics = Metrics([first, second, reused])
        #expect(metrics.dns == .milliseconds(5) && metrics.connect == .milliseconds(12 + 4))
        #expect(metrics.tls == .milliseconds(30))
        #expect(metrics.firstByte == .milliseconds(95) && metrics.total == .milliseconds(99))
        let again = Metrics([reused])
        #expect(again.dns == nil && again.connect == nil && again.tls == nil)
        #expect(Metrics().total == nil)
    }

    @Test func malformedFieldIsDroppedAndCountedOrRejected() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["X Foo: bar", "X-Fine: yes"], body: Array("body".utf8)))
        var request = Request<String>(server.url("/"))
        let response = try await Agent().send(request)
        #expect(response.value == "body" && response.headers["X-Fine"] == "yes")
        #expect(response.metrics.first?.droppedFields == 1)
        request.refusesMalformedFields = true
        let strict = request
        let error = await #expect(throws: NetError.self) { _ = try await Agent().send(strict) }
        #expect(error?.code == .badResponse)
    }

    @Test func everyHopReportsPhasesConnectionAndCipher() async throws {
        let server = try LoopbackServer(.valid)
        let other = try LoopbackServer(.valid, host: "127.0.0.2", isTLS1_2Only: true)
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .redirect(to: other.url("/c")))
        other.script("/c", Reply(patternLength: 5000))
        var request = Request<Bytes>(server.url("/a"))
        request.trust = TrustPolicy(roots: .pem(server.authority + other.authority))
        let response = try await Agent().send(request)
        let hops = Array(response.metrics)
        try #require(hops.count == 3)
        #expect(hops.map(\.url) == [server.url("/a"), server.url("/b"), other.url("/c")])
        #expect(hops.map(\.status) == [302, 302, 200])
        #expect(hops.map(\.isReused) == [false, true, false])
        #expect(hops.map(\.connectionsOpened) == [1, 0, 1])
        #expect(hops.map(\.remoteAddress) == ["127.0.0.1", "127.0.0.1", "127.0.0.2"])
        #expect(hops.map(\.remotePort) == [server.port, server.port, other.port])
        #expect(hops.map(\.tlsVersion) == ["TLSv1.3", "TLSv1.3", "TLSv1.2"])
        #expect(hops[0].tlsCipher.hasPrefix("TLS_") && hops[1].tlsCipher == hops[0].tlsCipher)
        #expect(!hops[2].tlsCipher.isEmpty && hops[2].tlsCipher != hops[0].tlsCipher)
        #expect(["x25519", "X25519MLKEM768"].contains(hops[0].tlsGroup) && hops[1].tlsGroup == hops[0].tlsGroup)
        #expect(hops[2].tlsGroup == "x25519")
        #expect(hops[0].connectionID != nil && hops[1].connectionID == hops[0].connectionID)
        #expect(hops[2].connectionID != nil && hops[2].connectionID != hops[0].connectionID)
        #expect(hops.allSatisfy { $0.httpVersion == .http1_1 })
        #expect(hops.map(\.receivedBytes) == [0, 0, 5000])
        #expect(hops.map(\.decodedBytes) == [0, 0, 5000])
        #expect(
            hops.map(\.sentBytes)
                == [server.receivedBytes(0), server.receivedBytes(1), other.receivedBytes(0)].map(\.count))
        #expect(hops.allSatisfy { $0.headBytes > 0 })
        for hop in hops where !hop.isReused {
            let phases = [hop.started, hop.resolved, hop.connected, hop.secured, hop.ready, hop.firstByte, hop.ended]
            #expect(phases.compactMap { $0 }.count == 7)
            #expect(phases.compactMap { $0 } == phases.compactMap { $0 }.sorted())
        }
        #expect([hops[1].started, hops[1].firstByte, hops[1].ended].allSatisfy { $0 != nil })
        #expect(hops[1].secured == nil)
    }

    @Test func reusedConnectionReportsNoConnectPhase() async throws {
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

    @Test func failedHandshakeReportsItsAddress() async throws {
        let server = try LoopbackServer(.valid)
        let error = try await expectFailure(.tlsUntrusted, of: Request<Bytes>(server.url("/")))
        let hop = try #require(error.metrics.first)
        #expect(hop.connected != nil && hop.secured == nil && hop.connectionID == 1)
        #expect(hop.remoteAddress == "127.0.0.1" && hop.remotePort == server.port)
    }

    @Test func refusedConnectionReportsNoConnection() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let error = try await expectFailure(.refused, of: Request<Bytes>("http://127.0.0.1:\(port.number)/"))
        let hop = try #require(error.metrics.first)
        #expect(hop.connected == nil && hop.connectionID == nil && hop.remoteAddress.isEmpty && hop.remotePort == 0)
    }

    @Test func failureWithoutAHeadHasNoResponse() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 9, cutAfter: 0, ending: .close))
        let error = await #expect(throws: NetError.self) { try await Agent().send(Request<Bytes>(server.url("/"))) }
        #expect(error?.code == .emptyReply)
        #expect(error?.response == nil)
    }

    @Test func failureInTheBodyHasTheReceivedResponse() async throws {
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

import NetKit
import Testing

/// Event streams (WHATWG HTML, 9.2).
@Suite(.timeLimit(.minutes(5)))
struct ServerSentEventsTests {
    private static let type = "Content-Type: text/event-stream"

    /// Reads until the end. The stub responds to the second connection with 204.
    private func events(_ chunks: [[UInt8]], maxBytes: Int = 1 << 20) async throws -> [ServerSentEvent] {
        let agent = Agent(transport: OneStream(chunks))
        var options = ServerSentEvent.Options()
        options.maxEventBytes = maxBytes
        options.sleep = { _ in }
        var events: [ServerSentEvent] = []
        for try await event in agent.serverSentEvents(Request<Bytes>("http://h/"), options: options) {
            events.append(event)
        }
        return events
    }

    /// A transport that responds to the first request with an event stream and to the others with 204.
    private struct OneStream: Transport {
        let chunks: [[UInt8]]
        let connections = Counter()

        init(_ chunks: [[UInt8]]) {
            self.chunks = chunks
        }

        func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
            Response(status: 204)
        }

        func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
            guard connections.increment() == 1 else {
                return ResponseStream(status: 204, chunks: Pieces([] as [Bytes]))
            }
            return ResponseStream(
                status: 200, headers: ["Content-Type": "text/event-stream"],
                chunks: Pieces(chunks.map { Bytes($0) }))
        }

        func shutdown() async {}
    }

    @Test(
        arguments: [
            ("data: a\n\n", [.init(data: "a")]),
            ("data:a\n\n", [.init(data: "a")]),
            ("data:  a\n\n", [.init(data: " a")]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", [.init(data: "a"), .init(data: "b"), .init(data: "c")]),
            ("data: a\ndata\ndata: b\n\n", [.init(data: "a\n\nb")]),
            ("data\n\ndata\ndata\n\ndata:", [.init(data: ""), .init(data: "\n")]),
            (": nothing\n\n:\n\n", []),
            ("event: x\n\n", []),
            ("event: x\ndata: 1\n\ndata: 2\n\n", [.init(name: "x", data: "1"), .init(data: "2")]),
            (
                "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                [
                    .init(id: "1", data: "a"), .init(id: "1", data: "b"), .init(data: "c"),
                ]
            ),
            ("id: 1\ndata: a\n\nid: 2\u{0}3\ndata: b\n\n", [.init(id: "1", data: "a"), .init(id: "1", data: "b")]),
            (
                "retry: 15\ndata: a\n\ndata: b\n\n",
                [
                    .init(data: "a", retry: .milliseconds(15)), .init(data: "b"),
                ]
            ),
            (
                "retry: 1x\ndata: a\n\nretry:\ndata: b\n\nretry: -1\ndata: c\n\n",
                [
                    .init(data: "a"), .init(data: "b"), .init(data: "c"),
                ]
            ),
            ("nonsense: 1\nDATA: 2\ndata : 3\ndata: a\n\n", [.init(data: "a")]),
            ("\u{FEFF}data: a\n\n", [.init(data: "a")]),
            ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [.init(data: "b")]),
            ("data: a\n\ndata: lost\n", [.init(data: "a")]),
            ("data: a", []),
            ("data: é日\nevent: ü\n\n", [.init(name: "ü", data: "é日")]),
        ] as [(String, [ServerSentEvent])])
    func eventsDoNotDependOnChunkBoundaries(text: String, expected: [ServerSentEvent]) async throws {
        let bytes = Array(text.utf8)
        #expect(try await events([bytes]) == expected)
        #expect(try await events(bytes.map { [$0] }) == expected)
        for split in 0...bytes.count {
            #expect(try await events([Array(bytes[..<split]), Array(bytes[split...])]) == expected)
        }
    }

    @Test func eventOfTheMaximumSizeIsDelivered() async throws {
        let fits = Array("data: 123456789\n\n".utf8)
        #expect(try await events([fits], maxBytes: 15) == [.init(data: "123456789")])
        let lines = Array("data: 12345\ndata: 6789\n\n".utf8)
        #expect(try await events([lines], maxBytes: 11) == [.init(data: "12345\n6789")])
        for text in ["data: 123456\ndata: 6789\n\n", "data: 1234567\n\n", "id: 1234567890"] {
            let error = await #expect(throws: NetError.self) { _ = try await events([Array(text.utf8)], maxBytes: 11) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func requestAcceptsAnEventStream() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 204))
        let agent = Agent(.init(headers: ["Accept": "application/json"]))
        for try await _ in agent.serverSentEvents(Request<Bytes>(server.url("/"))) {}
        var request = Request<Bytes>(server.url("/"))
        request.headers = ["Accept": "text/plain", "Cache-Control": "max-age=0"]
        for try await _ in agent.serverSentEvents(request) {}
        #expect(server.received(0).values(named: "Accept") == ["text/event-stream"])
        #expect(server.received(0).values(named: "Cache-Control") == ["no-cache"])
        #expect(server.received(0).values(named: "Last-Event-ID").isEmpty)
        #expect(server.received(1).values(named: "Accept") == ["text/plain"])
        #expect(server.received(1).values(named: "Cache-Control") == ["max-age=0"])
    }

    @Test func lostConnectionResumesFromTheLastEvent() async throws {
        let server = try LoopbackServer()
        let first = Reply(headers: [Self.type], body: Array("id: 7\nretry: 2000\ndata: a\n\nid: 8\ndata: lost".utf8))
        var cut = Reply(headers: [Self.type], body: Array("data: b\n\n: and so on".utf8))
        cut.cutAfter = 90
        cut.ending = .reset
        let last = Reply(headers: [Self.type], body: Array("id: 9\ndata: c\n\n".utf8))
        server.script("/", [first, cut, last, Reply(status: 204)])
        let pauses = Collected<Duration>()
        var options = ServerSentEvent.Options()
        options.sleep = { pauses.append($0) }
        var data: [String] = []
        for try await event in Agent().serverSentEvents(Request<Bytes>(server.url("/")), options: options) {
            data.append(event.data)
        }
        #expect(data.first == "a" && data.last == "c")
        #expect(pauses.values == [.seconds(2), .seconds(2), .seconds(2)])
        #expect((0..<4).map { server.received($0).values(named: "Last-Event-ID") } == [[], ["7"], ["7"], ["9"]])
    }

    @Test func unreachableServerIsRetried() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let pauses = Collected<Duration>()
        var options = ServerSentEvent.Options()
        options.reconnectDelay = .seconds(5)
        options.sleep = { pause in
            pauses.append(pause)
            if pauses.values.count == 3 {
                throw CancellationError()
            }
        }
        let events = Agent().serverSentEvents(Request<Bytes>("http://127.0.0.1:\(port.number)/"), options: options)
        let error = await #expect(throws: NetError.self) { for try await _ in events {} }
        #expect(error?.code == .cancelled)
        #expect(pauses.values == [.seconds(5), .seconds(5), .seconds(5)])
    }

    @Test func otherStatusOrContentTypeEndsTheStreamPermanently() async throws {
        let server = try LoopbackServer()
        server.script("/500", Reply(status: 500, headers: [Self.type]))
        server.script("/json", .json("{}"))
        server.script(
            "/type",
            Reply(headers: ["Content-Type: Text/Event-Stream ; charset=utf-8"], body: Array("data: 1\n\n".utf8)))
        let agent = Agent()
        for (path, code) in [("/500", NetError.Code.status), ("/json", .badResponse)] {
            var iterator = agent.serverSentEvents(Request<Bytes>(server.url(path))).makeAsyncIterator()
            do {
                _ = try await iterator.next(isolation: nil)
                Issue.record("no error")
            } catch {
                #expect(error.code == code)
            }
            #expect(try await iterator.next() == nil)
        }
        var iterator = agent.serverSentEvents(Request<Bytes>(server.url("/type"))).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "1")
        let error = await #expect(throws: NetError.self) {
            for try await _ in agent.serverSentEvents(Request<Bytes>("http://a b/")) {}
        }
        #expect(error?.code == .badURL)
    }

    @Test func cancellingTheTaskEndsAWaitingStream() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: [Self.type], patternLength: 1000, cutAfter: 200, ending: .stall))
        let agent = Agent()
        let task = Task { () -> NetError.Code? in
            do throws(NetError) {
                for try await _ in agent.serverSentEvents(Request<Bytes>(server.url("/"))) {}
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

    @Test func cancellingTheTaskEndsTheStreamBetweenConnections() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: [Self.type]))
        let agent = Agent()
        let isWaiting = Gate()
        var options = ServerSentEvent.Options()
        options.sleep = { _ in
            isWaiting.open()
            try await Task.sleep(for: .seconds(600))
        }
        let task = Task { [options] () -> NetError.Code? in
            do throws(NetError) {
                for try await _ in agent.serverSentEvents(Request<Bytes>(server.url("/")), options: options) {}
                return nil
            } catch {
                return error.code
            }
        }
        try await isWaiting.opened()
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func leavingTheLoopEndsTheConnection() async throws {
        let server = try LoopbackServer()
        let text = "data: 1\n\ndata: 2\n\n"
        server.script(
            "/", Reply(headers: [Self.type, "Content-Length: 1000"], body: Array(text.utf8), ending: .stall))
        let agent = Agent()
        for try await event in agent.serverSentEvents(Request<Bytes>(server.url("/"))) {
            #expect(event.data == "1")
            break
        }
        try await server.waitForSilence()
    }
}

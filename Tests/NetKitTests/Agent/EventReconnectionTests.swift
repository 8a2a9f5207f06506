import NetKit
import NetKitTesting
import Testing

/// State that one connection of an event stream passes to the next (WHATWG HTML, 9.2.3 and 9.2.6).
@Suite(.timeLimit(.minutes(5)))
struct EventReconnectionTests {
    private struct Course {
        /// The Last-Event-ID fields of each request.
        var identifiers: [[String]] = []
        var pauses: [Duration] = []
        var data: [String] = []
    }

    /// Reads these texts, one per connection, and then a 204.
    private func course(_ texts: [String], from lastEventID: String = "") async throws -> Course {
        let server = try LoopbackServer()
        let replies = texts.map {
            Reply(headers: ["Content-Type: text/event-stream"], body: Array($0.utf8), chunkBytes: 3)
        }
        server.script("/", replies + [Reply(status: 204)])
        let pauses = Collected<Duration>()
        var options = ServerSentEvent.Options()
        options.lastEventID = lastEventID
        options.reconnectDelay = .milliseconds(7)
        options.sleep = { pauses.append($0) }
        var course = Course()
        for try await event in Agent().serverSentEvents(Request<Bytes>(server.url("/")), options: options) {
            course.data.append(event.data)
        }
        course.identifiers = (0...texts.count).map { server.received($0).values(named: "Last-Event-ID") }
        course.pauses = pauses.values
        return course
    }

    @Test func singleUseBodyEndsTheStreamInsteadOfReconnecting() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Type: text/event-stream"], body: Array("data: a\n\n".utf8)))
        let pieces = AsyncStream<Bytes> {
            $0.yield(Bytes([1, 2, 3])); $0.finish()
        }
        var options = ServerSentEvent.Options()
        options.sleep = { _ in }
        let events = Agent().serverSentEvents(
            Request<Bytes>(server.url("/"), method: .post, body: .once(pieces)), options: options)
        var data: [String] = []
        let error = await #expect(throws: NetError.self) {
            for try await event in events {
                data.append(event.data)
            }
        }
        #expect(error?.code == .notRewindable && data == ["a"])
        #expect(server.received(0).body == Array("3\r\n\u{1}\u{2}\u{3}\r\n0\r\n\r\n".utf8))
    }

    @Test func lastEventIDOfTheCallerIsSentOnTheFirstConnection() async throws {
        let course = try await course(["data: a\n\n"], from: "41")
        #expect(course.identifiers == [["41"], ["41"]])
    }

    /// A blank line after the identifier is enough. The event needs no data.
    @Test func identifierWithoutDataIsStored() async throws {
        let course = try await course(["id: 5\n\n", "id: 6\n"])
        #expect(course.identifiers == [[], ["5"], ["5"]])
        #expect(course.data.isEmpty)
    }

    @Test func emptyIdentifierResetsTheLastEventID() async throws {
        let course = try await course(["id: 5\ndata: a\n\n", "id\ndata: b\n\n"])
        #expect(course.identifiers == [[], ["5"], []])
        #expect(course.data == ["a", "b"])
    }

    @Test func identifierCanBeAnyText() async throws {
        let course = try await course(["id: é 日\ndata: a\n\n"])
        #expect(course.identifiers == [[], ["é 日"]])
    }

    /// The retry time takes effect without a complete event, and holds until it is replaced.
    @Test func retryTimeAppliesFromItsLine() async throws {
        let course = try await course(["data: a\n\n", "retry: 3000\n", "retry: x\ndata: b\n\n", "retry: 900\n\n"])
        #expect(course.pauses == [7, 3000, 3000, 900].map { .milliseconds($0) })
        #expect(course.data == ["a", "b"])
    }

    @Test(arguments: ["0", "1", "499", "000"])
    func retryTimeIsAtLeastHalfASecond(retry: String) async throws {
        let course = try await course(["retry: \(retry)\nid: 3\ndata: a\n\n", "retry: \(retry)\n\n", ""])
        #expect(course.pauses == [.milliseconds(500), .milliseconds(500), .milliseconds(500)])
        #expect(course.identifiers == [[], ["3"], ["3"], ["3"]])
    }

    @Test func retryTimeThatOverflowsIsClamped() async throws {
        let course = try await course(["retry: 99999999999999999999999\n"])
        #expect(course.pauses.allSatisfy { $0 > .seconds(1_000_000) } && course.pauses.count == 1)
    }

    @Test func openCircuitDelaysTheReconnection() async throws {
        let stub = StubTransport()
        stub.register(
            "*", with: .failure(.refused), .failure(.refused),
            .text("data: a\n\n", contentType: "text/event-stream"), .status(204))
        let time = StubTime()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [CircuitBreaker(failures: 2, resetAfter: .seconds(30), time: time.source)]
        var options = ServerSentEvent.Options()
        options.reconnectDelay = .seconds(10)
        options.sleep = time.source.sleep
        var data: [String] = []
        for try await event in Agent(configuration, transport: stub).serverSentEvents(
            Request<Bytes>("/"), options: options)
        {
            data.append(event.data)
        }
        #expect(data == ["a"])
        #expect(stub.requests.count == 4)
    }

    /// An incomplete line or event is dropped at the end of a connection.
    @Test func incompleteEventIsDroppedAtTheEndOfAConnection() async throws {
        let course = try await course([
            "event: x\ndata: lost\nda", "ta: nothing\n\ndata: b\n\n", "data: c\r", "\ndata: d\n\n",
        ])
        #expect(course.data == ["b", "d"])
    }

    @Test func byteOrderMarkIsIgnoredOnEachConnection() async throws {
        let course = try await course(["\u{FEFF}data: a\n\n", "\u{FEFF}data: b\n\n"])
        #expect(course.data == ["a", "b"])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreFollowed(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", [.redirect(to: "/there", status: status), Reply(status: 204)])
        server.script(
            "/there", Reply(headers: ["Content-Type: text/event-stream"], body: Array("id: 1\ndata: a\n\n".utf8)))
        var options = ServerSentEvent.Options()
        options.sleep = { _ in }
        var data: [String] = []
        for try await event in Agent().serverSentEvents(Request<Bytes>(server.url("/")), options: options) {
            data.append(event.data)
        }
        #expect(data == ["a"])
        // Each connection begins at the original URL.
        #expect(server.received(2).requestLine.hasPrefix("GET / "))
        #expect(server.received(2).values(named: "Last-Event-ID") == ["1"])
    }

    @Test(arguments: [false, true])
    func lastEventIDIsSentToAnotherOrigin(isHooked: Bool) async throws {
        let other = try LoopbackServer()
        other.script(
            "/",
            [
                Reply(headers: ["Content-Type: text/event-stream"], body: Array("id: 1\ndata: a\n\n".utf8)),
                Reply(status: 204),
            ])
        let server = try LoopbackServer()
        server.script("/", .redirect(to: other.url("/"), status: 307))
        var options = ServerSentEvent.Options()
        options.sleep = { _ in }
        var request = Request<Bytes>(server.url("/"))
        if isHooked {
            request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        }
        for try await _ in Agent().serverSentEvents(request, options: options) {}
        #expect(other.received(1).values(named: "Last-Event-ID") == ["1"])
    }

    @Test func responseWithoutAContentTypeIsNotAnEventStream() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(body: Array("data: a\n\n".utf8)))
        let failed = await failureCode { () throws(NetError) in
            for try await _ in Agent().serverSentEvents(Request<Bytes>(server.url("/"))) {}
        }
        #expect(failed == .badResponse)
    }

    /// With cache rules for all requests, a reconnection could otherwise receive the cached events again and again.
    @Test func eventsAreNeverReadFromACache() async throws {
        let stub = StubTransport()
        let event = { (text: String) in
            StubReply.bytes(Bytes(Array("data: \(text)\n\n".utf8)), contentType: "text/event-stream")
        }
        stub.register("/", with: event("a"), event("b"), .status(204))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        let policy = CachePolicy(maximumAge: .seconds(60))
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .application(policy))]
        var options = ServerSentEvent.Options()
        options.sleep = { _ in }
        var data: [String] = []
        let events = Agent(configuration, transport: stub).serverSentEvents(Request<Bytes>("/"), options: options)
        for try await event in events where data.count < 3 {
            data.append(event.data)
            if data.count == 3 { break }
        }
        #expect(data == ["a", "b"])
    }

    /// The error's body carries the server's reason, and its message names the server.
    @Test(arguments: ["over the engine", "over a stub"])
    func refusalIncludesItsBody(way: String) async throws {
        let text = #"{"message": "Bad credentials"}"#
        let server = try LoopbackServer()
        server.script("/news", Reply(status: 403, body: Array(text.utf8)))
        let stub = StubTransport()
        stub.register("/news", with: .json(text, status: 403))
        let agent = way == "over a stub" ? Agent(transport: stub) : Agent()
        let error = await #expect(throws: NetError.self) {
            for try await _ in agent.serverSentEvents(Request<Bytes>(server.url("/news"))) {}
        }
        #expect(error?.code == .status && error?.nativeCode == 403)
        #expect(error?.decodedBody(as: [String: String].self) == ["message": "Bad credentials"])
        #expect(error?.message.contains(server.url("/news")) == true)
    }

    @Test func unexpectedContentTypeIncludesTheResponseHead() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("<p>log in</p>", contentType: "text/html"))
        let error = await #expect(throws: NetError.self) {
            for try await _ in Agent(transport: stub).serverSentEvents(Request<Bytes>("http://stub/news")) {}
        }
        #expect(error?.code == .badResponse)
        #expect(error?.response?.headers["Content-Type"] == "text/html")
    }
}

import NetKit
import NetKitTesting
import Testing

/// Fields that are sent after the body of a request.
@Suite(.timeLimit(.minutes(5)))
struct RequestTrailersTests {
    @TaskLocal static var note = "none"

    private struct Failure: Error {}

    /// Counts calls.
    private actor Counter {
        private(set) var count = 0

        func next() -> Int {
            count += 1
            return count
        }
    }

    private static func request(_ url: String, _ body: Body?, _ trailers: Trailers) -> Request<Bytes> {
        var request = Request<Bytes>(url, method: .put, body: body)
        request.trailers = trailers
        return request
    }

    private func body(of server: LoopbackServer, _ index: Int = 0) -> String {
        let text = String(decoding: server.receivedBytes(index), as: UTF8.self)
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    @Test func fixedTrailersFollowABodyInMemory() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let request = Self.request(server.url("/"), .text("hello"), ["X-Sum": "17", "X-Empty": ""])
        let response = try await Agent().send(request)
        #expect(response.bytes == Bytes(Array("hello".utf8)))
        #expect(body(of: server) == "5\r\nhello\r\n0\r\nX-Sum: 17\r\nX-Empty: \r\n\r\n")
        #expect(server.received().values(named: "Trailer") == ["X-Sum, X-Empty"])
        #expect(server.received().values(named: "Content-Length").isEmpty)
    }

    @Test func trailersAreComputedAfterTheWholeBodyWasRead() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let read = Counter()
        let body = Body.stream {
            AsyncStream<Bytes> {
                let number = await read.next()
                return number <= 3 ? Bytes(Array("\(number)".utf8)) : nil
            }
        }
        let request = Self.request(
            server.url("/"), body,
            Trailers(named: ["X-Count", "X-Unused"]) {
                await Task.yield()
                return await ["x-count": "\(read.count)"]
            })
        let response = try await Agent().send(request)
        #expect(response.bytes == Bytes(Array("123".utf8)))
        #expect(self.body(of: server).hasSuffix("\r\n0\r\nX-Count: 4\r\n\r\n"))
        #expect(server.received().values(named: "Trailer") == ["X-Count, X-Unused"])
    }

    @Test func trailersAreComputedForEachKindOfBody() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let folder = try TemporaryFolder()
        try folder.write(Array("hello".utf8), to: "file")
        let bodies: [Body] = [
            .text("hello"), .file(folder.file("file")), .stream(length: 5) { Pieces([pattern(5)]) }, Body([]),
            try .multipart(MultipartBody()),
        ]
        for (index, body) in bodies.enumerated() {
            let request = Self.request(server.url("/"), body, Trailers(named: ["X-Sum"]) { ["X-Sum": "\(index)"] })
            _ = try await Agent().send(request)
            #expect(self.body(of: server, index).hasSuffix("0\r\nX-Sum: \(index)\r\n\r\n"))
            #expect(server.received(index).values(named: "Transfer-Encoding") == ["chunked"])
        }
    }

    @Test func trailersAreComputedInTheContextOfTheSender() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let request = Self.request(
            server.url("/"), .text("hello"), Trailers(named: ["X-Note"]) { ["X-Note": Self.note] })
        _ = try await Self.$note.withValue("kept") { try await Agent().send(request) }
        #expect(body(of: server).hasSuffix("X-Note: kept\r\n\r\n"))
    }

    @Test func trailersAreComputedAgainAfterARedirect() async throws {
        let server = try LoopbackServer()
        server.script("/", .redirect(to: "/echo", status: 307))
        server.script("/echo", .echo)
        let counter = Counter()
        let request = Self.request(
            server.url("/"), .text("hello"), Trailers(named: ["X-Sum"]) { ["X-Sum": "\(await counter.next())"] })
        _ = try await Agent().send(request)
        #expect(body(of: server, 0).hasSuffix("X-Sum: 1\r\n\r\n"))
        #expect(body(of: server, 1).hasSuffix("X-Sum: 2\r\n\r\n"))
    }

    @Test func trailersOfAStreamedResponseAreSent() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let request = Self.request(server.url("/"), .text("hello"), Trailers(named: ["X-Sum"]) { ["X-Sum": "1"] })
        let stream = try await Agent().stream(request)
        for try await _ in stream {}
        #expect(body(of: server).hasSuffix("X-Sum: 1\r\n\r\n"))
    }

    @Test func failedComputationFailsTheRequest() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let failing = Self.request(server.url("/"), .text("hello"), Trailers(named: ["X-Sum"]) { throw Failure() })
        let error = await #expect(throws: NetError.self) { try await Agent().send(failing) }
        #expect(error?.code == .bodySource)
        #expect(error?.underlying is Failure)
        let unannounced = Self.request(
            server.url("/"), .text("hello"), Trailers(named: ["X-Sum"]) { ["X-Other": "1"] })
        let other = await #expect(throws: NetError.self) { try await Agent().send(unannounced) }
        #expect(other?.code == .bodySource)
        #expect("\(other?.underlying ?? Failure())".contains("X-Other"))
        let invalid = Self.request(
            server.url("/"), .text("hello"), Trailers(named: ["X-Sum"]) { ["X-Sum": "a\r\nHost: b"] })
        await #expect(throws: NetError.self) { try await Agent().send(invalid) }
        #expect(server.requestCount == 0)
    }

    @Test func cancelledRequestCancelsTheComputation() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let request = Self.request(
            server.url("/"), .text("hello"),
            Trailers(named: ["X-Sum"]) {
                start.yield()
                let (endless, _) = AsyncStream.makeStream(of: Void.self)
                for await _ in endless {}
                cancel.yield()
                return [:]
            })
        let task = Task { try await Agent().send(request) }
        for await _ in started { break }
        task.cancel()
        for await _ in cancelled { break }
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: ["Content-Length", "host", "Authorization", "Cookie", "Content-Type", "Transfer-Encoding"])
    func trailerThatIsNeededBeforeTheBodyIsRefused(name: String) async throws {
        for trailers in [Trailers([name: "1"]), Trailers(named: [name]) { [:] }] {
            let request = Self.request("http://127.0.0.1:1/", .text("hello"), trailers)
            let error = await #expect(throws: NetError.self) { try await Agent().send(request) }
            #expect(error?.code == .badHeader)
            #expect(error?.message.contains("\(name) cannot be a trailer") == true)
        }
    }

    @Test func requestWithoutABodyOrHTTP11IsRefused() async throws {
        let bodiless = Self.request("http://127.0.0.1:1/", nil, ["X-Sum": "1"])
        #expect(await #expect(throws: NetError.self) { try await Agent().send(bodiless) }?.code == .usage)
        var old = Self.request("http://127.0.0.1:1/", .text("hello"), ["X-Sum": "1"])
        for policy in [HTTPVersionPolicy.http1_0, .http2PriorKnowledge] {
            old.httpVersionPolicy = policy
            #expect(await #expect(throws: NetError.self) { try await Agent().send(old) }?.code == .unsupported)
        }
        let stub = StubTransport { _ in StubReply(status: 204) }
        #expect(
            await #expect(throws: NetError.self) { try await Agent(transport: stub).send(bodiless) }?.code == .usage)
    }

    @Test func redirectToAnotherOriginDropsTheTrailers() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer()
        other.script("/", .echo)
        server.script("/", .redirect(to: other.url("/"), status: 307))
        for hooked in [false, true] {
            var request = Self.request(server.url("/"), .text("hello"), ["X-Sum": "1"])
            if hooked {
                request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
            }
            _ = try await Agent().send(request)
            #expect(body(of: other) == "hello")
            #expect(other.received().values(named: "Trailer").isEmpty)
            other.forgetRequests()
        }
    }
}

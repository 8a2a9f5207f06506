import NetKit
import NetKitTesting
import Testing

struct StubReplyTests {
    private struct Cause: Error {}

    private static let base = Agent.Configuration(baseURL: "http://stub.test")

    @Test func mostSpecificStubMatches() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("any"))
        stub.register("*", method: .put, with: .text("any put"))
        stub.register("/a", with: .text("path"))
        stub.register("/a", method: .post, with: .text("path and method"))
        stub.register("http://other.test/a", with: .text("URL"))
        let agent = Agent(Self.base, transport: stub)
        let requested: [(Method, String, String)] = [
            (.get, "b", "any"), (.put, "b", "any put"), (.get, "a?x=/b#y", "path"), (.post, "a", "path and method"),
            (.put, "a", "path"), (.post, "http://user@other.test/a", "URL"), (.get, "http://other.test", "any"),
        ]
        for (method, url, text) in requested {
            #expect(try await agent.send(Request<String>(url, method: method)).value == text)
        }
        #expect(stub.requests.map(\.path) == ["/b", "/b", "/a", "/a", "/a", "/a", "/"])
        #expect(stub.requests[2].query == "x=/b")
        #expect(stub.requests[3].query == nil)
    }

    @Test func successiveRepliesAreReturnedInOrderAndTheLastRepeats() async throws {
        let stub = StubTransport()
        stub.register("/", with: .status(503), .json("[1]"), .json("[2]"))
        let agent = Agent(Self.base, transport: stub)
        #expect(await ending(of: Request<[Int]>(""), from: agent) == .failed(.status))
        var values: [[Int]] = []
        for _ in 0..<3 {
            values.append(try await agent.send(Request<[Int]>("")).value)
        }
        #expect(values == [[1], [2], [2]])
        stub.register("/", with: try .encoding(["a": 3]))
        #expect(try await agent.send(Request<[String: Int]>("")).value == ["a": 3])
    }

    @Test func unmatchedRequestFails() async throws {
        let agent = Agent(Self.base, transport: StubTransport())
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Bytes>("a?secret", method: .delete))
        }
        #expect(error?.code == .usage)
        #expect(error?.message == "the stub has no reply to DELETE /a")
    }

    @Test func closureReceivesTheBodyAndCanThrow() async throws {
        let stub = StubTransport { requested in
            if requested.path == "/fail" {
                throw Cause()
            }
            return .bytes(requested.body, contentType: requested.headers["Content-Type"])
        }
        let agent = Agent(Self.base, transport: stub)
        #expect(try await agent.send(Request<String>("", method: .post, body: .text("hällo"))).value == "hällo")
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("fail")) }
        #expect(error?.code == .receive)
        #expect(error?.underlying is Cause)
    }

    @Test func failureContainsHopsAndTheReceivedResponse() async throws {
        let stub = StubTransport()
        stub.register("/a", with: .redirect(to: "b"))
        stub.register("/b", with: .failure(.refused))
        stub.register("/c", with: StubReply(headers: ["X": "1"], body: [.text("ab"), .fail(NetError(.reset, "gone"))]))
        let agent = Agent(Self.base, transport: stub)
        let refused = try await expectFailure(.refused, of: Request<Bytes>("http://me:secret@stub.test/a"), from: agent)
        #expect(refused.response == nil)
        #expect(refused.metrics.map(\.url) == ["http://stub.test/a", "http://stub.test/b"])
        #expect(refused.metrics.map(\.status) == [302, 0])
        let reset = try await expectFailure(.reset, of: Request<Bytes>("c"), from: agent)
        #expect(reset.response?.bytes == Bytes(Array("ab".utf8)))
        #expect(reset.response?.headers["x"] == "1")
        #expect(reset.response?.url == "http://stub.test/c")
    }

    @Test func gateDelaysHeadAndBody() async throws {
        let head = StubGate()
        let body = StubGate()
        let stub = StubTransport()
        stub.register("/", with: StubReply(body: [.text("a"), .wait(body), .text("b")]).held(by: head))
        let agent = Agent(Self.base, transport: stub)
        let opening = Task { try await agent.stream(Request<Bytes>("")) }
        try await head.waitForArrivals(1)
        #expect(!head.isOpen)
        head.open()
        var chunks = try await opening.value.makeAsyncIterator()
        #expect(try await chunks.next() == Bytes(Array("a".utf8)))
        #expect(body.arrivalCount == 0)
        let reading = Task { [chunks] in
            var chunks = chunks
            return try await chunks.next()
        }
        try await body.waitForArrivals(1)
        body.open()
        #expect(try await reading.value == Bytes(Array("b".utf8)))
    }

    @Test func blockedClosureDoesNotDelayACancelledTask() async throws {
        let held = Gate()
        let stub = StubTransport { _ in
            // Ignores cancellation.
            try await Task.detached { try await held.opened() }.value
            return .status(200)
        }
        let agent = Agent(Self.base, transport: stub)
        let task = Task { await ending(of: Request<Bytes>(""), from: agent) }
        try await stub.waitForRequests(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        held.open()
        await agent.shutdown()
    }

    @Test func waitEndsWithItsTask() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        for wait in [{ try await stub.waitForRequests(1) }, { try await gate.waitForArrivals(1) }]
            as [@Sendable () async throws -> Void]
        {
            let task = Task { await #expect(throws: NetError.self) { try await wait() } }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
    }
}

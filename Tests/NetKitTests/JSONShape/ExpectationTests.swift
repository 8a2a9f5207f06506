import NetKit
import NetKitTesting
import Testing

/// Hostile and unusual responses to a request with an expected shape, over a connection.
@Suite(.timeLimit(.minutes(5)))
struct ExpectationTests {
    private struct City: Decodable, Sendable, Equatable {
        var id: Int
        var name: String?
    }

    private let shape: JSONShape = ["id": .integer, "name?": .string.orNull]

    private static func bounded(_ request: Request<Bytes>) -> Request<Bytes> {
        var request = request
        request.limits = Limits()
        request.limits.maxBodyBytes = 1 << 20
        return request
    }

    @Test func checkedBodyIsDecoded() async throws {
        let server = try LoopbackServer()
        server.script("/", .json(#"{"id": 7, "name": null}"#))
        let agent = Agent()
        let request = Request<City>(server.url("/")).expecting(shape)
        #expect(try await agent.send(request).value == City(id: 7))
        let tree = Request<JSONValue>(server.url("/")).expecting(shape)
        #expect(try await agent.send(tree).value["id"] == 7)
        let derived = Request<City>(server.url("/")).expecting(try JSONShape(for: City.self))
        #expect(try await agent.send(derived).value == City(id: 7))
    }

    @Test func bodyCheckedForOneRequestIsCheckedAgainForAnother() async throws {
        let server = try LoopbackServer()
        server.script("/", .json(#"{"id": 7}"#))
        var configuration = Agent.Configuration()
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(5000))]
        let agent = Agent(configuration)
        let request = Request<Bytes>(server.url("/"))
        _ = try await agent.send(request.expecting(shape))
        #expect(
            try await agent.send(request.expecting(["id": .integer, "name?": .string.orNull])).cache?.isHit == true)
        let other = request.expecting(["id": .integer, "country": .string])
        #expect(try await failure { try await agent.send(other) }.code == .shapeMismatch)
        #expect(server.requestCount == 2)
    }

    @Test func joinedResponseIsCheckedForEachMember() async throws {
        let server = try LoopbackServer()
        server.script(
            "/",
            Reply(
                headers: ["Content-Type: application/json"], body: Array(#"{"id": 7}"#.utf8), cutAfter: 0,
                ending: .stall))
        let repeats = RequestDeduplication(.join)
        let agent = Agent(configured: { $0.interceptors = [repeats] })
        var request = Request<Bytes>(server.url("/"))
        request.duplicateKey = "one"
        let (right, wrong) = (request.expecting(shape), request.expecting(["country": .string]))
        async let first = ending(of: right, from: agent)
        try await server.waitForStalled(1)
        async let second = ending(of: wrong, from: agent)
        while repeats.waitingCount < 2 {
            await Task.yield()
        }
        server.releaseStalled()
        #expect(await [first, second] == [.answered, .failed(.shapeMismatch)])
        #expect(server.requestCount == 1)
    }

    @Test func stricterDecodingRulesApplyAfterAnExpectation() async throws {
        let server = try LoopbackServer()
        server.script("/", .json(#"{"id": 7, "id": 8}"#))
        var choices = JSONCoding()
        choices.rules.refusesDuplicateNames = true
        let request = Request<City>(server.url("/"), decoding: .json(choices))
        for request in [request, request.expecting(shape)] {
            #expect(await ending(of: request, from: Agent()) == .failed(.decoding))
        }
    }

    @Test(arguments: ["1", "\"x\"", "null", "true", "[]", "[{\"id\":1}]"])
    func nonObjectIsRejectedAtItsFirstByte(text: String) async throws {
        let server = try LoopbackServer()
        server.script("/", .json(text))
        let error = try await failure { try await Agent().send(Request<City>(server.url("/")).expecting(shape)) }
        #expect(error.code == .shapeMismatch)
        #expect(error.jsonFaults.first?.pointer == "")
        #expect(error.jsonFaults.first?.wanted == "object")
        #expect(error.offset == 0)
        #expect(error.response?.bytes == Bytes(Array(text.utf8)))
    }

    @Test func missingBodyIsReportedIfAValueIsExpected() async throws {
        let server = try LoopbackServer()
        let agent = Agent()
        for status: UInt16 in [200, 204] {
            server.script("/", Reply(status: status, headers: ["Content-Type: application/json"]))
            let expected = Request<City?>(server.url("/")).expecting(shape)
            #expect(try await failure { try await agent.send(expected) }.code == .badJSON)
            #expect(try await failure { try await agent.send(Request<City>(server.url("/"))) }.code == .decoding)
            #expect(try await agent.send(Request<City?>(server.url("/"))).value == nil)
            var lenient = JSONExpectation(shape)
            lenient.allowsEmptyBody = true
            #expect(try await agent.send(Request<City?>(server.url("/")).expecting(lenient)).value == nil)
        }
    }

    @Test func aLimitStopsAServerThatNeverEnds() async throws {
        let server = try LoopbackServer()
        // 2 GiB of repeated alphabets, chunked so that no field announces the length.
        server.script(
            "/", Reply(headers: ["Content-Type: application/json"], patternLength: 1 << 31, chunkBytes: 64 << 10))
        let agent = Agent()
        let request = Self.bounded(Request<Bytes>(server.url("/")))
        let limited = try await failure { try await agent.send(request) }
        #expect(limited.code == .bodyTooLarge)
        let error = try await failure { try await agent.send(request.expecting(.any)) }
        #expect(error.code == .badJSON)
        #expect(error.offset == 0)
        #expect((error.response?.bytes.count ?? 0) <= 1 << 20)
    }

    @Test func aLimitStopsAnEndlessStringThatIsJSONSoFar() async throws {
        let server = try LoopbackServer()
        let text = Array("\"".utf8) + Array(repeating: UInt8(ascii: "a"), count: 3 << 20)
        server.script("/", .bytes(text, contentType: "application/json"))
        let request = Self.bounded(Request<Bytes>(server.url("/"))).expecting(.string)
        let error = try await failure { try await Agent().send(request) }
        #expect(error.code == .bodyTooLarge)
        #expect(error.jsonFaults.isEmpty)
        var bounded = JSONExpectation(.string(maxLength: 1000))
        bounded.rules.maxBytes = 1 << 20
        let early = try await failure { try await Agent().send(Request<Bytes>(server.url("/")).expecting(bounded)) }
        #expect(early.code == .badJSON)
        #expect(early.offset == 1 << 20)
    }

    @Test func cancellingDuringTheCheckEndsTheRequest() async throws {
        let server = try LoopbackServer()
        let start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"id\": 1, "
        var reply = Reply.raw(start + "and never more", ending: .stall)
        reply.cutAfter = UInt64(start.utf8.count)
        server.script("/", reply)
        let agent = Agent()
        let request = Request<City>(server.url("/")).expecting(shape)
        let task = Task { try await agent.send(request).value }
        try await server.waitForStalled(1)
        task.cancel()
        #expect(try await failure { try await task.value }.code == .cancelled)
        await agent.shutdown()
    }

    @Test func concurrentRequestsShareAShape() async throws {
        let server = try LoopbackServer()
        server.script("/right", .json(#"{"id": 1}"#))
        server.script("/wrong", .json(#"{"id": "1"}"#))
        let agent = Agent()
        let shape = shape
        let right = Request<City>(server.url("/right")).expecting(shape)
        let wrong = Request<City>(server.url("/wrong")).expecting(shape)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<40 {
                group.addTask {
                    do throws(NetError) {
                        return try await agent.send(index % 2 == 0 ? right : wrong).value.id == 1 && index % 2 == 0
                    } catch {
                        return error.code == .shapeMismatch && index % 2 == 1
                    }
                }
            }
            for try await isRight in group {
                #expect(isRight)
            }
        }
        await agent.shutdown()
    }

    @Test func expectationIsEnforcedForATransportThatIgnoresIt() async throws {
        struct IgnoringTransport: Transport {
            func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
                Response(status: 200, headers: ["Content-Type": "text/json"], bytes: Bytes(Array(#"{"id":"x"}"#.utf8)))
            }
            func shutdown() async {}
        }
        let agent = Agent(transport: IgnoringTransport())
        let error = try await failure { try await agent.send(Request<Bytes>("http://x/").expecting(shape)) }
        #expect(error.code == .shapeMismatch)
        #expect(error.response?.status == 200)
        #expect(error.jsonFaults.first?.pointer == "/id")
    }

    @Test func outOfRangeValueIsAUsageError() async throws {
        var expectation = JSONExpectation(shape)
        expectation.maxMismatches = 1001
        let request = Request<Bytes>("http://127.0.0.1:9/").expecting(expectation)
        #expect(try await failure { try await Agent().send(request) }.code == .usage)
        let types = Request<Bytes>("http://127.0.0.1:9/").expecting(shape, types: ["no type"])
        #expect(try await failure { try await Agent().send(types) }.code == .usage)
    }
}

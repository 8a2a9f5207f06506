import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Requests that an agent has completed and then sends again, or whose URL a server derived from a completed one.
@Suite(.timeLimit(.minutes(5)))
struct ResolvedRequestTests {
    private func agent(_ stub: StubTransport, change: (inout Agent.Configuration) -> Void = { _ in }) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.parameters = ["key": "k"]
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    @Test(arguments: [NetKit.Method.get, .post])
    func resolvedRequestIsSentAgainUnchanged(method: NetKit.Method) async throws {
        let stub = StubTransport { _ in .text("x") }
        let receivedRequests = Collected<Request<Bytes>>()
        let agent = agent(stub) { configuration in
            configuration.computedParameters = { _ in ["computed": 1] }
            configuration.interceptors = [
                URLFilter.adding(["filtered": 1]),
                Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                    receivedRequests.append(call.request)
                    return try await next(call)
                },
            ]
        }
        var request = Request<Bytes>("/1", method: method, parameters: ["own": 1])
        request.parameterSource = ParameterSource { _ in ["own": 2] }
        _ = try await agent.send(request)
        var again = try #require(receivedRequests.values.first)
        again.headers["X-Again"] = "1"
        _ = try await agent.send(again)
        #expect(stub.requests.count == 2 && stub.requests[0].url.hasPrefix("http://stub/1?"))
        #expect(stub.requests[0].url == stub.requests[1].url)
        #expect(Array(stub.requests[0].body) == Array(stub.requests[1].body))
        #expect(stub.requests[1].headers["X-Again"] == "1")
    }

    @Test func requestWithAnotherURLIsResolvedAgain() async throws {
        let stub = StubTransport { _ in .text("x") }
        let receivedRequests = Collected<Request<Bytes>>()
        let agent = agent(stub) { configuration in
            configuration.interceptors = [
                Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                    receivedRequests.append(call.request)
                    return try await next(call)
                }
            ]
        }
        _ = try await agent.send(Request<Bytes>("/1"))
        var other = try #require(receivedRequests.values.first)
        other.url = "http://stub/12"
        _ = try await agent.send(other)
        #expect(stub.requests.map(\.url) == ["http://stub/1?key=k", "http://stub/12?key=k"])
    }

    @Test(arguments: [true, false])
    func linkContainsTheAgentParametersOnce(isEchoed: Bool) async throws {
        let stub = StubTransport { incoming in
            let number = incoming.url.split(separator: "page=").count
            let next = "</items?\(isEchoed ? "key=k&" : "")page=\(number)>; rel=\"next\""
            return StubReply(headers: incoming.url.contains("page=") ? [:] : ["Link": next], body: [.text("x")])
        }
        for try await _ in agent(stub).pages(of: Request<String>("items", parameters: ["own": 1]), by: .link()) {}
        #expect(
            stub.requests.map(\.query) == ["key=k&own=1", isEchoed ? "key=k&page=1" : "page=1&key=k"])
    }

    @Test func linkIsFollowedWithoutTheQueryParametersOfAPost() async throws {
        let stub = StubTransport { incoming in
            StubReply(
                headers: incoming.url.contains("page=2") ? [:] : ["Link": "<\(incoming.url)&page=2>; rel=\"next\""],
                body: [.text("x")])
        }
        var request = Request<String>("http://stub/items", method: .post, parameters: ["a": 1])
        request.parameterPlacement = .query
        for try await _ in Agent(transport: stub).pages(of: request, by: .link()) {}
        #expect(stub.requests.map(\.query) == ["a=1", "a=1&page=2"])
    }

    @Test func partialDownloadResumesAtItsOriginalURL() async throws {
        let server = try LoopbackServer()
        let cut = Reply(headers: ["ETag: \"a\""], patternLength: 20_000, cutAfter: 9_000, ending: .close)
        let whole = Reply(headers: ["ETag: \"a\""], patternLength: 20_000, answersRanges: true)
        server.script("/f", [cut, whole])
        let folder = try TemporaryFolder()
        let agent = Agent(configured: { $0.parameters = ["version": "2"] })
        _ = try? await agent.download(Request<Bytes>(server.url("/f")), to: folder.file("f"))
        let outcomes = try await agent.resumePartialDownloads(in: folder.path)
        #expect(try #require(outcomes.first).1.get().resumedBytes > 8_000)
        for index in 0..<2 {
            #expect(server.received(index).requestLine == "GET /f?version=2 HTTP/1.1")
        }
    }
}

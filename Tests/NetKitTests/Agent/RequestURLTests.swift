import NetKit
import NetKitTesting
import Testing

struct RequestURLTests {
    private let stub = StubTransport { _ in .text("x") }

    /// Returns the URL that a request is sent to.
    private func resolvedURL(
        _ path: String = "get", base: String? = "http://agent/v1", _ change: (inout Request<Bytes>) -> Void
    ) async throws -> String? {
        var request = Request<Bytes>(path)
        change(&request)
        _ = try await Agent(.init(baseURL: base), transport: stub).send(request)
        return stub.requests.last?.url
    }

    @Test func baseOfTheRequestOverridesTheBaseOfTheAgent() async throws {
        #expect(try await resolvedURL { $0.baseURL = "http://own/a" } == "http://own/a/get")
        #expect(try await resolvedURL { $0.baseURL = "" } == "http://agent/v1/get")
        #expect(try await resolvedURL { $0.baseURL = nil } == "http://agent/v1/get")
        #expect(try await resolvedURL(base: nil) { $0.baseURL = "http://own" } == "http://own/get")
    }

    @Test func absoluteURLIsNotChanged() async throws {
        let url = try await resolvedURL("http://there/x?y=1") { $0.baseURL = "http://own" }
        #expect(url == "http://there/x?y=1")
    }

    // YTKNetwork crashed on such a URL (Y10).
    @Test func invalidURLIsEncodedOrReportedWithoutACrash() async throws {
        #expect(try await resolvedURL("中文 a") { $0.baseURL = "http://own" } == "http://own/%E4%B8%AD%E6%96%87%20a")
        let count = stub.requests.count
        let code = await failureCode { () async throws(NetError) in
            var request = Request<Bytes>("x")
            request.baseURL = "nothing here"
            _ = try await Agent(transport: stub).send(request)
        }
        #expect(code == .badURL)
        #expect(stub.requests.count == count)
    }

    // A leading "/" replaces the base's path (RFC 3986, 5.2.2), as in YTKNetwork (Y11). `keepsBasePath` keeps it.
    @Test func leadingSlashKeepsTheBasePathWhenConfigured() async throws {
        for (isKept, url) in [(false, "http://own/get"), (true, "http://own/a/get")] {
            var configuration = Agent.Configuration()
            configuration.keepsBasePath = isKept
            var request = Request<Bytes>("/get")
            request.baseURL = "http://own/a"
            _ = try await Agent(configuration, transport: stub).send(request)
            #expect(stub.requests.last?.url == url)
        }
    }

    @Test func completeRequestInheritsNothingFromItsAgent() async throws {
        var configuration = Agent.Configuration(baseURL: "http://agent", headers: ["X-Agent": "1"])
        configuration.parameters = ["a": 1]
        configuration.computedHeaders = { _ in ["X-Computed": "1"] }
        let agent = Agent(configuration, transport: stub)
        var request = Request<Bytes>("http://there/x", method: .put, headers: ["X-Own": "1"], body: .text("body"))
        request.isComplete = true
        _ = try await agent.send(request)
        let received = try #require(stub.requests.last)
        #expect(received.url == "http://there/x")
        #expect(received.headers.map(\.name) == ["X-Own", "Content-Type"])
        #expect(received.body.text == "body")
        #expect(received.request.limits.equals(Limits()))
        request.url = "relative"
        let server = try LoopbackServer()
        #expect(await ending(of: request, from: Agent(.init(baseURL: server.url("/")))) == .failed(.badURL))
    }

    @Test func streamsAndSavesUseTheSameURLs() async throws {
        let folder = try TemporaryFolder()
        let agent = Agent(.init(baseURL: "http://agent"), transport: stub)
        var request = Request<Bytes>("x", parameters: ["a": 1])
        request.baseURL = "http://own"
        _ = try await agent.stream(request).collect(upTo: 10)
        _ = try await agent.download(request, to: folder.file("f"), options: .init(isResumable: false))
        #expect(stub.requests.map(\.url) == ["http://own/x?a=1", "http://own/x?a=1"])
        #expect(
            await failureCode { () async throws(NetError) in
                _ = try await agent.download(request, to: "", options: .init(isResumable: false))
            } == .usage)
    }

    // YTKNetwork has one configuration for the process (Y16).
    @Test func agentsShareNoConfiguration() async throws {
        let agents = ["http://a", "http://b"].map { Agent(.init(baseURL: $0), transport: stub) }
        for agent in agents {
            _ = try await agent.send(Request<Bytes>("x"))
        }
        #expect(stub.requests.map(\.url) == ["http://a/x", "http://b/x"])
    }
}

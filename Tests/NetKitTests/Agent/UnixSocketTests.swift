import NetKit
import Testing

struct UnixSocketTests {
    private let folder: TemporaryFolder
    private let local: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        local = try LoopbackServer(unixPath: folder.file("socket"))
    }

    private func agent(_ base: String?) -> Agent {
        Agent(configured: { configuration in
            configuration.baseURL = base
            configuration.unixSocket = folder.file("socket")
        })
    }

    @Test func requestsUseTheUnixSocketOfTheAgent() async throws {
        local.script("*", .text("local"))
        #expect(try await agent("http://docker.test/v1").get("info", as: String.self).value == "local")
        #expect(try await agent(nil).get("http://docker.test/info", as: String.self).value == "local")
        #expect(local.received(0).requestLine == "GET /v1/info HTTP/1.1")
        #expect(local.received(0).values(named: "Host") == ["docker.test"])
        var request = Request<String>("info")
        request.tag = 1
        #expect(try await agent("http://docker.test/v1").send(request).value == "local")
    }

    @Test func otherOriginsAndRedirectsToThemDoNotUseTheUnixSocketOfTheAgent() async throws {
        let remote = try LoopbackServer()
        remote.script("/", .text("remote"))
        local.script("/away", .redirect(to: remote.url("/")))
        let agent = agent("http://docker.test")
        #expect(try await agent.get(remote.url("/"), as: String.self).value == "remote")
        #expect(try await agent.get("away", as: String.self).value == "remote")
        #expect(local.requestCount == 1 && remote.requestCount == 2)
    }

    @Test func unixSocketOfTheRequestOverridesThatOfTheAgent() async throws {
        let other = try LoopbackServer(unixPath: folder.file("other"))
        other.script("*", .text("other"))
        var request = Request<String>("info")
        request.unixSocket = folder.file("other")
        #expect(try await agent("http://docker.test").send(request).value == "other")
    }
}

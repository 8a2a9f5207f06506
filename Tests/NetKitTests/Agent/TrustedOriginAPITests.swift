import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Every way to send a request adds the agent's fields and parameters only for the base URL's origin.
struct TrustedOriginAPITests {
    private struct There: Endpoint {
        typealias Value = String
        let path: String
    }

    private func agent(_ home: MockServer) -> Agent {
        var configuration = Agent.Configuration(baseURL: home.url, headers: ["X-Key": canary])
        configuration.parameters = ["key": .string(canary)]
        configuration.interceptors = [
            CredentialRefresh(canary) {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                ""
            }
        ]
        return Agent(configuration)
    }

    private func shows(_ received: MockServer.Received) -> Bool {
        let fields = received.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        return (received.target + fields).contains(canary)
    }

    @Test func everyAPIHidesSecretsFromOtherOrigins() async throws {
        let (home, away) = (try MockServer(), try MockServer(host: "127.0.0.2"))
        try away.register("*", with: .text("\"away\""))
        try away.register(
            "/events", with: StubReply(headers: ["Content-Type": "text/event-stream"], body: [.text("data: x\n\n")]))
        let agent = agent(home)
        let folder = try TemporaryFolder()
        for url in ["//127.0.0.2:\(away.port)/x", "http://127.0.0.2:\(away.port)/x"] {
            let request = Request<String>(url)
            _ = try await agent.send(request)
            _ = try await agent.send(There(path: url))
            _ = try await agent.send(Batch([request, request]))
            _ = try await agent.send(Chain(request).then { _ in request })
            _ = try await agent.stream(request).collect(upTo: 100)
            _ = try await agent.download(request, to: folder.file("saved"), options: .init(isResumable: false))
            _ = try await agent.download(request, to: folder.file("loaded"))
            _ = try await agent.send(Request<Void>(url, method: .post, body: .text("up")))
            _ = try await agent.start(request, on: .here).value
            for try await page in agent.pages(of: request, by: .link()) {
                #expect(page.value == "\"away\"")
            }
            for try await event in agent.serverSentEvents(Request<Bytes>(url.replacing("/x", with: "/events"))) {
                #expect(event.data == "x")
                break
            }
        }
        #expect(away.requests.count >= 2 * 12)
        #expect(!away.requests.contains { shows($0) })
        #expect(home.requests.isEmpty)
        await agent.shutdown()
    }

    @Test func redirectsNeitherLeakNorRestoreSecrets() async throws {
        let (home, away) = (try MockServer(), try MockServer(host: "127.0.0.2"))
        try home.register("/out", with: .redirect(to: away.url + "/end"))
        try away.register("/back", with: .redirect(to: home.url + "/end"))
        try away.register("/end", with: .text("away"))
        try home.register("/end", with: .text("home"))
        let agent = agent(home)
        #expect(try await agent.send(Request<String>("/out")).value == "away")
        #expect(try await agent.send(Request<String>("//127.0.0.2:\(away.port)/back")).value == "home")
        #expect(!away.requests.contains { shows($0) })
        #expect(home.requests.map { shows($0) } == [true, false])
        await agent.shutdown()
    }

    @Test func refusalAfterACrossOriginRedirectStartsNoRefresh() async throws {
        let (home, away) = (try MockServer(), try MockServer(host: "127.0.0.2"))
        try home.register("/out", with: .redirect(to: away.url + "/x"))
        try away.register("/x", with: .status(401))
        let refreshes = Counter()
        var configuration = Agent.Configuration(baseURL: home.url)
        configuration.interceptors = [
            CredentialRefresh("t") {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                refreshes.increment()
                return "new"
            }
        ]
        let agent = Agent(configuration)
        #expect(try await agent.send(Request<Bytes>("/out")).status == 401)
        #expect(refreshes.value == 0)
        #expect(away.requests.count == 1)
        await agent.shutdown()
    }

    @Test func netrcCredentialsAreSelectedByHost() async throws {
        let (home, away) = (try MockServer(), try MockServer(host: "127.0.0.2"))
        try away.register("*", with: .text("away"))
        let folder = try TemporaryFolder()
        try folder.write(Array("machine 127.0.0.2 login me password word\n".utf8), to: "netrc", mode: 0o600)
        var configuration = Agent.Configuration(baseURL: home.url)
        configuration.netrc = .file(folder.file("netrc"))
        let agent = Agent(configuration)
        _ = try await agent.send(Request<String>("//127.0.0.2:\(away.port)/x"))
        #expect(away.requests.last?.headers["Authorization"] == "Basic bWU6d29yZA==")
        await agent.shutdown()
    }
}

import NetKit
import Testing

/// Foundation on Linux forwards a token to another origin. NetKit sends credentials only to the origin they were set
/// for.
struct CrossOriginTests {
    private static let statuses: [UInt16] = [301, 302, 303, 307, 308]

    /// Returns requests that each carry the canary in another form.
    private static func secrets(_ server: LoopbackServer) -> [Request<Bytes>] {
        let fields: [Headers] = [
            ["Authorization": "Bearer \(canary)"], ["Cookie": "session=\(canary)"], ["X-Api-Key": canary],
            ["Proxy-Authorization": "Basic \(canary)"], ["Referer": "http://\(canary)/"], ["Origin": canary],
        ]
        var requests = fields.map { Request<Bytes>(server.url("/a"), headers: $0) }
        requests.append(Request(server.url("/a", userinfo: "\(canary):\(canary)")))
        requests.append(Request("\(server.url("/a"))?key=\(canary)"))
        for credentials in [Credentials.bearer(canary), .basic(user: canary, password: canary)] {
            var request = Request<Bytes>(server.url("/a"))
            request.credentials = credentials
            requests.append(request)
        }
        return requests
    }

    /// The canary in plain text, and the start of its Base64 form, alone or as "canary:canary".
    private static let disguises = [canary, "Y2FuYXJ5"]

    @Test(arguments: statuses)
    func noSecretReachesAnotherHostOrPort(status: UInt16) async throws {
        let server = try LoopbackServer()
        let others = [try LoopbackServer(), try LoopbackServer(host: "127.0.0.2")]
        for other in others {
            other.script("/b", .redirect(to: "/c"))
            other.script("/c", .text("there"))
            server.script("/a", .redirect(to: other.url("/b"), status: status))
            let agent = Agent(configured: { $0.headers = ["X-Agent-Key": canary] })
            for request in Self.secrets(server) {
                let response = try await agent.send(request)
                #expect(response.url == other.url("/c"))
                #expect(!response.metrics.contains { $0.url.contains("\(canary):") })
            }
            for index in 0..<other.requestCount {
                let text = String(decoding: other.receivedBytes(index), as: UTF8.self)
                #expect(!Self.disguises.contains { text.contains($0) }, "\(text)")
            }
            #expect(other.requestCount == 2 * Self.secrets(server).count)
        }
    }

    @Test(arguments: statuses)
    func everySecretStaysAtItsOwnOrigin(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b", status: status))
        server.script("/b", .text("there"))
        for request in Self.secrets(server) where !request.url.contains("?") {
            server.forgetRequests()
            _ = try await Agent().send(request)
            let text = String(decoding: server.receivedBytes(1), as: UTF8.self)
            #expect(Self.disguises.contains { text.contains($0) }, "\(text)")
        }
    }

    @Test(arguments: statuses)
    func noSecretReachesAnotherOriginFollowedByAHook(status: UInt16) async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer(host: "127.0.0.2")
        other.script("/", .text("there"))
        server.script("/a", .redirect(to: other.url("/"), status: status))
        let agent = Agent(configured: {
            $0.headers = ["X-Agent-Key": canary]
            $0.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        })
        for request in Self.secrets(server) {
            #expect(try await agent.send(request).url == other.url("/"))
        }
        for index in 0..<other.requestCount {
            let text = String(decoding: other.receivedBytes(index), as: UTF8.self)
            #expect(!Self.disguises.contains { text.contains($0) }, "\(text)")
        }
        #expect(other.requestCount == Self.secrets(server).count)
    }

    @Test func noSecretOfAStreamOrAFileReachesAnotherOrigin() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer(host: "127.0.0.2")
        other.script("/", .text("there"))
        server.script("/a", .redirect(to: other.url("/")))
        let folder = try TemporaryFolder()
        let agent = Agent()
        for request in Self.secrets(server) {
            _ = try await agent.stream(request).collect(upTo: 100)
            _ = try await agent.download(request, to: folder.file("body"), options: .init(isResumable: false))
        }
        for index in 0..<other.requestCount {
            let text = String(decoding: other.receivedBytes(index), as: UTF8.self)
            #expect(!Self.disguises.contains { text.contains($0) }, "\(text)")
        }
        #expect(other.requestCount == 2 * Self.secrets(server).count)
    }

    @Test(arguments: [
        ("/a/b/rel", "final", "/a/b/final"), ("/a/b/rel", "./final", "/a/b/final"),
        ("/a/b/rel", "../final", "/a/final"),
        ("/a/b/rel", "/final", "/final"), ("/a/b/rel?x", "?y", "/a/b/rel?y"), ("/a/b/", "final", "/a/b/final"),
        ("/a/b/rel", "//HOST/final", "/final"),
    ])
    func relativeLocationResolvesAgainstTheRedirectingURL(path: String, location: String, target: String) async throws {
        let server = try LoopbackServer()
        let scriptedPath = String(path.prefix { $0 != "?" })
        let named = location.replacing("HOST", with: "127.0.0.1:\(server.port)")
        server.script("*", .text("end"))
        server.script(scriptedPath, [.redirect(to: named), .text("end")])
        let response = try await Agent().send(Request<String>(server.url(path)))
        #expect(response.value == "end")
        #expect(response.url == server.url(target))
        #expect(server.received(1).requestLine == "GET \(target) HTTP/1.1")
    }
}

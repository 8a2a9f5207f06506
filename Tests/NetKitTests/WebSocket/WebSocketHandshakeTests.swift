import NetKit
import NetKitTesting
import Testing

/// The handshake of a WebSocket is a request with everything that the agent adds.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketHandshakeTests {
    @Test func handshakeHasTheFieldsCredentialsAndCookiesOfARequest() async throws {
        let server = try MockServer()
        var cookie = StubReply.status(204)
        cookie.headers = ["Set-Cookie": "session=1"]
        try server.register("/login", with: cookie)
        try server.register("/chat", with: .webSocket())
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.cookies = .memory
        configuration.headers = ["X-App": "1"]
        configuration.credentials = .bearer("token")
        configuration.interceptors = [
            Wrapping { call, next async throws(NetError) in
                var call = call
                call.request.headers["X-Intercepted"] = "\(call.kind)"
                return try await next(call)
            }
        ]
        let agent = Agent(configuration)
        _ = try await agent.send(Request<Void>("login"))
        let socket = try await agent.webSocket(Request<Void>("chat", parameters: ["room": 7]))
        let received = try #require(server.requests.last)
        #expect(received.target == "/chat?room=7" && received.method == "GET")
        #expect(received.headers["X-App"] == "1" && received.headers["X-Intercepted"] == "webSocket")
        #expect(received.headers["Cookie"] == "session=1" && received.headers["Authorization"] == "Bearer token")
        try await socket.close()
    }

    @Test func refusedHandshakeThrowsTheResponse() async throws {
        let server = try MockServer()
        try server.register("/chat", with: .json(#"{"reason": "full"}"#, status: 503))
        let agent = Agent(baseURL: server.url)
        let error = await #expect(throws: NetError.self) { _ = try await agent.webSocket("chat") }
        #expect(error?.code == .upgradeRefused && error?.nativeCode == 503 && error?.status == 503)
        #expect(error?.decodedBody(as: JSONValue.self)?["reason"]?.string == "full")
        #expect(error?.response?.headers["Content-Type"] == "application/json")
        #expect(error?.metrics.count == 1)
        await agent.waitUntilIdle()
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func interceptorSendsARefusedHandshakeAgain() async throws {
        let server = try MockServer()
        try server.register("/chat", with: .status(503), .webSocket([.text("hello")]))
        var configuration = Agent.Configuration(baseURL: server.url)
        var retry = Retry()
        retry.baseDelay = .milliseconds(1)
        configuration.interceptors = [retry]
        let socket = try await Agent(configuration).webSocket("chat")
        #expect(try await socket.receive() == .text("hello"))
        #expect(server.requests.count == 2)
    }

    @Test func errorOfAnInterceptorEndsTheHandshake() async throws {
        let server = try MockServer()
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.interceptors = [
            Wrapping { _, _ async throws(NetError) in throw NetError(.circuitOpen, "not now") }
        ]
        let agent = Agent(configuration)
        #expect(
            await failureCode { () async throws(NetError) in _ = try await agent.webSocket("chat") } == .circuitOpen)
        #expect(server.requests.isEmpty)
    }

    @Test func redirectIsFollowedAlsoToAWebSocketURL() async throws {
        let server = try MockServer()
        let target = try MockServer(host: "127.0.0.2")
        try server.register("/chat", with: .redirect(to: "ws\(target.url.dropFirst(4))/chat"))
        try target.register("/chat", with: .webSocket([.text("here")]))
        let agent = Agent(.init(baseURL: server.url))
        let socket = try await agent.webSocket("chat")
        #expect(try await socket.receive() == .text("here"))
        #expect(socket.response.url == target.url + "/chat")
        var hooks = TransferHooks()
        let steps = Collected<String>()
        hooks.redirect = { step in
            steps.append(step.next.url)
            return .follow
        }
        var request = Request<Void>("chat")
        request.interceptors = [hooks]
        let hooked = try await agent.webSocket(request)
        #expect(try await hooked.receive() == .text("here"))
        #expect(steps.values == [target.url + "/chat"])
    }

    @Test func socketOverTLSChecksThePin() async throws {
        let server = try MockServer(isSecure: true)
        try server.register("/chat", with: .webSocket([.text("safe")]))
        let agent = Agent(configured: { $0.trust = server.trust })
        let url = "wss\(server.url.dropFirst(5))/chat"
        let socket = try await agent.webSocket(url)
        #expect(try await socket.receive() == .text("safe"))
        #expect(socket.response.metrics.last?.tlsVersion.isEmpty == false)
        var request = Request<Void>(url)
        var policy = server.trust
        policy.rules = [PinRule("**", pins: [.hash("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")])]
        request.trust = policy
        let error = await #expect(throws: NetError.self) { _ = try await agent.webSocket(request) }
        #expect(error?.code == .pinMismatch && error?.trust != nil)
        let other = await failureCode { () async throws(NetError) in _ = try await Agent().webSocket(url) }
        #expect(other == .tlsUntrusted)
    }

    @Test func requestThatCannotOpenASocketIsRefused() async throws {
        let agent = Agent()
        let url = "ws://127.0.0.1:9/"
        let requests = [
            Request<Void>(url, method: .post), Request<Void>(url, body: Body([1])),
            Request<Void>(url, headers: ["Connection": "close"]), Request<Void>("ftp://127.0.0.1/"),
        ]
        var codes: [NetError.Code?] = []
        for request in requests {
            codes.append(await failureCode { () async throws(NetError) in _ = try await agent.webSocket(request) })
        }
        #expect(codes == [.usage, .usage, .badHeader, .badScheme])
    }

    @Test func failedConnectionIsTheErrorOfTheHandshake() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let agent = Agent()
        let url = "ws://127.0.0.1:\(port.number)/"
        #expect(await failureCode { () async throws(NetError) in _ = try await agent.webSocket(url) } == .refused)
    }
}

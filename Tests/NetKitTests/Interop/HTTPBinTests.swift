import NetKit
import NetKitCompat
import Testing

/// An agent's features against a third-party server. Tests/Interop has the other tests.
@Suite(
    .enabled(
        if: ExternalServer.isInstalled(ExternalServer.python),
        "build/venv is missing; script/bootstrap --tests makes it"))
struct HTTPBinTests {
    private let server: ExternalServer

    init() async throws {
        server = try await ExternalServer.start(inherits: true) { _ in
            [
                ExternalServer.python, "-m", "gunicorn", "--bind", "fd://3", "--worker-class", "gthread", "--threads",
                "8",
                "--no-control-socket", "httpbin:app",
            ]
        }
    }

    private struct Echo: Decodable {
        var form: [String: String]
        var data: String
        var headers: [String: String]
    }

    private struct Cookies: Decodable {
        var cookies: [String: String]
    }

    @Test func anAgentLogsInKeepsCookiesAndReadsCodings() async throws {
        var configuration = Agent.Configuration(baseURL: server.url("/"))
        configuration.cookies = .memory
        let agent = Agent(configuration)
        var login = Request<String>("digest-auth/auth/me/pw/SHA-256")
        login.credentials = .any(user: "me", password: "pw")
        #expect(try await agent.send(login).value.contains("\"authenticated\": true"))
        let set = try await agent.send(Request<Cookies>("cookies/set?a=1")).value
        #expect(set.cookies["a"] == "1")
        #expect(try await agent.cookies.all().contains { $0.name == "a" && $0.value == "1" })
        try agent.cookies.removeAll()
        #expect(try await agent.send(Request<Cookies>("cookies")).value.cookies.isEmpty)
        #expect(try await agent.send(Request<String>("brotli")).value.contains("\"brotli\": true"))
        await agent.shutdown()
    }

    @Test func challengeHandlerIsCalledOnceAndItsCredentialsAreSent() async throws {
        var configuration = Agent.Configuration(baseURL: server.url("/"))
        configuration.interceptors.append(
            TransferHooks(challenge: { challenge in
                challenge.previousFailureCount == 0 ? .use(.basic(user: "me", password: "pw")) : .cancel
            }))
        let agent = Agent(configuration)
        #expect(try await agent.send(Request<String>("basic-auth/me/pw")).status == 200)
        await agent.shutdown()
    }

    @Test func chunkedBodyIsSentAndALongResponseIsReadByLines() async throws {
        let agent = Agent(.init(baseURL: server.url("/")))
        let body = Body.stream(contentType: "text/plain") {
            AsyncStream<[UInt8]> { pieces in
                for piece in ["one ", "two ", "three"] {
                    pieces.yield(Array(piece.utf8))
                }
                pieces.finish()
            }
        }
        let echo = try await agent.send(Request<Echo>("put", method: .put, body: body)).value
        #expect(echo.data == "one two three")
        #expect(echo.headers["Transfer-Encoding"] == "chunked")
        var count = 0
        for try await line in try await agent.stream(Request<Bytes>("stream/30")).lines {
            #expect(line.hasPrefix("{"))
            count += 1
        }
        #expect(count == 30)
        await agent.shutdown()
    }

    @Test(.enabled(if: ExternalServer.isInstalled("microsocks"), "microsocks is missing"))
    func proxyReceivesItsOwnCredentials() async throws {
        let proxy = try await ExternalServer.start {
            ["microsocks", "-i", "127.0.0.1", "-p", "\($0)", "-u", "me", "-P", "pw"]
        }
        let agent = Agent(.init(baseURL: server.url("/")))
        var request = Request<String>("headers")
        request.proxy = Proxy("socks5h://127.0.0.1:\(proxy.port)", credentials: .basic(user: "me", password: "pw"))
        let value = try await agent.send(request).value
        #expect(!value.contains("uthorization"))
        request.proxy.credentials = .basic(user: "me", password: "wrong")
        let refused = request
        await #expect { try await agent.send(refused) } throws: { ($0 as? NetError)?.code == .proxy }
        await agent.shutdown()
    }
}

import NetKit
import Testing

struct SendingTests {
    @Test func agentFieldsFillInWhatTheRequestOmits() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let agent = Agent(.init(headers: ["X-Agent": "1", "X-Both": "agent", "x-both": "agent too"]))
        let request = Request<Void>(server.url("/"), headers: ["x-BOTH": "request", "X-Own": "2", "x-own": "3"])
        _ = try await agent.send(request)
        let received = server.received()
        #expect(received.values(named: "X-Agent") == ["1"])
        #expect(received.values(named: "X-Both") == ["request"])
        #expect(received.values(named: "X-Own") == ["2", "3"])
        let names = received.fields.map(\.name)
        #expect(names.filter { $0.lowercased().hasPrefix("x-") } == ["x-BOTH", "X-Own", "x-own", "X-Agent"])
    }

    @Test func bareRequestSendsOnlyHostAndUserAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        var request = Request<Bytes>(server.url("/?a=1&b=%20#fragment"))
        request.acceptsCodings = false
        _ = try await Agent().send(request)
        let received = server.received()
        #expect(received.requestLine == "GET /?a=1&b=%20 HTTP/1.1")
        #expect(received.fields.map(\.name) == ["Host", "User-Agent"])
        #expect(received.values(named: "Host") == ["127.0.0.1:\(server.port)"])
        #expect(received.body.isEmpty)
    }

    @Test func fieldValueCanBeEmptyOrContainAnyByteExceptLineEndings() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let headers: Headers = ["X-Empty": "", "X-Wide": "é\u{1}\"; ,中", "Accept": "a/b", "User-Agent": "me"]
        _ = try await Agent().send(Request<Void>(server.url("/"), headers: headers))
        let received = server.received()
        for field in headers {
            #expect(received.values(named: field.name) == [field.value])
        }
    }

    @Test func contentCodingsAreRequestedByDefault() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        var request = Request<Bytes>(server.url("/"))
        _ = try await Agent().send(request)
        #expect(server.received(0).values(named: "Accept-Encoding").first?.contains("gzip") == true)
        request.acceptsCodings = false
        _ = try await Agent().send(request)
        #expect(server.received(1).values(named: "Accept-Encoding").isEmpty)
    }

    @Test func bodyIsDecodedOnlyWhenCodingsAreAccepted() async throws {
        // "hi" as a gzip file with a stored block.
        let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 0, 0xFD, 0xFF, 0x68, 0x69, 0xAC, 0x2A, 0x93, 0xD8, 2, 0, 0, 0,
        ]
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Encoding: gzip"], body: packed))
        var request = Request<Bytes>(server.url("/"))
        let plain = try await Agent().send(request)
        #expect(plain.bytes == Bytes(Array("hi".utf8)))
        #expect(plain.metrics.first?.receivedBytes == packed.count)
        #expect(plain.metrics.first?.decodedBytes == 2)
        request.acceptsCodings = false
        #expect(try await Agent().send(request).bytes == Bytes(packed))
    }

    @Test func connectOverrideKeepsTheHostName() async throws {
        let server = try LoopbackServer(.wrongName)
        server.script("/", .text("there"))
        var request = Request<String>("https://other.example/")
        request.trust = TrustPolicy(authorityOf: server)
        request.addressOverrides = [
            AddressOverride(host: "unrelated.example", toHost: "127.0.0.9", toPort: 1),
            AddressOverride(host: "other.example", port: 443, toHost: "127.0.0.1", toPort: server.port),
            AddressOverride(toHost: "127.0.0.9", toPort: 1),
        ]
        let response = try await Agent().send(request)
        #expect(response.value == "there")
        #expect(response.url == "https://other.example/")
        #expect(response.metrics.first?.remotePort == server.port)
        #expect(server.received().values(named: "Host") == ["other.example"])
    }

    @Test func connectOverrideCanChangeOnlyThePort() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        var request = Request<Bytes>("http://127.0.0.1/")
        request.addressOverrides = [AddressOverride(toPort: server.port)]
        #expect(try await Agent().send(request).status == 200)
        request.addressOverrides = [AddressOverride(host: "127.0.0.1", port: 80, toPort: server.port)]
        #expect(try await Agent().send(request).status == 200)
    }

    @Test func requestTrustOverridesAgentTrust() async throws {
        let server = try LoopbackServer(.valid)
        server.script("/", Reply())
        var request = Request<Bytes>(server.url("/"))
        request.trust = TrustPolicy()
        #expect(await ending(of: request, from: Agent(trusting: server)) == .failed(.tlsUntrusted))
        request.trust = TrustPolicy(authorityOf: server)
        #expect(await ending(of: request, from: Agent()) == .answered)
    }

    @Test func userinfoIsMovedFromTheURLToAuthorization() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let response = try await Agent().send(Request<Bytes>(server.url("/", userinfo: "user:p%40ss")))
        // "user:p@ss" in Base64.
        #expect(server.received().values(named: "Authorization") == ["Basic dXNlcjpwQHNz"])
        #expect(response.url == server.url("/"))
        #expect(response.source == .network)
    }

    @Test func expectContinueIsSentOnlyWithABody() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let agent = Agent()
        for (index, body) in [nil, Body(Bytes()), Body.text("x")].enumerated() {
            var request = Request<Bytes>(server.url("/"), method: .put, body: body)
            request.expectsContinue = true
            _ = try await agent.send(request)
            #expect(server.received(index).values(named: "Expect") == (index == 2 ? ["100-continue"] : []))
            #expect(request.curl.contains("Expect: 100-continue") == (index == 2))
        }
    }

    @Test func agentsAreIndependent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        _ = try await Agent().send(Request<Void>(server.url("/")))
        _ = try await Agent().send(Request<Void>(server.url("/")))
        #expect(server.connectionCount == 2)
    }

    @Test func connectionsPerHostAreLimited() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply.text("x"))
        var configuration = Agent.Configuration()
        configuration.maxConnectionsPerHost = 3
        let agent = Agent(configuration)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<60 {
                group.addTask { try await agent.send(Request<Bytes>(server.url("/"))).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 60))
        #expect((1...3).contains(server.connectionCount))
    }
}

import CNetCore
import NetKit
import Testing

/// Foundation on Linux supports only Basic.
struct CredentialsTests {
    private static func send(_ credentials: Credentials, to server: LoopbackServer) async throws -> Response<Bytes> {
        var request = Request<Bytes>(server.url("/"))
        request.credentials = credentials
        return try await Agent().send(request)
    }

    private static func refusal(_ challenges: String...) -> Reply {
        Reply(status: 401, headers: challenges.map { "WWW-Authenticate: \($0)" }, body: Array("who?".utf8))
    }

    @Test func basicIsSentPreemptively() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(body: Array("in".utf8), user: "me", password: "secret"))
        #expect(try await Self.send(.basic(user: "me", password: "secret"), to: server).status == 200)
        #expect(server.requestCount == 1)
        #expect(try await Self.send(.basic(user: "me", password: "wrong"), to: server).status == 401)
    }

    @Test func bearerIsSentPreemptively() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("in"))
        #expect(try await Self.send(.bearer("token~1"), to: server).status == 200)
        #expect(server.received().values(named: "Authorization") == ["Bearer token~1"])
        #expect(server.requestCount == 1)
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func digestRespondsToItsChallenge(algorithm: String) async throws {
        let server = try LoopbackServer()
        let challenge = "Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth\", algorithm=\(algorithm)"
        server.script("/", [Self.refusal(challenge), .text("in")])
        let response = try await Self.send(.digest(user: "me", password: "secret"), to: server)
        #expect(response.status == 200)
        #expect(response.bytes == Bytes(Array("in".utf8)))
        #expect(server.requestCount == 2)
        let authorization = try #require(server.received(1).values(named: "Authorization").first)
        for part in [
            "Digest ", "username=\"me\"", "realm=\"the realm\"", "nonce=\"n0nce\"", "uri=\"/\"", "nc=00000001",
        ] {
            #expect(authorization.contains(part), "\(authorization)")
        }
        let digits = try #require(authorization.firstRange(of: "response=\"")).upperBound
        #expect(authorization[digits...].prefix { $0.isHexDigit }.count == (algorithm == "MD5" ? 32 : 64))
        #expect(!authorization.contains("secret"))
    }

    @Test func strongestOfferedSchemeIsUsed() async throws {
        let server = try LoopbackServer()
        server.script(
            "/", [Self.refusal("Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""), .text("in")])
        #expect(try await Self.send(.any(user: "me", password: "secret"), to: server).status == 200)
        #expect(server.received(0).values(named: "Authorization").isEmpty)
        #expect(server.received(1).values(named: "Authorization").first?.hasPrefix("Digest ") == true)
        server.forgetRequests()
        server.script("/", [Self.refusal("Basic realm=\"r\""), .text("in")])
        #expect(try await Self.send(.any(user: "me", password: "secret"), to: server).status == 200)
        // "me:secret" in Base64.
        #expect(server.received(1).values(named: "Authorization") == ["Basic bWU6c2VjcmV0"])
    }

    @Test func schemesAreUnsupportedWhenLibcurlLacksThem() async throws {
        let can = unsafe nc_capabilities_query()
        let server = try LoopbackServer()
        let schemes: [(String, Credentials, Bool)] = unsafe [
            ("NTLM", .ntlm(user: "me", password: "secret"), can.has_ntlm),
            ("Negotiate", .negotiate(), can.has_negotiate),
        ]
        for (name, credentials, isThere) in schemes {
            server.forgetRequests()
            server.script("/", Self.refusal(name))
            var request = Request<Bytes>(server.url("/"))
            request.credentials = credentials
            let outcome = await ending(of: request, from: Agent())
            if isThere {
                #expect(server.requestCount > 0)
                #expect(outcome != .failed(.unsupported))
            } else {
                #expect(server.requestCount == 0)
                #expect(outcome == .failed(.unsupported))
            }
        }
        if unsafe can.has_ntlm {
            let authorization = (0..<server.requestCount).flatMap { server.received($0).values(named: "Authorization") }
            #expect(!authorization.contains { $0.contains("secret") })
        }
    }

    @Test func descriptionsContainNoCredentials() {
        let all: [Credentials] = [
            .basic(user: canary, password: canary), .digest(user: canary, password: canary), .bearer(canary),
            .ntlm(user: canary, password: canary), .negotiate(user: canary, password: canary),
            .any(user: canary, password: canary),
        ]
        for credentials in all {
            var text = ""
            dump(credentials, to: &text)
            dump([credentials], to: &text)
            dump(Optional(credentials), to: &text)
            text += "\(credentials) \(String(reflecting: credentials)) \([credentials]) \(String(describing: all))"
            text += Mirror(reflecting: credentials).children.map { "\($0.label ?? "") \($0.value)" }.joined()
            #expect(!text.contains(canary))
        }
        let names = ["basic", "digest", "bearer", "ntlm", "negotiate", "basic, digest"]
        #expect(all.map(\.description) == names.map { "Credentials(\($0))" })
    }

    @Test func credentialsAreEqualIfSchemesAndSecretsAre() {
        let kinds: [Credentials] = [
            .inherited, .none, .basic(user: "u", password: "p"), .digest(user: "u", password: "p"), .bearer("u"),
            .ntlm(user: "u", password: "p"), .negotiate(user: "u", password: "p"), .negotiate(),
            .any(user: "u", password: "p"), .basic(user: "u", password: "q"), .basic(user: "v", password: "p"),
            .basic(user: "", password: ""), .bearer(""),
        ]
        #expect(Set(kinds).count == kinds.count)
        #expect(Credentials.negotiate() == .negotiate(user: "", password: ""))
        #expect(Set(kinds + kinds).count == kinds.count)
    }
}

#if Redis
import NetKitTesting
import Testing

@testable import NetKit
@testable import NetKitRedis

/// Connections to a server with TLS.
@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct RedisTrustTests {
    private func client(_ server: RedisServer, _ trust: TrustPolicy?) throws -> RedisClient {
        try RedisClient(server.portURL, prefix: "p", trust: trust, timeLimit: .seconds(30))
    }

    private func certificates(_ server: RedisServer) throws -> GeneratedCertificates {
        try #require(server.certificates)
    }

    @Test func ownAuthorityAndPinAreAccepted() async throws {
        let server = try await RedisServer.startTLS()
        let certificates = try certificates(server)
        for trust in [
            TrustPolicy(roots: .pem(certificates.authority)),
            try TrustPolicy(roots: .pem(certificates.authority)).pinning("localhost", [certificates.pin]),
        ] {
            let client = try client(server, trust)
            let store = RedisCacheStore(client)
            try await store.put(CacheEntry(body: [1]), for: .test("k"))
            #expect(try await store.entry(for: .test("k"))?.body == [1])
            #expect(client.lastFailure == nil)
        }
    }

    @Test func serverWhoseCertificateIsRefusedIsAMissAndNoRequestFails() async throws {
        let server = try await RedisServer.startTLS()
        let authority = try certificates(server).authority
        let wrongPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let policies: [(TrustPolicy?, NetError.Code)] = [
            (nil, .tlsUntrusted),
            (TrustPolicy(roots: .pem(try GeneratedCertificates().authority)), .tlsUntrusted),
            (try TrustPolicy(roots: .pem(authority)).pinning("localhost", [wrongPin]), .pinMismatch),
        ]
        for (trust, code) in policies {
            let client = try client(server, trust)
            let store = RedisCacheStore(client)
            let stub = StubTransport()
            stub.register("*", with: .text("1"), .text("2"))
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.interceptors = [Caching(store, rules: .application(CachePolicy(maximumAge: .seconds(3600))))]
            let agent = Agent(configuration, transport: stub)
            for number in 1...2 {
                #expect(try await agent.send(Request<String>("/")).value == "\(number)")
            }
            #expect(store.statistics.failedLookups >= 2)
            #expect(store.statistics.hits == 0)
            #expect(client.lastFailure?.code == code)
            let error = await #expect(throws: NetError.self) { _ = try await store.list() }
            #expect(error?.code == code)
        }
    }

    @Test func clientCertificateIsSentToAServerThatRequiresOne() async throws {
        let own = try GeneratedCertificates()
        let server = try await RedisServer.startTLS(clients: own.authority)
        var trust = TrustPolicy(roots: .pem(try certificates(server).authority))
        let stranger = try client(server, trust)
        await #expect(throws: NetError.self) { _ = try await RedisCacheStore(stranger).list() }
        trust.identity = .pem(certificate: own.certificate, key: own.key)
        #expect(try await RedisCacheStore(try client(server, trust)).list().isEmpty)
    }

    @Test func policyThatCannotBeAppliedIsRefused() throws {
        var malformed = TrustPolicy()
        malformed.rules = [PinRule("localhost", pins: [.hash("no hash")])]
        let cases: [(String, TrustPolicy, NetError.Code)] = [
            ("rediss://localhost", malformed, .badPin),
            ("rediss://localhost", TrustPolicy(roots: .file("/absent/ca.pem")), .tlsRoots),
            ("redis://localhost", TrustPolicy(), .plaintextRefused),
            ("unix:///tmp/socket", TrustPolicy(), .plaintextRefused),
        ]
        for (url, trust, code) in cases {
            let error = #expect(throws: NetError.self) { try RedisClient(url, trust: trust) }
            #expect(error?.code == code)
        }
    }
}
#endif

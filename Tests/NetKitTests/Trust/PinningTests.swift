import NetKit
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Pins as values: on agents and requests, right, wrong and malformed, in files, report-only and overridden.
struct PinningTests {
    private static let wrong = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// Returns a server and the pins of its chain, leaf first.
    private func pinnable() async throws -> (server: LoopbackServer, pins: [String]) {
        let server = try LoopbackServer(.valid)
        server.script("/", .text("ok"))
        var policy = TrustPolicy(roots: .pem(server.authority))
        policy.rules = [PinRule("**", pins: [.hash(Self.wrong)])]
        var request = Request<Bytes>(server.url("/"))
        request.trust = policy
        let error = await #expect(throws: NetError.self) { try await Agent().send(request) }
        return (server, try #require(error?.trust?.chainPins))
    }

    private func policy(_ server: LoopbackServer, _ pins: [String]) throws -> TrustPolicy {
        try TrustPolicy(roots: .pem(server.authority)).pinning("127.0.0.1", pins)
    }

    @Test func requestPinNarrowsTheAgentPin() async throws {
        let (server, pins) = try await pinnable()
        let right = try policy(server, [pins[0], Self.wrong])
        let agent = Agent(configured: { $0.trust = right })
        var request = Request<String>(server.url("/"))
        #expect(try await agent.send(request).value == "ok")
        request.trust = try policy(server, [Self.wrong])
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .pinMismatch)
        request.trust = nil
        #expect(try await agent.send(request).value == "ok")
        #expect(server.requestCount == 2)
    }

    @Test func changedPolicyAppliesToTheNextRequest() async throws {
        let (server, pins) = try await pinnable()
        let agent = Agent(trusting: server)
        let request = Request<Bytes>(server.url("/"))
        #expect(await ending(of: request, from: agent) == .answered)
        let before = server.connectionCount
        try agent.setTrust(try policy(server, [Self.wrong]))
        #expect(await ending(of: request, from: agent) == .failed(.pinMismatch))
        try agent.setTrust(try policy(server, pins))
        #expect(await ending(of: request, from: agent) == .answered)
        #expect(server.connectionCount == before + 2)
        var malformed = TrustPolicy()
        malformed.rules = [PinRule("**", pins: [])]
        #expect(throws: NetError.self) { try agent.setTrust(malformed) }
        #expect(await ending(of: request, from: agent) == .answered)
    }

    @Test func errorListsPresentedAndExpectedPins() async throws {
        let (server, pins) = try await pinnable()
        #expect(pins.count == 2)
        var request = Request<String>(server.url("/"))
        request.trust = try policy(server, [Self.wrong])
        let error = try #require(await #expect(throws: NetError.self) { try await Agent().send(request) })
        let trustResult = try #require(error.trust)
        #expect(trustResult.refusal == .pinMismatch)
        #expect(trustResult.isVerified)
        #expect(trustResult.chainPins == pins)
        #expect(trustResult.policyPins == [Self.wrong])
        for pin in pins + [Self.wrong] {
            #expect(error.message.contains(pin))
        }
        #expect(error.message.contains("127.0.0.1:\(server.port)"))
        #expect(error.response == nil)
    }

    @Test(arguments: [
        "", "sha256/", "sha256/AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "nonsense",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ]) func aMalformedPinIsAnErrorWhenThePolicyIsMade(_ pin: String) async throws {
        #expect(throws: NetError.self) { try TrustPolicy.pinned("a.example", [pin]) }
        #expect(throws: NetError.self) { try TrustPolicy.pinned("a.example", [Self.wrong, pin]) }
        // A malformed policy that skipped the parser fails its first request.
        var policy = TrustPolicy()
        policy.rules = [PinRule("**", pins: [.hash(pin)])]
        var request = Request<Bytes>("https://127.0.0.1:1/")
        request.trust = policy
        #expect(await ending(of: request, from: Agent()) == .failed(.badPin))
    }

    @Test func emptyPinsAndEmptyHostAreErrors() {
        #expect(throws: NetError.self) { try TrustPolicy.pinned("a.example", []) }
        #expect(throws: NetError.self) { try TrustPolicy.pinned("", [Self.wrong]) }
        #expect(throws: NetError.self) { try TrustPolicy.pinned("*", [Self.wrong]) }
    }

    @Test func singlePinIsReportedAsAWarning() throws {
        let lone = try TrustPolicy.pinned("a.example", [Self.wrong])
        #expect(try lone.warnings() == ["the rule for a.example has no backup pin"])
        let hex = String(repeating: "01", count: 32)
        #expect(try lone.pinning("A.example", [hex]).warnings().isEmpty)
    }

    @Test func onlyPinnedCertificatesAreAuthorities() async throws {
        let (server, _) = try await pinnable()
        let folder = try TemporaryFolder()
        #expect(throws: NetError.self) { try TrustPolicy.certificates(in: URL(fileURLWithPath: folder.path)) }
        try folder.write(server.authority, to: "authority.cer")
        var request = Request<String>(server.url("/"))
        for place in [folder.path, folder.file("authority.cer")] {
            request.trust = try TrustPolicy.certificates(in: URL(fileURLWithPath: place))
            #expect(try await Agent().send(request).value == "ok")
        }
        let stranger = try LoopbackServer(.valid)
        let other = Request<Bytes>(stranger.url("/"))
        let agent = Agent(configured: { $0.trust = request.trust ?? TrustPolicy() })
        #expect(await ending(of: other, from: agent) == .failed(.tlsUntrusted))
        try folder.write(Array("no certificate".utf8), to: "broken.pem")
        #expect(throws: NetError.self) { try TrustPolicy.certificates(in: URL(fileURLWithPath: folder.path)) }
    }

    @Test func plainHTTPIsRefusedForAPinnedHostOrByAgentPolicy() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("clear"))
        var request = Request<Bytes>(server.url("/"))
        request.trust = try TrustPolicy.pinned("127.0.0.1", [Self.wrong])
        #expect(await ending(of: request, from: Agent()) == .failed(.plaintextRefused))
        let strict = Agent(configured: { $0.refusesPlaintext = true })
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: strict) == .failed(.plaintextRefused))
        #expect(server.requestCount == 0)
    }

    @Test func observerCanOnlyTightenTheResult() async throws {
        let (server, pins) = try await pinnable()
        let seen = Lock<[TrustEvent]>([])
        let allows = Lock(false)
        let observer = TrustObserver(decide: { event in
            seen.withLock { $0.append(event) }
            return allows.withLock { $0 }
        })
        var good = try policy(server, pins)
        good.observer = observer
        var request = Request<Bytes>(server.url("/"))
        request.trust = good
        #expect(await ending(of: request, from: Agent()) == .failed(.tlsCertificate))
        allows.withLock { $0 = true }
        #expect(await ending(of: request, from: Agent()) == .answered)
        var bad = try policy(server, [Self.wrong])
        bad.observer = observer
        request.trust = bad
        #expect(await ending(of: request, from: Agent()) == .failed(.pinMismatch))
        let events = seen.withLock { $0 }
        #expect(events.count == 3)
        #expect(events.map(\.trustResult.isAllowed) == [true, true, false])
        #expect(events.allSatisfy { $0.host == "127.0.0.1" && $0.port == Int(server.port) })
        #expect(try events[0].chain.flatMap { try Certificate.read($0) }.map(\.pin) == pins)
    }

    @Test func overridablePolicyCanBeLoosened() async throws {
        let (server, _) = try await pinnable()
        var policy = TrustPolicy(roots: .pem(server.authority), allowsOverride: true)
        policy.rules = [PinRule("**", pins: [.hash(Self.wrong)])]
        policy.observer = TrustObserver(decide: { _ in true })
        var request = Request<String>(server.url("/"))
        request.trust = policy
        #expect(try await Agent().send(request).value == "ok")
    }

    @Test func reportsAreDeduplicatedPerHostAndRulesCanBeReportOnly() async throws {
        let (server, _) = try await pinnable()
        let reported = Lock<[TrustEvent]>([])
        var policy = try policy(server, [Self.wrong])
        policy.rules[0].reportsOnly = true
        policy.observer = TrustObserver(report: { event in reported.withLock { $0.append(event) } })
        let agent = Agent(configured: { $0.trust = policy })
        server.script("/", .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
        for _ in 0..<3 {
            #expect(try await agent.send(Request<String>(server.url("/"))).value == "ok")
        }
        let events = reported.withLock { $0 }
        #expect(events.count == 1)
        #expect(events.first?.trustResult.finding == .pinMismatch)
        #expect(events.first?.trustResult.flags == [.reportOnly])
    }

    @Test func chainIsEvaluatedOffline() async throws {
        let fixture = try TrustFixture(0)
        let policy = TrustPolicy(roots: .pem(fixture.authorities))
        let trustResult = try policy.evaluate(chain: fixture.chain, host: fixture.host)
        #expect(trustResult.isAllowed)
        #expect(trustResult.chainPins.count == 3)
        #expect(try policy.evaluate(chain: fixture.chain, host: "other.example").refusal == .tlsName)
        let past = Date(timeIntervalSince1970: 0)
        #expect(try policy.evaluate(chain: fixture.chain, host: fixture.host, at: past).refusal == .tlsNotYetValid)
        for far in [-Double.infinity, -1e30, 1e30, .infinity, .nan] {
            let date = Date(timeIntervalSince1970: far)
            #expect(try policy.evaluate(chain: fixture.chain, host: fixture.host, at: date).refusal != nil)
        }
        #expect(try policy.evaluate(chain: [], host: fixture.host).refusal == .tlsCertificate)
        #expect(throws: NetError.self) { try policy.evaluate(chain: fixture.chain, host: fixture.host, port: 0) }
        let missing = TrustPolicy(roots: .file("/nonexistent/ca.pem"))
        #expect(throws: NetError.self) { try missing.evaluate(chain: fixture.chain, host: fixture.host) }
    }
}

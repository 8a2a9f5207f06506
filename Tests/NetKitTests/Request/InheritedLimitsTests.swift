import NetKit
import NetKitTesting
import Testing

/// A limit that a request does not set is its service's, then its agent's, then the default.
struct InheritedLimitsTests {
    private let stub = StubTransport()

    private func agent(_ change: (inout Agent.Configuration) -> Void = { _ in }) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.limits.total = .seconds(7_000)
        configuration.limits.maxRedirects = 3
        change(&configuration)
        stub.register("*", with: .text("ok"))
        return Agent(configuration, transport: stub)
    }

    private func limits(of request: Request<Bytes>, _ agent: Agent) async throws -> Limits {
        _ = try await agent.send(request)
        return try #require(stub.requests.last).request.limits
    }

    @Test func requestThatSetsOneLimitInheritsTheOthers() async throws {
        var request = Request<Bytes>("p")
        request.limits.connect = .seconds(1)
        let sent = try await limits(of: request, agent())
        #expect(sent.connect == .seconds(1) && sent.maxRedirects == 3)
        #expect(sent.total.map { $0 > .seconds(300) } == true)
        #expect(sent.firstByte == Limits().firstByte)
    }

    @Test func newLimitsSetNothing() async throws {
        var request = Request<Bytes>("p")
        request.limits = Limits()
        #expect(try await limits(of: request, agent()).maxRedirects == 3)
    }

    @Test func timeoutIsTheTotalLimit() async throws {
        var request = Request<Bytes>("p")
        request.timeout = .seconds(9_000)
        #expect(request.limits == Limits(total: .seconds(9_000)))
        let sent = try await limits(of: request, agent())
        #expect(
            sent.equals(
                {
                    var all = Limits(total: .seconds(9_000)); all.maxRedirects = 3; return all
                }()))
        request.timeout = nil
        #expect(try await limits(of: request, agent()).total == nil)
    }

    @Test func limitThatIsSetToItsDefaultIsNotInherited() async throws {
        var request = Request<Bytes>("p")
        request.limits.maxRedirects = Limits().maxRedirects
        #expect(try await limits(of: request, agent()).maxRedirects == 20)
    }

    @Test func serviceLimitsAreBetweenThoseOfRequestAndAgent() async throws {
        var configuration = Service.Configuration()
        configuration.limits.maxHeadFields = 9
        configuration.limits.maxRedirects = 4
        var request = Request<Bytes>("p")
        request.service = Service("s", configuration)
        request.limits.maxHeadFields = 10
        let sent = try await limits(of: request, agent())
        #expect(sent.maxHeadFields == 10 && sent.maxRedirects == 4)
        #expect(sent.total.map { $0 > .seconds(300) } == true)
    }

    @Test func streamInheritsTheStreamLimits() async throws {
        var request = Request<Bytes>("p")
        request.limits.connect = .seconds(1)
        _ = try await agent().stream(request).collect(upTo: 10)
        let sent = try #require(stub.requests.last).request.limits
        #expect(sent.connect == .seconds(1) && sent.maxBodyBytes == nil)
        #expect(sent.total.map { $0 > .seconds(24 * 60 * 60) } == true)
    }

    @Test func endpointSetsOneLimit() async throws {
        struct Quick: Endpoint {
            typealias Value = String
            let path = "p"
            let limits = Limits(total: .seconds(9_000))
        }
        _ = try await agent().send(Quick())
        let sent = try #require(stub.requests.last).request.limits
        #expect(sent.maxRedirects == 3 && sent.total.map { $0 > .seconds(8_000) } == true)
    }
}

import NetKit
import NetKitCompat
import NetKitOffline
import NetKitTesting
import Testing

/// The parts of a request that an offline queue stores, and the failures after which it keeps the request.
@Suite(.timeLimit(.minutes(5)))
struct QueuePersistenceTests {
    private let fixture: OfflineFixture

    init() throws {
        fixture = try OfflineFixture()
    }

    private func keep(_ count: Int, by agent: Agent) async {
        for number in 1...count {
            #expect(await ending(of: fixture.put("/\(number)"), from: agent) == .failed(.queued))
        }
    }

    // MARK: Failures

    @Test func invalidatedAgentSendsNothingAndKeepsTheQueue() async throws {
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        await keep(3, by: agent)
        await agent.invalidate()
        fixture.path.set(.viaWiFiOrWired)
        await agent.drain(queue)
        #expect(queue.requests.count == 3 && fixture.folder.names.count == 3)
        #expect(fixture.notifications.values == [] && fixture.stub.requests.isEmpty)
        let other = Agent(agent.configuration, transport: StubTransport { _ in .text("done") })
        await fixture.drain(queue, by: other, until: 3)
        #expect(fixture.notifications.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
    }

    @Test func openCircuitKeepsTheQueue() async throws {
        fixture.stub.register(
            "*", with: .status(503), .status(503), .status(503), .status(503), .status(503), .text("done"))
        let queue = try fixture.queue()
        let agent = fixture.agent(queue, behind: [CircuitBreaker(time: fixture.time.source)])
        await keep(3, by: agent)
        await fixture.drain(queue, by: agent, until: 3)
        #expect(fixture.notifications.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
        #expect(fixture.stub.requests.count == 8)
    }

    @Test(arguments: [NetError.Code.circuitOpen, .cancelled, .cellularRefused, .descriptors, .noMemory, .thread])
    func unrelatedFailureKeepsTheRequestQueued(code: NetError.Code) async throws {
        fixture.stub.register("/1", with: .failure(code), .text("done"))
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        await keep(2, by: agent)
        await fixture.drain(queue, by: agent, until: 2)
        #expect(fixture.notifications.values == ["1 answered 200", "2 answered 200"])
        #expect(fixture.stub.requests.map(\.path) == ["/1", "/1", "/2"] && fixture.time.waits == [.seconds(1)])
    }

    // MARK: Stored parts

    @Test func agentParametersAreAddedToTheURLOnce() async throws {
        let queue = try fixture.queue()
        let stamp = Counter()
        let agent = fixture.agent(queue) { configuration in
            configuration.parameters = ["version": "2"]
            configuration.computedParameters = { _ in
                stamp.increment()
                return ["stamp": .init(stamp.value)]
            }
            configuration.interceptors.insert(URLFilter.adding(["filtered": 1]), at: 0)
        }
        #expect(await ending(of: fixture.put("/1"), from: agent) == .failed(.queued))
        #expect(await ending(of: Request<Bytes>("/2", method: .delete), from: agent) == .failed(.queued))
        let queued = queue.requests.map(\.url)
        await fixture.drain(queue, by: agent, until: 2)
        #expect(fixture.stub.requests.map(\.url) == queued)
        #expect(queued.allSatisfy { $0.split(separator: "version=2", omittingEmptySubsequences: false).count == 2 })
    }

    @Test func redirectCookieAndCellularPoliciesAreQueued() async throws {
        var request = fixture.put("http://a.example/b/../c")
        request.redirects = .return
        request.cookiePolicy = .ignore
        request.keepsDotSegments = true
        request.refusesMalformedFields = true
        request.allowsCellular = false
        var queued: [QueuedRequest] = []
        do {
            let queue = try fixture.queue()
            let agent = fixture.agent(queue)
            #expect(await ending(of: request, from: agent) == .failed(.queued))
            await keep(1, by: agent)
            queued = queue.requests
        }
        let again = try await fixture.reopenedQueue()
        #expect(again.requests == queued)
        await fixture.drain(again, by: fixture.agent(again), until: 2)
        let sent = try #require(fixture.stub.requests.first?.request)
        #expect(sent.url == "http://a.example/b/../c")
        #expect(sent.redirects == .return && sent.cookiePolicy == .ignore)
        #expect(sent.keepsDotSegments && sent.refusesMalformedFields && !sent.allowsCellular)
        let usual = try #require(fixture.stub.requests.last?.request)
        #expect(usual.cookiePolicy == .sendAndStore && !usual.keepsDotSegments && usual.allowsCellular)
    }

    @Test func requestWithItsOwnTrustOrProxyIsNotQueued() async throws {
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        fixture.stub.register("*", with: .failure(.unreachable))
        let pin = "sha256/\(String(repeating: "A", count: 43))="
        let changes: [(String, (inout Request<Bytes>) throws -> Void)] = [
            ("a trust policy", { $0.trust = try .pinned("a.example", [pin]) }),
            ("a proxy", { $0.proxy = .direct }),
            ("a socket", { $0.unixSocket = "/run/a.sock" }),
            ("an address", { $0.addressOverrides = [AddressOverride(host: "a.example", toHost: "127.0.0.9")] }),
        ]
        for (name, change) in changes {
            var request = fixture.put("https://a.example/")
            try change(&request)
            #expect(queue.refusal(of: Call(request)) == "it has \(name) of its own, which the queue does not store")
            #expect(await ending(of: request, from: agent) == .failed(.unreachable))
        }
        #expect(queue.requests.isEmpty && fixture.folder.names == [])
    }
}

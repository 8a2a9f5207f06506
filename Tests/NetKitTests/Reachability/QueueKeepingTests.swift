import NetKit
import NetKitTesting
import Testing

/// The parts of a request that an offline queue stores, and the failures after which it keeps the request.
@Suite(.timeLimit(.minutes(5)))
struct QueueKeepingTests {
    private let scene: OfflineScene

    init() throws {
        scene = try OfflineScene()
    }

    private func keep(_ count: Int, by agent: Agent) async {
        for number in 1...count {
            #expect(await ending(of: scene.put("/\(number)"), from: agent) == .failed(.queued))
        }
    }

    // MARK: Failures

    @Test func anInvalidatedAgentSendsNoMoreAndLeavesAllInPlace() async throws {
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        await keep(3, by: agent)
        await agent.invalidate()
        scene.path.set(.viaWiFiOrWired)
        await agent.drain(queue)
        #expect(queue.requests.count == 3 && scene.folder.names.count == 3)
        #expect(scene.told.values == [] && scene.stub.requests.isEmpty)
        let other = Agent(agent.configuration, transport: StubTransport { _ in .text("done") })
        await scene.drain(queue, by: other, until: 3)
        #expect(scene.told.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
    }

    @Test func anOpenCircuitLeavesAllInPlace() async throws {
        scene.stub.answer(
            "*", with: .status(503), .status(503), .status(503), .status(503), .status(503), .text("done"))
        let queue = try scene.queue()
        let agent = scene.agent(queue, behind: [CircuitBreaker(time: scene.time.source)])
        await keep(3, by: agent)
        await scene.drain(queue, by: agent, until: 3)
        #expect(scene.told.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
        #expect(scene.stub.requests.count == 8)
    }

    @Test(arguments: [NetError.Code.circuitOpen, .cancelled, .cellularRefused, .descriptors, .noMemory, .thread])
    func whatSaysNothingOfTheRequestLeavesItInPlace(code: NetError.Code) async throws {
        scene.stub.answer("/1", with: .failure(code), .text("done"))
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        await keep(2, by: agent)
        await scene.drain(queue, by: agent, until: 2)
        #expect(scene.told.values == ["1 answered 200", "2 answered 200"])
        #expect(scene.stub.requests.map(\.path) == ["/1", "/1", "/2"] && scene.time.waits == [.seconds(1)])
    }

    // MARK: Stored parts

    @Test func whatTheAgentAddsIsInTheURLOnce() async throws {
        let queue = try scene.queue()
        let stamp = Counter()
        let agent = scene.agent(queue) { configuration in
            configuration.parameters = ["version": "2"]
            configuration.computedParameters = { _ in
                stamp.increment()
                return ["stamp": .init(stamp.value)]
            }
            configuration.urlFilters = [.adding(["filtered": 1])]
        }
        #expect(await ending(of: scene.put("/1"), from: agent) == .failed(.queued))
        #expect(await ending(of: Request<Bytes>("/2", method: .delete), from: agent) == .failed(.queued))
        let kept = queue.requests.map(\.url)
        await scene.drain(queue, by: agent, until: 2)
        #expect(scene.stub.requests.map(\.url) == kept)
        #expect(kept.allSatisfy { $0.split(separator: "version=2", omittingEmptySubsequences: false).count == 2 })
    }

    @Test func whatBecomesOfRedirectsCookiesAndModemsIsKept() async throws {
        var request = scene.put("http://a.example/b/../c")
        request.redirects = .return
        request.cookieUse = .ignore
        request.keepsDotSegments = true
        request.refusesMalformedFields = true
        request.allowsCellular = false
        var kept: [QueuedRequest] = []
        do {
            let queue = try scene.queue()
            let agent = scene.agent(queue)
            #expect(await ending(of: request, from: agent) == .failed(.queued))
            await keep(1, by: agent)
            kept = queue.requests
        }
        let again = try scene.queue()
        #expect(again.requests == kept)
        await scene.drain(again, by: scene.agent(again), until: 2)
        let sent = try #require(scene.stub.requests.first?.request)
        #expect(sent.url == "http://a.example/b/../c")
        #expect(sent.redirects == .return && sent.cookieUse == .ignore)
        #expect(sent.keepsDotSegments && sent.refusesMalformedFields && !sent.allowsCellular)
        let usual = try #require(scene.stub.requests.last?.request)
        #expect(usual.cookieUse == .sendAndStore && !usual.keepsDotSegments && usual.allowsCellular)
    }

    @Test func whatHasATrustOrAWayOfItsOwnIsNotKept() async throws {
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        scene.stub.answer("*", with: .failure(.unreachable))
        let pin = "sha256/\(String(repeating: "A", count: 43))="
        let changes: [(String, (inout Request<Bytes>) throws -> Void)] = [
            ("a trust policy", { $0.trust = try .pinned("a.example", [pin]) }),
            ("a proxy", { $0.proxy = .direct }),
            ("a socket", { $0.unixSocket = "/run/a.sock" }),
            ("an address", { $0.addressOverrides = [AddressOverride(host: "a.example", toHost: "127.0.0.9")] }),
        ]
        for (name, change) in changes {
            var request = scene.put("https://a.example/")
            try change(&request)
            #expect(queue.refusal(of: Call(request)) == "it has \(name) of its own, which is not written down")
            #expect(await ending(of: request, from: agent) == .failed(.unreachable))
        }
        #expect(queue.requests.isEmpty && scene.folder.names == [])
    }
}

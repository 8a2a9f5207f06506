import NetKit
import NetKitTesting
import Testing

/// What an offline queue keeps of a request, and through which failures.
@Suite(.timeLimit(.minutes(5)))
struct QueueKeepingTests {
    private let stub = StubTransport()
    private let path = StubPath(.notReachable)
    private let time = StubTime()
    private let reachability: Reachability
    private let folder: TemporaryFolder
    private let told = Collected<String>()

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.answer("*", with: .text("done"))
    }

    private func queue() throws -> OfflineQueue {
        let tell: @Sendable (OfflineQueue.Outcome) -> Void = { [told] outcome in
            switch outcome {
            case .answered(let kept, let response): told.append("\(kept.id) answered \(response.status)")
            case .failed(let kept, let error): told.append("\(kept.id) failed \(error.code)")
            case .expired(let kept): told.append("\(kept.id) expired")
            }
        }
        return try OfflineQueue(
            folder: folder.path, reachability: reachability, time: time.source, onOutcome: tell)
    }

    private func agent(
        _ queue: OfflineQueue, behind: [any Interceptor] = [],
        configured change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://a.example")
        configuration.interceptors = [queue] + behind
        configuration.reachability = reachability
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    private func keep(_ count: Int, by agent: Agent) async {
        for number in 1...count {
            let request = Request<Bytes>("/\(number)", method: .put, body: .text("x"))
            #expect(await ending(of: request, from: agent) == .failed(.queued))
        }
    }

    /// Sends what is kept, until so many were told.
    private func drain(_ queue: OfflineQueue, by agent: Agent, until count: Int) async {
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        while told.values.count < count {
            await Task.yield()
        }
        draining.cancel()
        await draining.value
    }

    // MARK: Failures

    @Test func anInvalidatedAgentSendsNoMoreAndLeavesAllInPlace() async throws {
        let queue = try queue()
        let agent = agent(queue)
        await keep(3, by: agent)
        await agent.invalidate()
        path.set(.viaWiFiOrWired)
        await agent.drain(queue)
        #expect(queue.requests.count == 3 && folder.names.count == 3)
        #expect(told.values == [] && stub.requests.isEmpty)
        let other = Agent(agent.configuration, transport: StubTransport { _ in .text("done") })
        await drain(queue, by: other, until: 3)
        #expect(told.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
    }

    @Test func anOpenCircuitLeavesAllInPlace() async throws {
        stub.answer(
            "*", with: .status(503), .status(503), .status(503), .status(503), .status(503), .text("done"))
        let queue = try queue()
        let agent = agent(queue, behind: [CircuitBreaker(time: time.source)])
        await keep(3, by: agent)
        await drain(queue, by: agent, until: 3)
        #expect(told.values == ["1 answered 200", "2 answered 200", "3 answered 200"])
        #expect(stub.requests.count == 8)
    }

    @Test(arguments: [NetError.Code.circuitOpen, .cancelled, .cellularRefused, .descriptors, .noMemory, .thread])
    func whatSaysNothingOfTheRequestLeavesItInPlace(code: NetError.Code) async throws {
        stub.answer("/1", with: .failure(code), .text("done"))
        let queue = try queue()
        let agent = agent(queue)
        await keep(2, by: agent)
        await drain(queue, by: agent, until: 2)
        #expect(told.values == ["1 answered 200", "2 answered 200"])
        #expect(stub.requests.map(\.path) == ["/1", "/1", "/2"] && time.waits == [.seconds(1)])
    }

    // MARK: What is kept

    @Test func whatTheAgentAddsIsInTheURLOnce() async throws {
        let queue = try queue()
        let stamp = Counter()
        let agent = agent(queue) { configuration in
            configuration.parameters = ["version": "2"]
            configuration.computedParameters = { _ in
                stamp.increment()
                return ["stamp": .init(stamp.value)]
            }
            configuration.urlFilters = [.adding(["filtered": 1])]
        }
        #expect(
            await ending(of: Request<Bytes>("/1", method: .put, body: .text("x")), from: agent) == .failed(.queued))
        #expect(await ending(of: Request<Bytes>("/2", method: .delete), from: agent) == .failed(.queued))
        let kept = queue.requests.map(\.url)
        await drain(queue, by: agent, until: 2)
        #expect(stub.requests.map(\.url) == kept)
        #expect(kept.allSatisfy { $0.split(separator: "version=2", omittingEmptySubsequences: false).count == 2 })
    }

    @Test func whatBecomesOfRedirectsCookiesAndModemsIsKept() async throws {
        var request = Request<Bytes>("http://a.example/b/../c", method: .put, body: .text("x"))
        request.redirects = .return
        request.cookieUse = .ignore
        request.keepsDotSegments = true
        request.allowsCellular = false
        var kept: [QueuedRequest] = []
        do {
            let queue = try queue()
            let agent = agent(queue)
            #expect(await ending(of: request, from: agent) == .failed(.queued))
            await keep(1, by: agent)
            kept = queue.requests
        }
        let again = try self.queue()
        #expect(again.requests == kept)
        await drain(again, by: self.agent(again), until: 2)
        let sent = try #require(stub.requests.first?.request)
        #expect(sent.url == "http://a.example/b/../c")
        #expect(sent.redirects == .return && sent.cookieUse == .ignore)
        #expect(sent.keepsDotSegments && !sent.allowsCellular)
        let usual = try #require(stub.requests.last?.request)
        #expect(usual.cookieUse == .sendAndStore && !usual.keepsDotSegments && usual.allowsCellular)
    }

    @Test func whatHasATrustOrAWayOfItsOwnIsNotKept() async throws {
        let queue = try queue()
        let agent = agent(queue)
        stub.answer("*", with: .failure(.unreachable))
        let pin = "sha256/\(String(repeating: "A", count: 43))="
        let changes: [(String, (inout Request<Bytes>) throws -> Void)] = [
            ("a trust policy", { $0.trust = try .pinned("a.example", [pin]) }),
            ("a proxy", { $0.proxy = .direct }),
            ("a socket", { $0.unixSocket = "/run/a.sock" }),
            ("an address", { $0.addressOverrides = [AddressOverride(host: "a.example", toHost: "127.0.0.9")] }),
        ]
        for (name, change) in changes {
            var request = Request<Bytes>("https://a.example/", method: .put, body: .text("x"))
            try change(&request)
            #expect(queue.refusal(of: Call(request)) == "it has \(name) of its own, which is not written down")
            #expect(await ending(of: request, from: agent) == .failed(.unreachable))
        }
        #expect(queue.requests.isEmpty && folder.names == [])
    }
}

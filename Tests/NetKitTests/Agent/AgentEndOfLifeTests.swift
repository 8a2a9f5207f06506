import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Closing and resetting an agent, and waiting for what is in flight.
@Suite(.timeLimit(.minutes(5)))
struct AgentEndOfLifeTests {
    private func closedCode(_ agent: Agent, _ url: String) async -> NetError.Code? {
        await failureCode { () async throws(NetError) in _ = try await agent.send(Request<Bytes>(url)) }
    }

    @Test func invalidatedAgentFinishesRunningRequestsAndRefusesNewOnes() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let url = server.url("/")
        let running = Task { try await agent.send(Request<Bytes>(url)) }
        try await server.waitForStalled(1)
        let events = agent.activity()
        let invalidated = Task { await agent.invalidate() }
        // The agent is closed when it refuses a request.
        while await closedCode(agent, server.url("/none")) != .closed {
            await Task.yield()
        }
        #expect(agent.inFlightCount == 1)
        server.releaseStalled()
        #expect(try await running.value.bytes.text == "late")
        await invalidated.value
        #expect(await closedCode(agent, url) == .closed)
        var last: String?
        for await event in events {
            last = event.word
            if last == "invalidated" { break }
        }
        #expect(last == "invalidated")
        let stream = await failureCode { () async throws(NetError) in _ = try await agent.stream(Request<Bytes>(url)) }
        let saved = await failureCode { () async throws(NetError) in
            _ = try await agent.download(Request<Bytes>(url), to: "/nowhere", options: .init(isResumable: false))
        }
        let loaded = await failureCode { () async throws(NetError) in
            _ = try await agent.download(Request<Bytes>(url), to: "/nowhere")
        }
        #expect([stream, saved, loaded] == [.closed, .closed, .closed])
        let started = agent.start(Request<Bytes>(url), on: .executor(globalConcurrentExecutor))
        #expect(await failureCode { () async throws(NetError) in _ = try await started.value } == .closed)
    }

    @Test func invalidatingCanCancelRunningRequests() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let url = server.url("/")
        let sent = Task { await ending(of: Request<Bytes>(url), from: agent) }
        let started = agent.start(Request<Bytes>(url), on: .executor(globalConcurrentExecutor))
        try await server.waitForStalled(2)
        await agent.invalidate(cancelling: true)
        #expect(await sent.value == .failed(.cancelled))
        #expect(await failureCode { () async throws(NetError) in _ = try await started.value } == .cancelled)
        #expect(agent.inFlightCount == 0)
        #expect(await closedCode(agent, url) == .closed)
    }

    @Test func runningChainSendsItsRemainingStepsAfterInvalidation() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        stub.register("/first", with: .text("a").held(by: gate))
        stub.register("/second", with: .text("b"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let chain = Chain(Request<String>("/first")).then { _ in Request<String>("/second") }
        let running = Task { try await agent.send(chain) }
        try await gate.waitForArrivals(1)
        let invalidated = Task { await agent.invalidate() }
        while await closedCode(agent, "/none") != .closed {
            await Task.yield()
        }
        gate.open()
        _ = try await running.value
        await invalidated.value
        #expect(stub.requests.map(\.path).filter { $0 != "/none" } == ["/first", "/second"])
        #expect(stub.isShutDown)
    }

    @Test func invalidatingTwiceIsReportedOnce() async throws {
        let count = Counter()
        var configuration = Agent.Configuration()
        configuration.interceptors.append(TransferHooks(invalidated: { count.increment() }))
        let agent = Agent(configuration, transport: StubTransport())
        await agent.invalidate()
        await agent.invalidate(cancelling: true)
        #expect(count.value == 1)
    }

    /// Begins a reset, and returns when the agent uses new connections. Transfers on the old ones may continue.
    private func beginReset(of agent: Agent) async -> Task<Void, Never> {
        let before = agent.executor
        let reset = Task { await agent.reset() }
        while agent.executor === before {
            await Task.yield()
        }
        return reset
    }

    @Test func resetAgentUsesNewConnections() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("x"))
        let agent = Agent(configured: { $0.cookies = .memory })
        let url = server.url("/")
        try agent.cookies.set(Cookie(name: "a", value: "b", domain: "127.0.0.1"))
        _ = try await agent.send(Request<Bytes>(url))
        _ = try await agent.send(Request<Bytes>(url))
        #expect(server.connectionCount == 1)
        await agent.reset()
        _ = try await agent.send(Request<Bytes>(url))
        #expect(server.connectionCount == 2)
        #expect(server.received(2).values(named: "Cookie") == ["a=b"])
        await agent.invalidate()
        #expect(await closedCode(agent, url) == .closed)
        await agent.reset()
        #expect(try await agent.send(Request<Bytes>(url)).status == 200)
        #expect(server.connectionCount == 3)
    }

    @Test func resettingFinishesOrCancelsRunningRequests() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let url = server.url("/")
        let first = Task { try await agent.send(Request<Bytes>(url)) }
        try await server.waitForStalled(1)
        let before = try #require(agent.transfers().first)
        let reset = await beginReset(of: agent)
        let second = Task { await ending(of: Request<Bytes>(url), from: agent) }
        try await server.waitForStalled(2)
        #expect(agent.transfers().count { $0.id != before.id } == 1)
        let cancelling = Task { await agent.reset(cancelling: true) }
        #expect(await second.value == .failed(.cancelled))
        await cancelling.value
        server.releaseStalled()
        #expect(try await first.value.bytes.text == "late")
        await reset.value
    }

    @Test func pausedTransferSurvivesAResetAndResumesByItsID() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let first = Task { [url = server.url("/")] in try await agent.send(Request<Bytes>(url)) }
        try await server.waitForStalled(1)
        let id = try #require(agent.transfers().first?.id)
        agent.pause(id)
        let reset = await beginReset(of: agent)
        server.releaseStalled()
        agent.resume(id)
        #expect(try await first.value.bytes.text == "late")
        await reset.value
    }

    @Test func transferThatSurvivesAResetIsListedAndCancelledWithAll() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let url = server.url("/")
        let first = Task { await ending(of: Request<Bytes>(url), from: agent) }
        try await server.waitForStalled(1)
        let reset = await beginReset(of: agent)
        #expect(agent.transfers().map(\.url) == [url])
        agent.cancelAll()
        #expect(await first.value == .failed(.cancelled))
        await reset.value
        #expect(agent.transfers().isEmpty)
    }

    @Test func shutdownWaitsForTransfersThatSurviveAReset() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        server.script("/other", .text("x"))
        let agent = Agent()
        let first = Task { [url = server.url("/")] in await ending(of: Request<Bytes>(url), from: agent) }
        try await server.waitForStalled(1)
        let reset = await beginReset(of: agent)
        let left = Task {
            await agent.shutdown()
            return agent.transfers().count
        }
        while await ending(of: Request<Bytes>(server.url("/other")), from: agent) == .answered {}
        server.releaseStalled()
        #expect(await left.value == 0)
        #expect(await first.value == .answered)
        await reset.value
    }

    @Test func queuedRequestsKeepTheirOrderAndTheAgentStaysSuspendedAfterAReset() async throws {
        let server = try LoopbackServer()
        for path in ["/0", "/1", "/2", "/new"] {
            server.script(path, .text("x"))
        }
        let agent = Agent(configured: { $0.maxInFlight = 1 })
        agent.suspend()
        let requests = ["/0", "/1", "/2"].map { Request<Bytes>(server.url($0)) }
        var waiting: [Task<Response<Bytes>, any Error>] = []
        for request in requests {
            waiting.append(Task { try await agent.send(request) })
            while agent.transfers().count < waiting.count {
                await Task.yield()
            }
        }
        let ids = agent.transfers().sorted { $0.url < $1.url }.map(\.id)
        agent.setPriority(.high, of: ids[1])
        let reset = await beginReset(of: agent)
        agent.setPriority(.low, of: ids[0])
        let new = Task { [url = server.url("/new")] in try await agent.send(Request<Bytes>(url)) }
        while agent.transfers().count < 4 {
            await Task.yield()
        }
        #expect(agent.transfers().allSatisfy { $0.state == .waiting } && server.requestCount == 0)
        agent.resume()
        for task in waiting {
            #expect(try await task.value.status == 200)
        }
        #expect(try await new.value.status == 200)
        await reset.value
        let order = (0..<4).map { server.received($0).requestLine.split(separator: " ")[1] }.filter { $0 != "/new" }
        #expect(order == ["/1", "/2", "/0"])
    }

    @Test func waitUntilIdleWaitsForAllRequestsInFlight() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        await agent.waitUntilIdle()
        let notifications = Collected<String>()
        for number in 0..<10 {
            agent.start(Request<String>("/"), on: .executor(globalConcurrentExecutor)) { _ in
                notifications.append("\(number)")
            }
        }
        let stream = Task { try await agent.stream(Request<Bytes>("/")) }
        try await gate.waitForArrivals(11)
        #expect(agent.inFlightCount >= 11)
        gate.open()
        _ = try await stream.value.collect(upTo: 10)
        await agent.waitUntilIdle()
        #expect(notifications.values.count == 10)
        #expect(agent.inFlightCount == 0)
    }

    @Test func resetDuringAnInvalidationLeavesAUsableAgent() async throws {
        let server = try LoopbackServer()
        server.script("/slow", .stalled)
        server.script("/", .text("x"))
        let agent = Agent()
        let slow = Task { [url = server.url("/slow")] in await ending(of: Request<Bytes>(url), from: agent) }
        try await server.waitForStalled(1)
        let invalidation = Task { await agent.invalidate() }
        while await closedCode(agent, server.url("/")) != .closed {
            await Task.yield()
        }
        let reset = Task { await agent.reset() }
        while await closedCode(agent, server.url("/")) != nil {
            await Task.yield()
        }
        server.releaseStalled()
        #expect(await slow.value == .answered)
        await invalidation.value
        await reset.value
        #expect(await closedCode(agent, server.url("/")) == nil)
        await agent.invalidate()
        #expect(await closedCode(agent, server.url("/")) == .closed)
    }
}

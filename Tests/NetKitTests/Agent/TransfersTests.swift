import NetKit
import Testing

/// The list of queued and running transfers, and their order.
@Suite(.timeLimit(.minutes(5)))
struct TransfersTests {
    /// Returns an agent with one slot, and a request that holds it until the server is released.
    private static func busy(
        _ server: LoopbackServer
    ) async throws -> (agent: Agent, holder: Task<Ending, Never>) {
        server.script("/hold", .stalled)
        let agent = Agent(configured: { $0.maxInFlight = 1 })
        let request = Request<Bytes>(server.url("/hold"))
        let holder = Task { await ending(of: request, from: agent) }
        try await server.waitForStalled(1)
        return (agent, holder)
    }

    private static func queue(_ path: String, _ priority: Priority, at server: LoopbackServer, _ agent: Agent)
        async throws
        -> Task<Ending, Never>
    {
        let waiting = agent.transfers().count { $0.state == .waiting }
        var request = Request<Bytes>(server.url(path))
        request.priority = priority
        let task = Task { [request] in await ending(of: request, from: agent) }
        try await agent.waitUntilWaiting(waiting + 1)
        return task
    }

    private static func targets(_ server: LoopbackServer) -> [String] {
        (0..<server.requestCount).map { String(server.received($0).requestLine.split(separator: " ")[1]) }
    }

    @Test func queuedTransfersStartByPriorityThenInOrder() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply())
        let (agent, holder) = try await Self.busy(server)
        var tasks = [holder]
        for (path, priority) in [
            ("/low", Priority.low), ("/normal1", .normal), ("/high1", .high), ("/normal2", .normal), ("/high2", .high),
        ] {
            tasks.append(try await Self.queue(path, priority, at: server, agent))
        }
        server.releaseStalled()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(Self.targets(server) == ["/hold", "/high1", "/high2", "/normal1", "/normal2", "/low"])
    }

    @Test func priorityOfAQueuedTransferCanChange() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply())
        let (agent, holder) = try await Self.busy(server)
        var tasks = [holder]
        for path in ["/a", "/b", "/c"] {
            tasks.append(try await Self.queue(path, .normal, at: server, agent))
        }
        let transfers = agent.transfers()
        for (path, priority) in [("/c", Priority.high), ("/a", .low)] {
            let transfer = try #require(transfers.first { $0.url == server.url(path) })
            #expect(transfer.priority == .normal)
            agent.setPriority(priority, of: transfer.id)
        }
        server.releaseStalled()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(Self.targets(server) == ["/hold", "/c", "/b", "/a"])
    }

    @Test func aSuspendedAgentStartsNothingUntilItIsResumed() async throws {
        let server = try LoopbackServer()
        server.script("/hold", .stalled)
        server.script("/", .text("late"))
        let agent = Agent()
        let holder = Task { await ending(of: Request<Bytes>(server.url("/hold")), from: agent) }
        try await server.waitForStalled(1)
        agent.suspend()
        let waiting = (0..<3).map { _ in Task { try await agent.send(Request<String>(server.url("/"))).value } }
        try await agent.waitUntilWaiting(3)
        // The running transfer continues.
        server.releaseStalled()
        #expect(await holder.value == .answered)
        #expect(server.requestCount == 1)
        #expect(agent.transfers().map(\.state) == [.waiting, .waiting, .waiting])
        agent.resume()
        for task in waiting {
            #expect(try await task.value == "late")
        }
        #expect(server.requestCount == 4)
        #expect(agent.transfers().isEmpty)
    }

    @Test func runningAndQueuedTransfersAreListed() async throws {
        let server = try LoopbackServer()
        let (agent, holder) = try await Self.busy(server)
        var request = Request<Bytes>("\(server.url("/next", userinfo: "user:canary"))?q=1")
        request.priority = .high
        let waiting = Task { [request] in await ending(of: request, from: agent) }
        try await agent.waitUntilWaiting(1)
        let transfers = agent.transfers().sorted { $0.id < $1.id }
        try #require(transfers.count == 2)
        #expect(transfers.map(\.state) == [.awaitingReply, .waiting])
        #expect(transfers.map(\.priority) == [.normal, .high])
        #expect(transfers.map(\.url) == [server.url("/hold"), server.url("/next?q=1")])
        #expect(transfers.allSatisfy { !$0.isPaused && $0.age > .zero && $0.receivedBytes == 0 })
        waiting.cancel()
        #expect(await waiting.value == .failed(.cancelled))
        server.releaseStalled()
        #expect(await holder.value == .answered)
        #expect(agent.transfers().isEmpty)
    }

    @Test func transferCancelledInTheQueueSendsNothing() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer(host: "127.0.0.2")
        let (agent, holder) = try await Self.busy(server)
        let body = Pieces<Bytes>([[1, 2, 3]])
        var tasks: [Task<Ending, Never>] = []
        for number in 0..<20 {
            let request = Request<Bytes>(other.url("/\(number)"), method: .post, body: .stream { body })
            tasks.append(Task { await ending(of: request, from: agent) })
        }
        try await agent.waitUntilWaiting(20)
        for task in tasks {
            task.cancel()
            #expect(await task.value == .failed(.cancelled))
        }
        server.releaseStalled()
        #expect(await holder.value == .answered)
        await agent.shutdown()
        #expect(other.connectionCount == 0)
        #expect(other.receivedByteCount == 0)
        #expect(body.asked.value == 0)
        #expect(server.requestCount == 1)
    }

    @Test func queueLengthIsLimited() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply())
        server.script("/hold", .stalled)
        let agent = Agent(configured: {
            $0.maxInFlight = 1
            $0.maxWaiting = 2
        })
        let holder = Task { await ending(of: Request<Bytes>(server.url("/hold")), from: agent) }
        try await server.waitForStalled(1)
        let waiting = [
            try await Self.queue("/a", .low, at: server, agent), try await Self.queue("/b", .low, at: server, agent),
        ]
        var request = Request<Bytes>(server.url("/c"))
        request.priority = .high
        #expect(await ending(of: request, from: agent) == .failed(.tooLarge))
        server.releaseStalled()
        for task in waiting + [holder] {
            #expect(await task.value == .answered)
        }
        #expect(Self.targets(server) == ["/hold", "/a", "/b"])
    }
}

import NetKit
import NetKitCompat
import Testing

/// Request tasks with the engine: slots, priorities and pauses.
@Suite(.timeLimit(.minutes(5)))
struct RequestTaskTransfersTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("*", Reply())
        server.script("/hold", .stalled)
    }

    private func targets() -> [String] {
        (0..<server.requestCount).map { String(server.received($0).requestLine.split(separator: " ")[1]) }
    }

    @Test(arguments: [1, 2, 5])
    func concurrentTasksDoNotExceedTheLimit(limit: Int) async throws {
        // In HZYNetwork the limit had no effect (H2).
        server.script("*", .stalled)
        let agent = Agent(configured: { $0.maxInFlight = limit })
        let handles = (0..<12).map { agent.start(Request<Bytes>(server.url("/\($0)"))) }
        try await expectSlots(limit, of: handles.count, agent)
        for handle in handles {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    @Test func concurrentTasksPerHostDoNotExceedTheLimit() async throws {
        server.script("*", .stalled)
        let other = try LoopbackServer(host: "127.0.0.2")
        other.script("*", Reply())
        let agent = Agent(configured: { $0.maxConnectionsPerHost = 2 })
        let handles = (0..<8).map { agent.start(Request<Bytes>(server.url("/\($0)"))) }
        try await server.waitForStalled(2)
        // Another host is not affected.
        #expect(failureCode(of: await agent.start(Request<Bytes>(other.url("/"))).result) == nil)
        #expect(server.requestCount == 2)
        var done = 0
        while done < handles.count {
            try await server.waitForStalled(2)
            #expect(server.requestCount - done == 2)
            server.releaseStalled()
            done += 2
        }
        for handle in handles {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    /// Releases requests slot by slot, and checks that none is sent early.
    private func expectSlots(_ limit: Int, of count: Int, _ agent: Agent) async throws {
        var done = 0
        while done < count {
            let running = min(limit, count - done)
            try await server.waitForStalled(running)
            #expect(server.requestCount == done + running)
            try await agent.waitUntilWaiting(count - done - running)
            try await agent.waitUntilRunsWait(count - done - running)
            #expect(agent.requestTasks().count { $0.state == .waiting } == count - done - running)
            server.releaseStalled()
            done += running
        }
    }

    @Test func waitingTaskCanBeReprioritizedByItsHandle() async throws {
        let agent = Agent(configured: { $0.maxInFlight = 1 })
        let holder = agent.start(Request<Bytes>(server.url("/hold")))
        try await server.waitForStalled(1)
        var handles: [CallHandle<Response<Bytes>>] = []
        for path in ["/a", "/b", "/c"] {
            handles.append(agent.start(Request<Bytes>(server.url(path))))
            try await agent.waitUntilWaiting(handles.count)
        }
        try await agent.waitUntilRunsWait(handles.count)
        #expect(agent.requestTasks().map(\.state) == [.running, .waiting, .waiting, .waiting])
        handles[2].setPriority(.high)
        handles[0].setPriority(.low)
        server.releaseStalled()
        for handle in handles + [holder] {
            #expect(failureCode(of: await handle.result) == nil)
        }
        #expect(targets() == ["/hold", "/c", "/b", "/a"])
    }

    @Test func prioritySetBeforeTheTransferTakesEffect() async throws {
        let agent = Agent(configured: { $0.maxInFlight = 1 })
        let holder = agent.start(Request<Bytes>(server.url("/hold")))
        try await server.waitForStalled(1)
        let normal = agent.start(Request<Bytes>(server.url("/normal")))
        try await agent.waitUntilWaiting(1)
        let pausing = AccessoryBlocks(willStart: { agent.handle(of: $0.id)?.pause() })
        let high = agent.start(Request<Bytes>(server.url("/high")), options: .init(accessories: [pausing]))
        high.setPriority(.high)
        high.resume()
        try await agent.waitUntilWaiting(2)
        server.releaseStalled()
        for handle in [holder, normal, high] {
            #expect(failureCode(of: await handle.result) == nil)
        }
        #expect(targets() == ["/hold", "/high", "/normal"])
    }

    @Test func transferOfATaskPausesAndResumes() async throws {
        server.script("/large", Reply(patternLength: 20_000_000))
        let agent = Agent()
        agent.suspend()
        let handle = agent.start(Request<Bytes>(server.url("/large")))
        try await agent.waitUntilWaiting(1)
        handle.pause()
        #expect(handle.task.isPaused)
        agent.resume()
        while agent.transfers().first?.isPaused != true {
            await Task.yield()
        }
        #expect(handle.state == .running)
        handle.resume()
        var check = PatternCheck()
        check.take(try await handle.value.bytes)
        #expect(check.count == 20_000_000 && check.isPattern)
    }

    @Test func lastOfManyConcurrentPausesTakesEffect() async throws {
        server.script("/large", Reply(patternLength: 5_000_000))
        let agent = Agent()
        for _ in 0..<20 {
            let handle = agent.start(Request<Bytes>(server.url("/large")))
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask { index % 2 == 0 ? handle.pause() : handle.resume() }
                }
            }
            // The listed state matches the last action.
            if handle.task.isPaused {
                handle.resume()
            }
            #expect(try await handle.value.bytes.count == 5_000_000)
        }
    }

    @Test func allTransfersArePausedAndCancelledIncludingSentCalls() async throws {
        server.script("*", .stalled)
        let agent = Agent()
        let started = agent.start(Request<Bytes>(server.url("/a")))
        let sent = Task { await ending(of: Request<Bytes>(server.url("/b")), from: agent) }
        try await server.waitForStalled(2)
        agent.pauseAll()
        while agent.transfers().contains(where: { !$0.isPaused }) {
            await Task.yield()
        }
        agent.resumeAll()
        while agent.transfers().contains(where: \.isPaused) {
            await Task.yield()
        }
        #expect(agent.requestTasks().map(\.id) == [started.id])
        agent.cancelAll()
        #expect(failureCode(of: await started.result) == .cancelled)
        #expect(await sent.value == .failed(.cancelled))
    }

    @Test func sentCallsAreCancelledByPathAndTransferID() async throws {
        server.script("*", .stalled)
        let agent = Agent(.init(baseURL: server.url("/")))
        let tasks = ["a?x", "b", "c"].map { path in Task { await ending(of: Request<Bytes>(path), from: agent) } }
        try await server.waitForStalled(3)
        #expect(agent.cancel(path: "a") == 0)
        #expect(await tasks[0].value == .failed(.cancelled))
        let transfer = try #require(agent.transfers().first { $0.url.hasSuffix("/b") })
        agent.cancel(transfer.id)
        #expect(await tasks[1].value == .failed(.cancelled))
        server.releaseStalled()
        #expect(await tasks[2].value == .answered)
    }
}

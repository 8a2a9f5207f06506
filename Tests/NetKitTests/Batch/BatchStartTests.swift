import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Batches and chains as request tasks: notifications, their order, and memory.
@Suite(.timeLimit(.minutes(5)))
struct BatchStartTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let log = Collected<String>()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func text(_ path: String) -> Request<String> { Request(path) }

    private func batch(_ paths: String...) -> Batch<MemberArray<Request<String>>> {
        var batch = Batch(paths.map(text))
        batch.tag = 5
        batch.userInfo = ["screen": "list"]
        batch.accessories = [RecordingAccessory("own", log)]
        return batch
    }

    // MARK: Batches

    @Test func batchAccessoriesAreNotifiedOnceInOrder() async throws {
        stub.register("*", with: .text("x"))
        let (log, hearing) = (log, RecordingDelegate(log))
        let handle = agent.start(batch("/a", "/b"), delegate: hearing) { result in
            log.append("closure \((try? result.get().values.count) ?? 0) \(whereNow())")
        }
        #expect(log.values.count == 1)
        #expect(try await handle.value.values == ["x", "x"])
        #expect(
            log.values == [
                "own will start elsewhere", "own will stop main", "finished main", "closure 2 main",
                "own did stop main",
                "cleared main",
            ])
        #expect(hearing.runs.values.map(\.kind) == [.batch, .batch])
        #expect(hearing.runs.values[0].tag == 5)
        #expect(hearing.runs.values[0].userInfo["screen"] as? String == "list")
        #expect(hearing.runs.values.allSatisfy { $0.id == handle.id })
    }

    @Test func failedBatchIsReportedOnce() async throws {
        stub.register("/bad", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        let (log, hearing) = (log, RecordingDelegate(log))
        let handle = agent.start(batch("/a", "/bad"), delegate: hearing) { _ in
            log.append("success")
        } failure: { error in
            log.append("failure \(error.failedMember?.index ?? -1)")
        }
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .reset)
        #expect(
            log.values == [
                "own will start elsewhere", "own will stop main", "failed reset main", "failure 1",
                "own did stop main", "cleared main",
            ])
    }

    @Test func emptyBatchIsReported() async throws {
        let log = log
        let handle = agent.start(batch()) { _ in
            log.append("success")
        } failure: { _ in
            log.append("failure")
        }
        _ = try await handle.value
        #expect(log.values == ["own will start elsewhere", "own will stop main", "success", "own did stop main"])
    }

    @Test func cancelledBatchAndItsMembersEndSilently() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let (log, hearing) = (log, RecordingDelegate(log))
        let agent = agent
        let handle = agent.start(batch("/a", "/b"), delegate: hearing) { _ in log.append("closure") }
        try await gate.waitForArrivals(2)
        handle.cancel()
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
        #expect(
            log.values == [
                "own will start elsewhere", "own will stop main", "own did stop main", "cleared main",
            ])
        await agent.shutdown()
    }

    @Test func cancelledBatchIsReportedWhenRequested() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let log = log
        let handle = agent.start(batch("/a"), options: .init(reportsCancellation: true)) { _ in
            log.append("success")
        } failure: {
            log.append("failure \($0.code)")
        }
        try await gate.waitForArrivals(1)
        handle.cancel()
        _ = await handle.result
        #expect(log.values.contains("failure cancelled"))
    }

    @Test func batchesAreFoundAndCancelledByTag() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let agent = agent
        let handle = agent.start(batch("/a", "/b"))
        try await gate.waitForArrivals(2)
        #expect(agent.requestTasks().map(\.kind) == [.batch])
        #expect(agent.requestTasks().map(\.state) == [.running])
        #expect(agent.cancel(tag: 4) == 0)
        #expect(agent.cancel(tag: 5) == 1)
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func startedBatchStaysAliveWithoutReferences() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let (log, ended) = (log, Gate())
        do {
            agent.start(batch("/a", "/b")) { _ in
                log.append("success")
                ended.open()
            } failure: { _ in
                ended.open()
            }
        }
        try await gate.waitForArrivals(2)
        gate.open()
        try await ended.opened()
        #expect(log.values.contains("success"))
    }

    /// YTKNetwork overwrote the delegates and closures of a batch's members, and notified their accessories twice
    /// (Y24).
    @Test(arguments: [true, false])
    func accessoriesOfMembersAreNotifiedOnceEach(isStarted: Bool) async throws {
        stub.register("*", with: .text("x"))
        var (first, second) = (text("/a"), text("/b"))
        first.accessories = [RecordingAccessory("a", log)]
        second.accessories = [RecordingAccessory("b", log)]
        second.observers = [CallLog(log: log)]
        let batch = Batch(first, second)
        if isStarted {
            _ = try await agent.start(batch).value
        } else {
            _ = try await agent.send(batch)
        }
        #expect(
            log.values.filter { $0.hasPrefix("a ") }.map { $0.prefix(11) } == [
                "a will star", "a will stop", "a did stop ",
            ])
        #expect(
            log.values.filter { $0.hasPrefix("b ") }.map { $0.prefix(11) } == [
                "b will star", "b will stop", "b did stop ",
            ])
        #expect(log.values.filter { $0.hasPrefix("call") } == ["call started", "call answered"])
    }

    // MARK: Paused

    @Test func pausedBatchSendsNothing() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let agent = agent
        let handle = agent.start(batch("/a", "/b", "/c").limited(to: 1))
        try await gate.waitForArrivals(1)
        handle.pause()
        #expect(handle.task.isPaused)
        gate.open()
        // The member in flight finishes, and the next one waits.
        try await stub.waitForRequests(1)
        for _ in 0..<100 {
            await Task.yield()
        }
        #expect(stub.requests.count == 1)
        handle.resume()
        #expect(try await handle.value.values == ["x", "x", "x"])
    }

    @Test func pausedBatchCanBeCancelled() async throws {
        stub.register("*", with: .text("x"))
        let agent = agent
        agent.suspend()
        let handle = agent.start(batch("/a"))
        handle.pause()
        handle.cancel()
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
    }

    @Test func transfersOfABatchPauseAndResume() async throws {
        let server = try LoopbackServer()
        server.script("*", Reply(patternLength: 2_000_000))
        let agent = Agent()
        agent.suspend()
        var tagged = Request<Bytes>(server.url("/b"))
        tagged.tag = 1
        let handle = agent.start(Batch(Request<Bytes>(server.url("/a")), tagged))
        try await agent.waitUntilWaiting(2)
        handle.pause()
        // A transfer that starts before it gets the pause might end without it.
        while agent.transfers().count(where: \.isPaused) < 2 {
            try Task.checkCancellation()
            await Task.yield()
        }
        agent.resume()
        handle.resume()
        let (first, second) = try await handle.value.values
        #expect(first.count == 2_000_000 && second.count == 2_000_000)
        await agent.shutdown()
    }

    @Test func aMemberIsFoundAndCancelledByItsTag() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let agent = agent
        var tagged = text("/b")
        tagged.tag = 8
        let handle = agent.start(Batch(text("/a"), tagged))
        try await gate.waitForArrivals(2)
        #expect(agent.cancel(tag: 8) == 1)
        do throws(NetError) {
            _ = try await handle.value
            Issue.record("the batch succeeded")
        } catch {
            #expect(error.code == .cancelled)
            #expect(error.failedMember?.tag == 8)
        }
    }

    // MARK: Chains

    /// YTKNetwork released a chain only if its delegate implemented the method (Y25).
    @Test func chainAccessoriesAreNotifiedOnceAndReleased() async throws {
        stub.register("*", with: .text("x"))
        let (log, agent) = (log, agent)
        var token: Token? = Token { log.append("gone") }
        var chain: Chain<(String, String)>? = Chain(text("/a")).then { [token] _ in
            _ = token
            return text("/b")
        }
        chain?.accessories = [RecordingAccessory("own", log)]
        chain?.tag = 3
        token = nil
        let handle = agent.start(try #require(chain)) { values in
            log.append("success \(values.values.1)")
        } failure: { _ in
            log.append("failure")
        }
        chain = nil
        _ = try await handle.value
        #expect(
            log.values.filter { $0 != "gone" } == [
                "own will start elsewhere", "own will stop main", "success x", "own did stop main",
            ])
        #expect(log.values.contains("gone"))
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func chainFailureNamesTheStepToTheDelegate() async throws {
        stub.register("/b", with: .status(500))
        stub.register("*", with: .text("x"))
        let (log, hearing) = (log, RecordingDelegate(log))
        let chain = Chain(text("/a")).then("second") { _ in text("/b") }
        let handle = agent.start(chain, delegate: hearing) { result in
            if case .failure(let error) = result {
                log.append(error.failedMember?.name ?? "")
            }
        }
        _ = await handle.result
        #expect(log.values == ["failed status main", "second", "cleared main"])
        #expect(hearing.runs.values.map(\.kind) == [.chain, .chain])
    }

    /// In YTKNetwork a chain that was stopped in a step's callback reported that it had finished (Y25).
    @Test func chainCancelledByAStepDoesNotFinish() async throws {
        stub.register("*", with: .text("x"))
        let (log, handles) = (log, Collected<CallHandle<ChainOutcome<(String, String)>>>())
        let held = gate
        stub.register("/a", with: .text("x").held(by: held))
        let chain = Chain(text("/a")).then { _ in
            handles.values[0].cancel()
            return text("/b")
        }
        let handle = agent.start(chain) { _ in
            log.append("success")
        } failure: { _ in
            log.append("failure")
        }
        handles.append(handle)
        held.open()
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
        handles.removeAll()
        #expect(log.values.isEmpty)
        #expect(stub.requests.map(\.path) == ["/a"])
    }

    @Test func aGraphIsStartedLikeAChain() async throws {
        stub.register("*", with: .text("x"))
        var graph = StepGraph()
        let step = graph.add("one", text("/a"))
        graph.accessories = [RecordingAccessory("own", log)]
        let handle = agent.start(graph)
        #expect(handle.task.kind == .chain)
        #expect(try await handle.value[step] == "x")
        #expect(log.values.count == 3)
    }

    // MARK: Released in their own callbacks

    @Test func agentBatchAndChainCanBeReleasedInTheirCallbacks() async throws {
        stub.register("*", with: .text("x"))
        for _ in 0..<50 {
            let (agents, ended) = (Collected<Agent>(), Gate())
            agents.append(agent)
            let made = Batch(Chain(text("/a")).then { _ in text("/b") }, text("/c"))
            agents.values[0].start(made) { _ in
                agents.removeAll()
                ended.open()
            } failure: { _ in
                ended.open()
            }
            try await ended.opened()
        }
    }

    @Test func thousandCancelledBatchesEndOnceEach() async throws {
        stub.register("*", with: .text("x"))
        let (agent, ends) = (agent, Counter())
        let handles = (0..<1_000).map { index in
            var batch = Batch([text("/\(index)"), text("/b")])
            batch.accessories = [AccessoryBlocks(didStop: { _ in ends.increment() })]
            let handle = agent.start(batch)
            if index % 2 == 0 {
                handle.cancel()
            }
            return handle
        }
        for handle in handles {
            _ = await handle.result
        }
        #expect(ends.value == 1_000)
        #expect(agent.requestTasks().isEmpty)
    }
}

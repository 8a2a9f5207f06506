import NetKit
import NetKitTesting
import Testing

/// Batches that return all values or the first failure.
@Suite(.timeLimit(.minutes(5)))
struct BatchTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func text(_ path: String, tag: Int = 0) -> Request<String> {
        var request = Request<String>(path)
        request.tag = tag
        return request
    }

    private func failure(of batch: some SendableOperation, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            _ = try await agent.send(batch)
            return nil
        } catch {
            return error
        }
    }

    @Test func membersOfDifferentTypesReturnATuple() async throws {
        stub.register("/text", with: .text("a"))
        stub.register("/numbers", with: .json("[1, 2]"))
        stub.register("/nothing", with: .status(204))
        let batch = Batch(text("/text"), Request<[Int]>("/numbers"), Request<Void>("/nothing"))
        let (text, numbers, _) = try await agent.send(batch).values
        #expect(text == "a")
        #expect(numbers == [1, 2])
    }

    @Test func membersOfOneTypeReturnAnArrayInOrder() async throws {
        // The responses of later members arrive first.
        let gates = (0..<3).map { _ in StubGate() }
        let stub = StubTransport { received in
            let number = Int(received.path.dropFirst()) ?? 0
            return .text("\(number)").held(by: gates[number])
        }
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var batch = Batch((0..<3).map { Request<String>("/\($0)") })
        batch.progress = { progress in
            if progress.finished < 3 {
                gates[2 - progress.finished].open()
            }
        }
        #expect(try await agent.send(batch).values == ["0", "1", "2"])
    }

    @Test func wholeResponsesAreAvailable() async throws {
        stub.register("*", with: StubReply(status: 201, headers: ["X-Name": "a"], body: [.text("x")]))
        let (first, second) = try await agent.send(Batch(text("/1"), text("/2"))).outcomes
        #expect(first.status == 201)
        #expect(second.headers["X-Name"] == "a")
    }

    @Test func anEmptyBatchSucceeds() async throws {
        #expect(try await agent.send(Batch([Request<String>]())).values == [])
        _ = try await agent.send(Batch()).values
        #expect(try await agent.send(Batch([Request<String>]()).collectingAll).results.isEmpty)
        #expect(stub.requests.isEmpty)
    }

    @Test func firstFailureCancelsTheOtherMembersAndIsIdentified() async throws {
        stub.register("/bad", with: .status(503))
        stub.register("*", with: .text("x").held(by: gate))
        let failed = await failure(of: Batch([text("/a", tag: 1), text("/b"), text("/bad", tag: 7)]), agent)
        #expect(failed?.code == .status)
        #expect(failed?.response?.status == 503)
        #expect(failed?.failedMember?.index == 2)
        #expect(failed?.failedMember?.tag == 7)
        #expect(failed?.failedMember?.error.code == .status)
        #expect(failed?.message == "member 2 (tag 7): status 503 from http://stub/bad")
        // Shutdown returns although the gate is closed, so nothing is in flight.
        await agent.shutdown()
    }

    @Test func failureInATupleIsIdentified() async throws {
        stub.register("/a", with: .text("x"))
        stub.register("/b", with: .failure(.reset))
        let failed = await failure(of: Batch(text("/a"), Request<[Int]>("/b")), agent)
        #expect(failed?.code == .reset)
        #expect(failed?.failedMember?.index == 1)
        #expect(failed?.failedMember?.name == nil)
        #expect(failed?.message.hasPrefix("member 1: ") == true)
    }

    @Test func queuedMembersAreNotSentAfterAFailure() async throws {
        stub.register("/2", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        var batch = Batch((0..<9).map { text("/\($0)") })
        batch = batch.limited(to: 1)
        let failed = await failure(of: batch, agent)
        #expect(failed?.failedMember?.index == 2)
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/2"])
    }

    @Test func failureBeforeSendingIsIdentified() async throws {
        stub.register("*", with: .text("x"))
        let failed = await failure(of: Batch(text("/a"), text("http://a b/")), agent)
        #expect(failed?.code == .badURL)
        #expect(failed?.failedMember?.index == 1)
    }

    @Test func errorWhileMakingARequestIsAFailureOfItsMember() async throws {
        struct Wrong: RequestConvertible {
            func request() async throws(NetError) -> Request<String> { throw NetError(.badParameter, "no name") }
        }
        stub.register("*", with: .text("x"))
        let failed = await failure(of: Batch(text("/a"), Wrong()), agent)
        #expect(failed?.code == .badParameter)
        #expect(failed?.failedMember?.index == 1)
    }

    @Test func aBatchCanBeSentAgain() async throws {
        stub.register("*", with: .text("1"), .text("2"))
        let batch = Batch([text("/")])
        #expect(try await agent.send(batch).values == ["1"])
        #expect(try await agent.send(batch).values == ["2"])
    }

    // MARK: Concurrency limit

    @Test(arguments: [1, 2, 3, 8])
    func membersInFlightDoNotExceedTheLimit(limit: Int) async throws {
        let inFlight = Lock((now: 0, highest: 0))
        let stub = StubTransport { _ in
            inFlight.withLock { state in
                state.now += 1
                state.highest = max(state.highest, state.now)
            }
            await Task.yield()
            inFlight.withLock { $0.now -= 1 }
            return .text("x")
        }
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let values = try await agent.send(Batch((0..<24).map { text("/\($0)") }).limited(to: limit)).values
        #expect(values.count == 24)
        #expect(inFlight.withLock { $0.highest } <= limit)
    }

    @Test func membersInFlightReachTheLimit() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, Batch((0..<10).map { text("/\($0)") }).limited(to: 3))
        let task = Task { try await agent.send(batch).values.count }
        try await gate.waitForArrivals(3)
        #expect(stub.requests.count == 3)
        gate.open()
        #expect(try await task.value == 10)
    }

    @Test func serialMembersAreSentInOrder() async throws {
        stub.register("*", with: .text("x"))
        var batch = Batch((0..<20).map { text("/\($0)") })
        batch = batch.limited(to: 1)
        _ = try await agent.send(batch)
        #expect(stub.requests.map(\.path) == (0..<20).map { "/\($0)" })
    }

    @Test(arguments: [0, -3])
    func aLimitBelowOneCountsAsOne(limit: Int) async throws {
        stub.register("*", with: .text("x"))
        #expect(try await agent.send(Batch([text("/a"), text("/b")]).limited(to: limit)).values == ["x", "x"])
    }

    // MARK: Cancellation

    @Test func cancelledTaskEndsTheBatchWithoutNamingAMember() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, Batch((0..<5).map { text("/\($0)") }))
        let task = Task { await failure(of: batch, agent) }
        try await gate.waitForArrivals(5)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled)
        #expect(error?.failedMember == nil)
        await agent.shutdown()
    }

    @Test func taskCancelledBeforehandSendsNothing() async throws {
        let (agent, batch) = (agent, Batch([text("/")]))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await failure(of: batch, agent)
        }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test func memberThatReportsCancellationItselfIsIdentified() async throws {
        stub.register("/a", with: .failure(.cancelled))
        stub.register("/b", with: .text("x").held(by: gate))
        let failed = await failure(of: Batch(text("/a"), text("/b")), agent)
        #expect(failed?.code == .cancelled)
        #expect(failed?.failedMember?.index == 0)
    }
}

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

    private func failure(of batch: some Errand, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            _ = try await agent.send(batch)
            return nil
        } catch {
            return error
        }
    }

    @Test func membersOfAnyKindGiveATupleOfTheirValues() async throws {
        stub.answer("/text", with: .text("a"))
        stub.answer("/numbers", with: .json("[1, 2]"))
        stub.answer("/nothing", with: .status(204))
        let batch = Batch(text("/text"), Request<[Int]>("/numbers"), Request<Void>("/nothing"))
        let (text, numbers, _) = try await agent.send(batch).values
        #expect(text == "a")
        #expect(numbers == [1, 2])
    }

    @Test func membersOfOneKindGiveAnArrayInTheirOrder() async throws {
        // The later members are answered first.
        let gates = (0..<3).map { _ in StubGate() }
        let stub = StubTransport { asked in
            let number = Int(asked.path.dropFirst()) ?? 0
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

    @Test func wholeResponsesAreThere() async throws {
        stub.answer("*", with: StubReply(status: 201, headers: ["X-Name": "a"], body: [.text("x")]))
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

    @Test func theFirstFailureEndsTheRestAndIsNamed() async throws {
        stub.answer("/bad", with: .status(503))
        stub.answer("*", with: .text("x").held(by: gate))
        let failed = await failure(of: Batch([text("/a", tag: 1), text("/b"), text("/bad", tag: 7)]), agent)
        #expect(failed?.code == .unacceptableStatus)
        #expect(failed?.response?.status == 503)
        #expect(failed?.failedPart?.index == 2)
        #expect(failed?.failedPart?.tag == 7)
        #expect(failed?.failedPart?.error.code == .unacceptableStatus)
        #expect(failed?.message == "member 2 (tag 7): status 503 from http://stub/bad")
        // Shutdown returns although the gate is closed, so nothing is in flight.
        await agent.shutdown()
    }

    @Test func aFailureInATupleIsNamed() async throws {
        stub.answer("/a", with: .text("x"))
        stub.answer("/b", with: .failure(.reset))
        let failed = await failure(of: Batch(text("/a"), Request<[Int]>("/b")), agent)
        #expect(failed?.code == .reset)
        #expect(failed?.failedPart?.index == 1)
        #expect(failed?.failedPart?.name == nil)
        #expect(failed?.message.hasPrefix("member 1: ") == true)
    }

    @Test func whatHasNotBegunIsNotSentAfterAFailure() async throws {
        stub.answer("/2", with: .failure(.reset))
        stub.answer("*", with: .text("x"))
        var batch = Batch((0..<9).map { text("/\($0)") })
        batch.concurrency = .serial
        let failed = await failure(of: batch, agent)
        #expect(failed?.failedPart?.index == 2)
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/2"])
    }

    @Test func aFailureBeforeAnythingIsSentIsNamedToo() async throws {
        stub.answer("*", with: .text("x"))
        let failed = await failure(of: Batch(text("/a"), text("http://a b/")), agent)
        #expect(failed?.code == .badURL)
        #expect(failed?.failedPart?.index == 1)
    }

    @Test func whatAMemberCannotDescribeIsItsFailure() async throws {
        struct Wrong: RequestConvertible {
            func request() async throws(NetError) -> Request<String> { throw NetError(.badParameter, "no name") }
        }
        stub.answer("*", with: .text("x"))
        let failed = await failure(of: Batch(text("/a"), Wrong()), agent)
        #expect(failed?.code == .badParameter)
        #expect(failed?.failedPart?.index == 1)
    }

    @Test func aBatchCanBeSentAgain() async throws {
        stub.answer("*", with: .text("1"), .text("2"))
        let batch = Batch([text("/")])
        #expect(try await agent.send(batch).values == ["1"])
        #expect(try await agent.send(batch).values == ["2"])
    }

    // MARK: Concurrency limit

    @Test(arguments: [1, 2, 3, 8])
    func noMoreThanTheLimitAreUnderWay(limit: Int) async throws {
        let underWay = Lock((now: 0, most: 0))
        let stub = StubTransport { _ in
            underWay.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            await Task.yield()
            underWay.withLock { $0.now -= 1 }
            return .text("x")
        }
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let values = try await agent.send(Batch((0..<24).map { text("/\($0)") }).limited(to: limit)).values
        #expect(values.count == 24)
        #expect(underWay.withLock { $0.most } <= limit)
    }

    @Test func withALimitThatMuchIsUnderWay() async throws {
        stub.answer("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, Batch((0..<10).map { text("/\($0)") }).limited(to: 3))
        let task = Task { try await agent.send(batch).values.count }
        try await gate.waitForArrivals(3)
        #expect(stub.requests.count == 3)
        gate.open()
        #expect(try await task.value == 10)
    }

    @Test func serialMembersAreSentInOrder() async throws {
        stub.answer("*", with: .text("x"))
        var batch = Batch((0..<20).map { text("/\($0)") })
        batch.concurrency = .serial
        _ = try await agent.send(batch)
        #expect(stub.requests.map(\.path) == (0..<20).map { "/\($0)" })
    }

    @Test(arguments: [0, -3])
    func aLimitBelowOneCountsAsOne(limit: Int) async throws {
        stub.answer("*", with: .text("x"))
        #expect(try await agent.send(Batch([text("/a"), text("/b")]).limited(to: limit)).values == ["x", "x"])
    }

    // MARK: Cancellation

    @Test func aCancelledTaskEndsItAndBlamesNobody() async throws {
        stub.answer("*", with: .text("x").held(by: gate))
        let (agent, batch) = (agent, Batch((0..<5).map { text("/\($0)") }))
        let task = Task { await failure(of: batch, agent) }
        try await gate.waitForArrivals(5)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled)
        #expect(error?.failedPart == nil)
        await agent.shutdown()
    }

    @Test func aTaskThatIsCancelledBeforehandSendsNothing() async throws {
        let (agent, batch) = (agent, Batch([text("/")]))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await failure(of: batch, agent)
        }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test func aMemberThatEndsAsCancelledByItselfIsNamed() async throws {
        stub.answer("/a", with: .failure(.cancelled))
        stub.answer("/b", with: .text("x").held(by: gate))
        let failed = await failure(of: Batch(text("/a"), text("/b")), agent)
        #expect(failed?.code == .cancelled)
        #expect(failed?.failedPart?.index == 0)
    }
}

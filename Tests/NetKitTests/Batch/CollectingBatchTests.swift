import NetKit
import NetKitTesting
import Testing

/// Batches that collect the result of each member.
@Suite(.timeLimit(.minutes(5)))
struct CollectingBatchTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    @Test func resultsKeepTheOrderOfTheMembers() async throws {
        stub.register("/a", with: .text("a"))
        stub.register("/b", with: .status(500))
        stub.register("/c", with: .json("[3]"))
        let batch = Batch(Request<String>("/a"), Request<String>("/b"), Request<[Int]>("/c"))
        let outcome = try await agent.send(batch.collectingAll)
        let (first, second, third) = outcome.results
        #expect(try first.get().value == "a")
        #expect(throws: NetError.self) { try second.get() }
        #expect(try third.get().value == [3])
        #expect(outcome.failures.map(\.index) == [1])
        #expect(outcome.failures[0].error.code == .status)
    }

    /// HZYNetwork sorted its requests into the wrong lists when more than one succeeded, and lost the failures when
    /// none did (H10).
    @Test(arguments: 0..<16)
    func everyCombinationOfSuccessesAndFailuresIsSeparatedCorrectly(mix: Int) async throws {
        let fails = (0..<4).map { mix >> $0 & 1 == 1 }
        for (index, fails) in fails.enumerated() {
            stub.register("/\(index)", with: fails ? .failure(.reset) : .text("\(index)"))
        }
        let outcome = try await agent.send(Batch((0..<4).map { Request<String>("/\($0)") }).collectingAll)
        #expect(outcome.results.map { (try? $0.get().value) == nil } == fails)
        #expect(outcome.results.enumerated().allSatisfy { fails[$0] || (try? $1.get().value) == "\($0)" })
        #expect(outcome.failures.map(\.index) == fails.indices.filter { fails[$0] })
    }

    /// In HZYNetwork a batch never ended if one of its requests was not started (H5, H10).
    @Test func unsentMembersHaveAResult() async throws {
        stub.register("*", with: .text("x"))
        let batch = Batch([Request<String>("/a"), Request<String>("http://a b/"), Request<String>("/c")])
        let outcome = try await agent.send(batch.collectingAll)
        #expect(outcome.failures.map(\.error.code) == [.badURL])
        #expect(outcome.failures.map(\.index) == [1])
    }

    @Test func aFailureKeepsItsTag() async throws {
        var request = Request<String>("/a")
        request.tag = 9
        stub.register("/a", with: .failure(.refused))
        let outcome = try await agent.send(Batch([request]).collectingAll)
        #expect(outcome.failures.map(\.tag) == [9])
    }

    @Test func serialMembersContinueAfterAFailure() async throws {
        stub.register("/1", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        let outcome = try await agent.send(
            Batch((0..<4).map { Request<String>("/\($0)") }).limited(to: 1).collectingAll)
        #expect(outcome.failures.count == 1)
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/2", "/3"])
    }

    @Test func cancelledTaskEndsTheBatch() async throws {
        stub.register("/0", with: .text("x"))
        stub.register("*", with: .text("x").held(by: gate))
        let agent = agent
        let task = Task {
            await failureCode { () async throws(NetError) in
                _ = try await agent.send(Batch((0..<4).map { Request<String>("/\($0)") }).collectingAll)
            }
        }
        try await gate.waitForArrivals(3)
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func batchIsFromTheCacheOnlyIfAllMembersAre() async throws {
        stub.register("/ok", with: .text("x"))
        stub.register("/bad", with: .status(500))
        let (cached, sent) = (ConstantOperation(), ConstantOperation(isFromCache: false))
        #expect(try await agent.send(Batch(cached, cached)).isFromCache)
        #expect(try await !agent.send(Batch(cached, sent)).isFromCache)
        #expect(try await agent.send(Batch([cached, cached])).isFromCache)
        #expect(try await !agent.send(Batch([sent, cached])).isFromCache)
        #expect(try await !agent.send(Batch(cached, Request<String>("/ok"))).isFromCache)
        #expect(try await agent.send(Batch(cached, Batch(cached)).collectingAll).isFromCache)
        #expect(try await !agent.send(Batch(cached, Request<String>("/bad")).collectingAll).isFromCache)
    }
}

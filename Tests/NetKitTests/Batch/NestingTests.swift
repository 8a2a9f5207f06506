import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Batches and chains within each other.
@Suite(.timeLimit(.minutes(5)))
struct NestingTests {
    private let stub = StubTransport()
    private let events = Collected<Event>()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func text(_ path: String) -> Request<String> { Request(path) }

    private func echo() {
        stub.register("*", with: .text("x"))
        for name in ["a", "b", "c", "d"] {
            stub.register("/\(name)", with: .text(name))
        }
    }

    @Test func batchCanBeAMemberOfABatch() async throws {
        echo()
        let inner = Batch([text("/a"), text("/b")])
        let (first, second) = try await agent.send(Batch(inner, text("/c"))).values
        #expect(first == ["a", "b"])
        #expect(second == "c")
        let tuples = try await agent.send(Batch([Batch(text("/a"), text("/b")), Batch(text("/c"), text("/d"))])).values
        #expect(tuples.map(\.0) == ["a", "c"])
        #expect(tuples.map(\.1) == ["b", "d"])
    }

    @Test func batchesAndChainsNestInEachOther() async throws {
        echo()
        let chain = Chain(text("/a")).then { a in Batch(text("/b"), text("/\(a)")) }
        let values = try await agent.send(Batch(chain, text("/d"))).values
        #expect(values.0.0 == "a")
        #expect(values.0.1 == ("b", "a"))
        #expect(values.1 == "d")
    }

    @Test func aCollectingBatchAndAGraphNestToo() async throws {
        echo()
        stub.register("/bad", with: .status(500))
        var graph = StepGraph()
        let step = graph.add("one", text("/c"))
        let nestedGraph = graph
        let outcome = try await agent.send(
            Chain(Batch([text("/a"), text("/bad")]).collectingAll).then { results in
                Batch(text("/\(results.count { (try? $0.get()) != nil })"), nestedGraph)
            })
        #expect(outcome.values.1.0 == "x")
        #expect(try outcome.values.1.1[step] == "c")
        #expect(stub.requests.map(\.path).contains("/1"))
    }

    @Test func nestedFailureNamesEachLevel() async throws {
        echo()
        stub.register("/bad", with: .status(500))
        let chain = Chain(text("/a")).then("inner") { _ in Batch(text("/b"), text("/bad")) }
        do throws(NetError) {
            _ = try await agent.send(Batch(text("/c"), chain))
            Issue.record("the batch succeeded")
        } catch {
            #expect(error.code == .status)
            #expect(error.failedMember?.index == 1)
            #expect(error.failedMember?.error.failedMember?.name == "inner")
            #expect(error.failedMember?.error.failedMember?.error.failedMember?.index == 1)
            #expect(error.message == "member 1: step 1 \"inner\": member 1: status 500 from http://stub/bad")
        }
    }

    /// YTKNetwork notified the accessories of a batch's members twice, and removed their delegates (Y24).
    @Test func observersOfMembersAreNotifiedOnce() async throws {
        echo()
        var request = text("/a")
        request.observers = [Watcher(events: events)]
        _ = try await agent.send(Batch(Batch(request, text("/b")), Chain(text("/c"))))
        #expect(events.values.map(\.name) == ["started", "exchange 1", "answered 200", "stopping 200", "stopped"])
    }

    @Test func observersOfMembersReceiveOneEndWhenTheOthersAreCancelled() async throws {
        let gate = StubGate()
        var request = text("/a")
        request.observers = [Watcher(events: events)]
        stub.register("/bad", with: .failure(.reset))
        let (agent, batch) = (agent, Batch(request, Chain(text("/b")).then { _ in text("/bad") }))
        stub.register("/b", with: .text("b").held(by: gate))
        stub.register("/a", with: .text("a").held(by: StubGate()))
        let task = Task {
            await failureCode { () async throws(NetError) in _ = try await agent.send(batch) }
        }
        try await stub.waitForRequests(2)
        gate.open()
        #expect(await task.value == .reset)
        #expect(events.values.map(\.name).suffix(2) == ["stopping cancelled", "stopped"])
        #expect(events.values.count { $0.name.hasPrefix("stopping") } == 1)
    }
}

extension Event {
    /// The event in a word or two.
    fileprivate var name: String {
        switch change {
        case .started: "started"
        case .exchangeStarted(let number): "exchange \(number)"
        case .exchangeEnded(_, .answered(let response)): "answered \(response.status)"
        case .exchangeEnded(_, .failed(let error)): "failed \(error.code)"
        case .stopping(.answered(let response)): "stopping \(response.status)"
        case .stopping(.failed(let error)): "stopping \(error.code)"
        case .stopped: "stopped"
        default: "other"
        }
    }
}

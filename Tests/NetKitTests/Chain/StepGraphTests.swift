import NetKit
import NetKitTesting
import Testing

/// Named steps and their dependencies.
@Suite(.timeLimit(.minutes(5)))
struct StepGraphTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func text(_ path: String) -> Request<String> { Request(path) }

    private func failure(of graph: StepGraph, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            _ = try await agent.send(graph)
            return nil
        } catch {
            return error
        }
    }

    /// B and C depend on A, and D depends on both.
    private func diamond() -> (graph: StepGraph, last: StepKey<String>) {
        var graph = StepGraph()
        let a = graph.add("A", text("/a"))
        let b = graph.add("B", after: ["A"]) { run in text("/b?\(try run[a])") }
        let c = graph.add("C", after: ["A"]) { run in Request<[Int]>("/c?\(try run[a])") }
        let d = graph.add("D", after: ["B", "C"]) { run in text("/d?\(try run[a])\(try run[b])\(try run[c])") }
        return (graph, d)
    }

    @Test func stepsThatAreReadyRunAtOnceAndSeeTheValuesBeforeThem() async throws {
        stub.answer("/a", with: .text("a"))
        stub.answer("/b", with: .text("b").held(by: gate))
        stub.answer("/c", with: StubReply.json("[3]").held(by: gate))
        stub.answer("/d", with: .text("d"))
        let (graph, last) = diamond()
        let agent = agent
        let task = Task { try await agent.send(graph) }
        // Both are in flight before either is answered.
        try await gate.waitForArrivals(2)
        gate.open()
        let outcome = try await task.value
        #expect(try outcome[last] == "d")
        #expect(outcome.names.first == "A")
        #expect(outcome.names.last == "D")
        #expect(Set(outcome.names) == ["A", "B", "C", "D"])
        #expect(stub.requests.last?.query == "ab[3]")
    }

    @Test func aGraphWithoutStepsSucceeds() async throws {
        #expect(try await agent.send(StepGraph()).names.isEmpty)
    }

    @Test func stepsThatNeedNothingOfEachOtherRunAtOnce() async throws {
        stub.answer("*", with: .text("x").held(by: gate))
        var graph = StepGraph()
        for index in 0..<5 {
            graph.add("\(index)", text("/\(index)"))
        }
        let (agent, made) = (agent, graph)
        let task = Task { try await agent.send(made).names.count }
        try await gate.waitForArrivals(5)
        gate.open()
        #expect(try await task.value == 5)
    }

    @Test func stepsMayBeAddedBeforeWhatTheyComeAfter() async throws {
        stub.answer("*", with: .text("x"))
        var graph = StepGraph()
        graph.add("last", after: ["middle"], text("/3"))
        graph.add("middle", after: ["first"], text("/2"))
        graph.add("first", text("/1"))
        #expect(try await agent.send(graph).names == ["first", "middle", "last"])
    }

    // MARK: Invalid graphs

    @Test func stepsThatWaitForEachOtherAreToldBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("start", text("/s"))
        graph.add("A", after: ["start", "C"], text("/a"))
        graph.add("B", after: ["A"], text("/b"))
        graph.add("C", after: ["B"], text("/c"))
        graph.add("end", after: ["C"], text("/e"))
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        let circles = [
            #"steps wait for each other: "A" after "C" after "B" after "A""#,
            #"steps wait for each other: "B" after "A" after "C" after "B""#,
            #"steps wait for each other: "C" after "B" after "A" after "C""#,
        ]
        #expect(circles.contains(failed?.message ?? ""))
        #expect(stub.requests.isEmpty)
    }

    @Test func aStepThatComesAfterItselfIsACircle() async throws {
        var graph = StepGraph()
        graph.add("A", after: ["A"], text("/a"))
        #expect(await failure(of: graph, agent)?.message == #"steps wait for each other: "A" after "A""#)
    }

    @Test func anUnknownNameIsToldBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("A", text("/a"))
        graph.add("B", after: ["A", "Z"], text("/b"))
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        #expect(failed?.message == #"step "B" comes after "Z", which is no step"#)
        #expect(stub.requests.isEmpty)
    }

    @Test func aNameThatOccursTwiceIsToldBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("A", text("/a"))
        graph.add("A", text("/b"))
        #expect(await failure(of: graph, agent)?.message == #"two steps are called "A""#)
        #expect(stub.requests.isEmpty)
    }

    @Test func manyStepsInARowNeedNoDeepStack() async throws {
        var graph = StepGraph()
        for index in 0..<3_000 {
            graph.add("\(index)", after: index == 0 ? [] : ["\(index - 1)"], Known())
        }
        #expect(try await agent.send(graph).names.count == 3_000)
        var circle = StepGraph()
        for index in 0..<3_000 {
            circle.add("\(index)", after: ["\((index + 1) % 3_000)"], Known())
        }
        #expect(await failure(of: circle, agent)?.code == .usage)
    }

    // MARK: Failures

    @Test func aFailureStopsTheRestAndNamesTheStep() async throws {
        stub.answer("/a", with: .text("a"))
        stub.answer("/b", with: .status(500))
        stub.answer("/c", with: StubReply.json("[3]").held(by: gate))
        let failed = await failure(of: diamond().graph, agent)
        #expect(failed?.code == .unacceptableStatus)
        #expect(failed?.failedPart?.name == "B")
        #expect(failed?.failedPart?.index == 1)
        #expect(!stub.requests.map(\.path).contains("/d"))
        await agent.shutdown()
    }

    @Test func aCancelledTaskEndsIt() async throws {
        stub.answer("/a", with: .text("a"))
        stub.answer("*", with: .text("b").held(by: gate))
        let (agent, graph) = (agent, diamond().graph)
        let task = Task { await failure(of: graph, agent) }
        try await gate.waitForArrivals(2)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled)
        #expect(error?.failedPart == nil)
        #expect(!stub.requests.map(\.path).contains("/d"))
    }

    @Test func onlyWhatComesBeforeAStepCanBeRead() async throws {
        stub.answer("*", with: .text("x"))
        var graph = StepGraph()
        let a = graph.add("A", text("/a"))
        graph.add("B") { run in text("/\(try run[a])") }
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        #expect(failed?.failedPart?.error.message == #"step "B" does not come after "A""#)
    }

    @Test func aStepOfAnotherGraphHasNoValue() async throws {
        stub.answer("*", with: .text("x"))
        var other = StepGraph()
        let stranger = other.add("stranger", text("/a"))
        let numbers = other.add("A", Request<[Int]>("/a"))
        var graph = StepGraph()
        graph.add("A", text("/a"))
        let outcome = try await agent.send(graph)
        #expect(throws: NetError.self) { try outcome[stranger] }
        #expect(throws: NetError.self) { try outcome[numbers] }
    }

    // MARK: Steps that add steps

    @Test func aStepChoosesWhatComesAfterIt() async throws {
        stub.answer("/a", with: .text("b"))
        stub.answer("*", with: .text("x"))
        var graph = StepGraph()
        let a = graph.add("A", text("/a"))
        graph.add("choice", after: ["A"]) { run in
            let choice = try run[a]
            for name in choice == "b" ? ["B", "C"] : ["Z"] {
                try run.add(name, after: [run.name], text("/\(name)"))
            }
            try run.add("D", after: ["B", "C"], text("/D"))
            return text("/chosen")
        }
        let names = try await agent.send(graph).names
        #expect(names.prefix(2) == ["A", "choice"])
        #expect(Set(names.dropFirst(2).prefix(2)) == ["B", "C"])
        #expect(names.last == "D")
    }

    @Test func stepsAddedWithoutWaitingRunAtOnce() async throws {
        stub.answer("/a", with: .text("x").held(by: gate))
        stub.answer("/b", with: .text("x"))
        var graph = StepGraph()
        let opened = gate
        graph.add("A") { run in
            try run.add("B") { _ in text("/b") }
            try run.add("C", after: ["B"]) { _ in
                opened.open()
                return Known()
            }
            return text("/a")
        }
        #expect(Set(try await agent.send(graph).names) == ["A", "B", "C"])
    }

    @Test func stepsThatCannotBeAddedFailTheOneThatAdds() async throws {
        stub.answer("*", with: .text("x"))
        for (name, earlier) in [("A", ""), ("N", "Z"), ("N", "N")] {
            var graph = StepGraph()
            graph.add("A") { run in
                try run.add(name, after: earlier.isEmpty ? [] : [earlier], text("/n"))
                return text("/a")
            }
            let failed = await failure(of: graph, agent)
            #expect(failed?.code == .usage)
            #expect(failed?.failedPart?.name == "A")
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func aGraphThatIsOverTakesNoSteps() async throws {
        let kept = Collected<StepRun>()
        var graph = StepGraph()
        graph.add("A") { run in
            kept.append(run)
            return Known()
        }
        _ = try await agent.send(graph)
        #expect(throws: NetError.self) { try kept.values[0].add("B", Known()) }
        kept.removeAll()  // Breaks the cycle: the run holds the steps, and a step holds what keeps the run.
    }

    @Test(arguments: [true, false])
    func aStepReadsThoseThatItNamesInALargeGraph(isDeep: Bool) async throws {
        var graph = StepGraph()
        let first = graph.add("first", Known())
        var keys = [first]
        for number in 0..<2_000 {
            let earlier = isDeep ? ["first", keys[number].name] : []
            keys.append(
                graph.add("\(number)", after: earlier) { run in
                    isDeep ? Known(value: try run[first]) : Known()
                })
        }
        let asked = isDeep ? [] : keys
        let last = graph.add("last", after: keys.map(\.name)) { run in
            Known(value: try asked.allSatisfy { try run[$0] == "known" } ? "all" : "some")
        }
        #expect(try await agent.send(graph)[last] == "all")
    }
}

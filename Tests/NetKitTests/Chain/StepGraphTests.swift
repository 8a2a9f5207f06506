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

    @Test func readyStepsRunConcurrentlyAndReadEarlierValues() async throws {
        stub.register("/a", with: .text("a"))
        stub.register("/b", with: .text("b").held(by: gate))
        stub.register("/c", with: StubReply.json("[3]").held(by: gate))
        stub.register("/d", with: .text("d"))
        let (graph, last) = diamond()
        let agent = agent
        let task = Task { try await agent.send(graph) }
        // B and C are both in flight before either receives a response.
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

    @Test func independentStepsRunConcurrently() async throws {
        stub.register("*", with: .text("x").held(by: gate))
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

    @Test func stepsCanBeAddedBeforeTheirDependencies() async throws {
        stub.register("*", with: .text("x"))
        var graph = StepGraph()
        graph.add("last", after: ["middle"], text("/3"))
        graph.add("middle", after: ["first"], text("/2"))
        graph.add("first", text("/1"))
        #expect(try await agent.send(graph).names == ["first", "middle", "last"])
    }

    // MARK: Invalid graphs

    @Test func cycleIsReportedBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("start", text("/s"))
        graph.add("A", after: ["start", "C"], text("/a"))
        graph.add("B", after: ["A"], text("/b"))
        graph.add("C", after: ["B"], text("/c"))
        graph.add("end", after: ["C"], text("/e"))
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        let circles = [
            #"steps depend on each other in a cycle: "A" after "C" after "B" after "A""#,
            #"steps depend on each other in a cycle: "B" after "A" after "C" after "B""#,
            #"steps depend on each other in a cycle: "C" after "B" after "A" after "C""#,
        ]
        #expect(circles.contains(failed?.message ?? ""))
        #expect(stub.requests.isEmpty)
    }

    @Test func stepThatDependsOnItselfIsACycle() async throws {
        var graph = StepGraph()
        graph.add("A", after: ["A"], text("/a"))
        #expect(await failure(of: graph, agent)?.message == #"steps depend on each other in a cycle: "A" after "A""#)
    }

    @Test func unknownNameIsReportedBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("A", text("/a"))
        graph.add("B", after: ["A", "Z"], text("/b"))
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        #expect(failed?.message == #"step "B" depends on "Z", which is not a step"#)
        #expect(stub.requests.isEmpty)
    }

    @Test func duplicateNameIsReportedBeforeAnythingIsSent() async throws {
        var graph = StepGraph()
        graph.add("A", text("/a"))
        graph.add("A", text("/b"))
        #expect(await failure(of: graph, agent)?.message == #"two steps have the name "A""#)
        #expect(stub.requests.isEmpty)
    }

    @Test func longSequenceOfStepsUsesAConstantStack() async throws {
        var graph = StepGraph()
        for index in 0..<3_000 {
            graph.add("\(index)", after: index == 0 ? [] : ["\(index - 1)"], ConstantOperation())
        }
        #expect(try await agent.send(graph).names.count == 3_000)
        var circle = StepGraph()
        for index in 0..<3_000 {
            circle.add("\(index)", after: ["\((index + 1) % 3_000)"], ConstantOperation())
        }
        #expect(await failure(of: circle, agent)?.code == .usage)
    }

    // MARK: Failures

    @Test func failureStopsTheRemainingStepsAndNamesTheStep() async throws {
        stub.register("/a", with: .text("a"))
        stub.register("/b", with: .status(500))
        stub.register("/c", with: StubReply.json("[3]").held(by: gate))
        let failed = await failure(of: diamond().graph, agent)
        #expect(failed?.code == .status)
        #expect(failed?.failedMember?.name == "B")
        #expect(failed?.failedMember?.index == 1)
        #expect(!stub.requests.map(\.path).contains("/d"))
        await agent.shutdown()
    }

    @Test func cancelledTaskEndsTheGraph() async throws {
        stub.register("/a", with: .text("a"))
        stub.register("*", with: .text("b").held(by: gate))
        let (agent, graph) = (agent, diamond().graph)
        let task = Task { await failure(of: graph, agent) }
        try await gate.waitForArrivals(2)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled)
        #expect(error?.failedMember == nil)
        #expect(!stub.requests.map(\.path).contains("/d"))
    }

    @Test func stepCanReadOnlyItsDependencies() async throws {
        stub.register("*", with: .text("x"))
        var graph = StepGraph()
        let a = graph.add("A", text("/a"))
        graph.add("B") { run in text("/\(try run[a])") }
        let failed = await failure(of: graph, agent)
        #expect(failed?.code == .usage)
        #expect(failed?.failedMember?.error.message == #"step "B" does not depend on "A""#)
    }

    @Test func aStepOfAnotherGraphHasNoValue() async throws {
        stub.register("*", with: .text("x"))
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

    @Test func stepChoosesItsSuccessor() async throws {
        stub.register("/a", with: .text("b"))
        stub.register("*", with: .text("x"))
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

    @Test func stepsAddedWithoutWaitingRunConcurrently() async throws {
        stub.register("/a", with: .text("x").held(by: gate))
        stub.register("/b", with: .text("x"))
        var graph = StepGraph()
        let opened = gate
        graph.add("A") { run in
            try run.add("B") { _ in text("/b") }
            try run.add("C", after: ["B"]) { _ in
                opened.open()
                return ConstantOperation()
            }
            return text("/a")
        }
        #expect(Set(try await agent.send(graph).names) == ["A", "B", "C"])
    }

    @Test func addingAnInvalidStepFailsTheAddingStep() async throws {
        stub.register("*", with: .text("x"))
        for (name, earlier) in [("A", ""), ("N", "Z"), ("N", "N")] {
            var graph = StepGraph()
            graph.add("A") { run in
                try run.add(name, after: earlier.isEmpty ? [] : [earlier], text("/n"))
                return text("/a")
            }
            let failed = await failure(of: graph, agent)
            #expect(failed?.code == .usage)
            #expect(failed?.failedMember?.name == "A")
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func finishedGraphRefusesSteps() async throws {
        let runs = Collected<StepRun>()
        var graph = StepGraph()
        graph.add("A") { run in
            runs.append(run)
            return ConstantOperation()
        }
        _ = try await agent.send(graph)
        #expect(throws: NetError.self) { try runs.values[0].add("B", ConstantOperation()) }
        runs.removeAll()  // Breaks the cycle: the run holds step A, whose closure holds `runs`.
    }

    @Test(arguments: [true, false])
    func stepReadsItsDependenciesInALargeGraph(isDeep: Bool) async throws {
        var graph = StepGraph()
        let first = graph.add("first", ConstantOperation())
        var keys = [first]
        for number in 0..<2_000 {
            let earlier = isDeep ? ["first", keys[number].name] : []
            keys.append(
                graph.add("\(number)", after: earlier) { run in
                    isDeep ? ConstantOperation(value: try run[first]) : ConstantOperation()
                })
        }
        let readKeys = isDeep ? [] : keys
        let last = graph.add("last", after: keys.map(\.name)) { run in
            ConstantOperation(value: try readKeys.allSatisfy { try run[$0] == "known" } ? "all" : "some")
        }
        #expect(try await agent.send(graph)[last] == "all")
    }
}

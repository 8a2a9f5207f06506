/// A step of a graph and its predecessors.
struct StepNode: Sendable {
    let name: String
    let earlier: [String]
    /// The names in ``earlier`` as a set, for lookups.
    let comesAfter: Set<String>
    let work: @Sendable (ChainStep, StepRun, any RequestSender) async throws(NetError) -> any OperationOutput

    init<Work: SendableOperation>(
        _ name: String, after earlier: [String], _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) {
        self.name = name
        self.earlier = earlier
        comesAfter = Set(earlier)
        work = { (step, run, sender) async throws(NetError) -> any OperationOutput in
            try await Self.outcome(step, through: sender) { try await make(run) }
        }
    }

    private static func outcome<Work: SendableOperation>(
        _ step: ChainStep, through sender: some RequestSender, _ make: () async throws -> Work
    ) async throws(NetError) -> any OperationOutput {
        try await step.run(through: sender, make)
    }
}

/// One run of a graph of steps.
final class GraphWork: Sendable {
    private struct State: Sendable {
        var nodes: [StepNode] = []
        var indices: [String: Int] = [:]
        /// For each step, at its index: the number of predecessors that have not ended, and the indices of its
        /// successors.
        var pendingPredecessors: [Int] = []
        var successors: [[Int]] = []
        /// The steps that may begin.
        var ready: [Int] = []
        var runningCount = 0
        var outcomes: [String: any OperationOutput] = [:]
        var ended: [String] = []
        var failure: NetError?
        var isOver = false

        mutating func append(_ node: StepNode) {
            indices[node.name] = nodes.count
            nodes.append(node)
            pendingPredecessors.append(0)
            successors.append([])
        }

        mutating func connect(_ index: Int) {
            for name in nodes[index].comesAfter where outcomes[name] == nil {
                if let other = indices[name] {
                    pendingPredecessors[index] += 1
                    successors[other].append(index)
                }
            }
            if pendingPredecessors[index] == 0 {
                ready.append(index)
            }
        }

        mutating func end(_ index: Int, _ outcome: any OperationOutput) {
            outcomes[nodes[index].name] = outcome
            ended.append(nodes[index].name)
            for other in successors[index] {
                pendingPredecessors[other] -= 1
                if pendingPredecessors[other] == 0 {
                    ready.append(other)
                }
            }
        }
    }

    private enum Action: Sendable {
        case begin([(index: Int, node: StepNode)])
        case end
    }

    private let state: Lock<State>
    /// A signal that steps may have become ready, or that the run may have ended.
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    /// Creates a run. The steps must have been checked.
    init(_ nodes: [StepNode]) {
        var first = State()
        nodes.forEach { first.append($0) }
        nodes.indices.forEach { first.connect($0) }
        state = Lock(first)
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func run(through sender: some RequestSender) async throws(NetError) -> StepGraphOutcome {
        change.yield()
        await withTaskGroup(of: Void.self) { group in
            // If the Swift task is cancelled, the stream ends immediately. The child tasks are cancelled too.
            for await _ in changes {
                guard case .begin(let ready) = next() else { break }
                for (index, node) in ready {
                    group.addTask { await self.run(node, index, through: sender) }
                }
            }
            group.cancelAll()
        }
        let ended = state.withLock { state in
            state.isOver = true
            return state
        }
        if let failure = ended.failure {
            throw failure
        }
        if ended.ended.count < ended.nodes.count {
            throw NetError(.cancelled, "the task was cancelled")
        }
        return StepGraphOutcome(outcomes: ended.outcomes, names: ended.ended)
    }

    /// Returns the steps that are ready to begin, or `.end` if a step has failed or no step is ready or in flight.
    private func next() -> Action {
        state.withLock { state in
            let ready = state.failure == nil ? state.ready.sorted() : []
            state.ready = []
            state.runningCount += ready.count
            state.isOver = state.failure != nil || state.runningCount == 0
            return state.isOver ? .end : .begin(ready.map { ($0, state.nodes[$0]) })
        }
    }

    private func run(_ node: StepNode, _ index: Int, through sender: some RequestSender) async {
        let result: Result<any OperationOutput, NetError>
        do throws(NetError) {
            let step = ChainStep(index: index, name: node.name)
            result = .success(try await node.work(step, StepRun(name: node.name, work: self), sender))
        } catch {
            result = .failure(error)
        }
        // If the step was cancelled together with the others, its error is not the failure of the graph.
        let isCancelled = Task.isCancelled
        state.withLock { state in
            state.runningCount -= 1
            switch result {
            case .success(let outcome):
                state.end(index, outcome)
            case .failure(let error):
                state.failure = state.failure ?? (isCancelled ? nil : error)
            }
        }
        change.yield()
    }

    // MARK: Functions that running steps call

    func add(_ node: StepNode) throws(NetError) {
        let fault: String? = state.withLock { state in
            if state.isOver {
                return "the graph has ended and cannot add step \"\(node.name)\""
            }
            if state.indices[node.name] != nil {
                return "two steps have the name \"\(node.name)\""
            }
            if let unknown = node.earlier.first(where: { state.indices[$0] == nil }) {
                return "step \"\(node.name)\" depends on \"\(unknown)\", which is not a step"
            }
            state.append(node)
            state.connect(state.nodes.count - 1)
            return nil
        }
        if let fault {
            throw NetError(.usage, fault)
        }
        change.yield()
    }

    /// Returns the outcome of a step. Returns `nil` if the step `later` does not depend on it, directly or indirectly.
    func outcome(of name: String, before later: String) -> (any OperationOutput)? {
        state.withLock { state in
            guard let step = state.indices[later].map({ state.nodes[$0] }) else { return nil }
            // The usual case is checked first, because the search below is slow in a large graph.
            if step.comesAfter.contains(name) {
                return state.outcomes[name]
            }
            var seen: Set<String> = []
            var remaining = step.earlier
            while let earlier = remaining.popLast() {
                if earlier == name {
                    return state.outcomes[name]
                }
                if seen.insert(earlier).inserted, let index = state.indices[earlier] {
                    remaining += state.nodes[index].earlier
                }
            }
            return nil
        }
    }
}

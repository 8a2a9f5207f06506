/// A step of a graph and its predecessors.
struct StepNode: Sendable {
    let name: String
    let earlier: [String]
    /// ``earlier`` as a set, for lookups.
    let comesAfter: Set<String>
    let work: @Sendable (ChainStep, StepRun, any RequestSender) async throws(NetError) -> any ErrandOutcome

    init<Work: Errand>(
        _ name: String, after earlier: [String], _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) {
        self.name = name
        self.earlier = earlier
        comesAfter = Set(earlier)
        work = { (step, run, sender) async throws(NetError) -> any ErrandOutcome in
            try await Self.outcome(step, through: sender) { try await make(run) }
        }
    }

    private static func outcome<Work: Errand>(
        _ step: ChainStep, through sender: some RequestSender, _ make: () async throws -> Work
    ) async throws(NetError) -> any ErrandOutcome {
        try await step.run(through: sender, make)
    }
}

/// One run of a graph of steps.
final class GraphWork: Sendable {
    private struct State: Sendable {
        var nodes: [StepNode] = []
        var places: [String: Int] = [:]
        /// By the step's index: the number of predecessors that have not ended, and the successors.
        var missing: [Int] = []
        var later: [[Int]] = []
        /// The steps that may begin.
        var ready: [Int] = []
        var underWay = 0
        var outcomes: [String: any ErrandOutcome] = [:]
        var ended: [String] = []
        var failure: NetError?
        var isOver = false

        mutating func append(_ node: StepNode) {
            places[node.name] = nodes.count
            nodes.append(node)
            missing.append(0)
            later.append([])
        }

        mutating func connect(_ place: Int) {
            for name in nodes[place].comesAfter where outcomes[name] == nil {
                if let other = places[name] {
                    missing[place] += 1
                    later[other].append(place)
                }
            }
            if missing[place] == 0 {
                ready.append(place)
            }
        }

        mutating func end(_ place: Int, _ outcome: any ErrandOutcome) {
            outcomes[nodes[place].name] = outcome
            ended.append(nodes[place].name)
            for other in later[place] {
                missing[other] -= 1
                if missing[other] == 0 {
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
    /// Receives an element when a step may have become ready.
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    /// Creates a run of steps that were checked.
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
            // The stream ends immediately when the Swift task is cancelled; the child tasks are cancelled too.
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

    /// Returns the steps that are ready, or the end if none is ready and none is in flight.
    private func next() -> Action {
        state.withLock { state in
            let ready = state.failure == nil ? state.ready.sorted() : []
            state.ready = []
            state.underWay += ready.count
            state.isOver = state.failure != nil || state.underWay == 0
            return state.isOver ? .end : .begin(ready.map { ($0, state.nodes[$0]) })
        }
    }

    private func run(_ node: StepNode, _ index: Int, through sender: some RequestSender) async {
        let result: Result<any ErrandOutcome, NetError>
        do throws(NetError) {
            let step = ChainStep(index: index, name: node.name)
            result = .success(try await node.work(step, StepRun(name: node.name, work: self), sender))
        } catch {
            result = .failure(error)
        }
        // A step that was cancelled with the others has no error of its own.
        let isCancelled = Task.isCancelled
        state.withLock { state in
            state.underWay -= 1
            switch result {
            case .success(let outcome):
                state.end(index, outcome)
            case .failure(let error):
                state.failure = state.failure ?? (isCancelled ? nil : error)
            }
        }
        change.yield()
    }

    // MARK: Used by steps

    func add(_ node: StepNode) throws(NetError) {
        let fault: String? = state.withLock { state in
            if state.isOver {
                return "the graph is over, and takes no step \"\(node.name)\""
            }
            if state.places[node.name] != nil {
                return "two steps are called \"\(node.name)\""
            }
            if let unknown = node.earlier.first(where: { state.places[$0] == nil }) {
                return "step \"\(node.name)\" comes after \"\(unknown)\", which is no step"
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

    /// Returns the outcome of a step if `later` depends on it.
    func outcome(of name: String, before later: String) -> (any ErrandOutcome)? {
        state.withLock { state in
            guard let step = state.places[later].map({ state.nodes[$0] }) else { return nil }
            // The usual case; a search through the predecessors of a large graph is slow.
            if step.comesAfter.contains(name) {
                return state.outcomes[name]
            }
            var seen: Set<String> = []
            var rest = step.earlier
            while let earlier = rest.popLast() {
                if earlier == name {
                    return state.outcomes[name]
                }
                if seen.insert(earlier).inserted, let place = state.places[earlier] {
                    rest += state.nodes[place].earlier
                }
            }
            return nil
        }
    }
}

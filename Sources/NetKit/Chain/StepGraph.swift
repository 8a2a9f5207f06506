/// Named steps that depend on each other. A step begins when all its predecessors have ended, and steps without a
/// dependency between them run concurrently.
///
///     var graph = StepGraph()
///     let user = graph.add("user", login)
///     let posts = graph.add("posts", after: ["user"]) { run in Request<[Post]>("posts/\(try run[user].id)") }
///     let friends = graph.add("friends", after: ["user"]) { run in Request<[User]>("friends/\(try run[user].id)") }
///     graph.add("page", after: ["posts", "friends"]) { run in page(try run[posts], try run[friends]) }
///     let outcome = try await agent.send(graph)
///     print(try outcome[posts].count)
///
/// A running step can add further steps (`run.add`).
///
/// The first failure cancels the steps in flight, and no further step begins. The graph throws its error, and
/// ``NetError/failedMember`` contains the index and the name of the failed step.
///
/// A graph with a cycle, a duplicate name or an unknown name throws before anything is sent. A graph without steps
/// succeeds.
public struct StepGraph: SendableOperation, ComposedOperation {
    private(set) var nodes: [StepNode] = []
    /// A number that the app chooses for the graph. It is 0 by default.
    public var tag = 0
    /// Values that the app chooses for the request tasks of the graph.
    public var userInfo: [String: any Sendable] = [:]
    /// The listeners of the request tasks of the graph.
    public var listeners: [any TaskListener] = []

    /// Creates a graph without steps.
    public init() {}

    /// Adds a step that is created when all its predecessors have ended.
    ///
    /// - Parameters:
    ///   - name: the step's name, which must be unique in the graph.
    ///   - earlier: the names of the step's predecessors, which may be added later.
    ///   - make: creates the step from the values of its predecessors. If it throws, the step fails with that error.
    @discardableResult
    public mutating func add<Work: SendableOperation>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) -> StepKey<Work.Outcome.Value> {
        nodes.append(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that does not use the values of other steps.
    @discardableResult
    public mutating func add<Work: SendableOperation>(
        _ name: String, after earlier: [String] = [], _ operation: Work
    ) -> StepKey<Work.Outcome.Value> {
        add(name, after: earlier) { _ in operation }
    }

    /// Throws ``NetError/Code/usage`` if the graph has a cycle, a duplicate name or an unknown predecessor.
    public func check() throws(NetError) {
        var indices: [String: Int] = [:]
        for (index, node) in nodes.enumerated() where indices.updateValue(index, forKey: node.name) != nil {
            throw NetError(.usage, "two steps have the name \"\(node.name)\"")
        }
        for node in nodes {
            if let unknown = node.earlier.first(where: { indices[$0] == nil }) {
                throw NetError(.usage, "step \"\(node.name)\" depends on \"\(unknown)\", which is not a step")
            }
        }
        if let cycle = cycle(indices) {
            let names = cycle.map { "\"\($0)\"" }.joined(separator: " after ")
            throw NetError(.usage, "steps depend on each other in a cycle: \(names)")
        }
    }

    /// Returns the names of a cycle, or `nil` if there is none. Each step depends on the next one, and the last name is
    /// the same as the first.
    private func cycle(_ indices: [String: Int]) -> [String]? {
        var pendingCounts = nodes.map(\.comesAfter.count)
        var successors: [[Int]] = Array(repeating: [], count: nodes.count)
        for (index, node) in nodes.enumerated() {
            for name in node.comesAfter {
                if let other = indices[name] {
                    successors[other].append(index)
                }
            }
        }
        var ready = nodes.indices.filter { pendingCounts[$0] == 0 }
        while let index = ready.popLast() {
            for other in successors[index] {
                pendingCounts[other] -= 1
                if pendingCounts[other] == 0 {
                    ready.append(other)
                }
            }
        }
        // Each step that still waits has a predecessor that still waits. Following these predecessors leads to a cycle.
        guard var index = pendingCounts.firstIndex(where: { $0 > 0 }) else { return nil }
        var path: [Int] = []
        while !path.contains(index) {
            path.append(index)
            index = nodes[index].earlier.compactMap { indices[$0] }.first { pendingCounts[$0] > 0 } ?? index
        }
        return (path.drop { $0 != index } + [index]).map { nodes[$0].name }
    }

    var kind: RequestTask.Kind { .chain }

    /// Runs all steps.
    public func run(through sender: some RequestSender) async throws(NetError) -> StepGraphOutcome {
        try check()
        return try await GraphWork(nodes).run(through: sender)
    }
}

/// Identifies a step of a ``StepGraph`` and gives access to its value.
public struct StepKey<Value: Sendable>: Sendable, Hashable {
    /// The step's name. Successors use it to name their predecessors.
    public let name: String

    /// Creates the key of a step that is added elsewhere.
    public init(_ name: String) {
        self.name = name
    }
}

/// The outcome of a graph whose steps all succeeded.
public struct StepGraphOutcome: OperationOutput {
    let outcomes: [String: any OperationOutput]
    /// The names of the steps, in the order in which they ended.
    public let names: [String]

    /// The value of a step.
    ///
    /// Throws ``NetError/Code/usage`` if the graph has no such step, or if its value has another type.
    public subscript<Value>(step: StepKey<Value>) -> Value {
        get throws(NetError) { try step.value(in: outcomes) }
    }

    /// The outcome itself. Use a ``StepKey`` to read the value of a step.
    public var value: StepGraphOutcome { self }
    /// Whether the outcomes of all steps came from a cache.
    public var isFromCache: Bool { outcomes.values.allSatisfy(\.isFromCache) }
}

extension StepKey {
    /// Returns the value of this step.
    func value(in outcomes: [String: any OperationOutput]) throws(NetError) -> Value {
        guard let outcome = outcomes[name] else {
            throw NetError(.usage, "no step has the name \"\(name)\"")
        }
        guard let value = outcome.value as? Value else {
            throw NetError(.usage, "the value of step \"\(name)\" is not of type \(Value.self)")
        }
        return value
    }
}

/// A running graph, as one of its steps sees it: gives access to values of predecessors, and adds further steps.
public struct StepRun: Sendable {
    /// The name of the step that received this value.
    public let name: String
    let work: GraphWork

    /// The value of a direct or indirect predecessor of this step.
    ///
    /// Throws ``NetError/Code/usage`` for other steps, because they may not have ended.
    public subscript<Value>(step: StepKey<Value>) -> Value {
        get throws(NetError) {
            guard let outcome = work.outcome(of: step.name, before: name) else {
                throw NetError(.usage, "step \"\(name)\" does not depend on \"\(step.name)\"")
            }
            return try step.value(in: [step.name: outcome])
        }
    }

    /// Adds a step to the running graph. It may depend on any existing step, including this one.
    ///
    /// Throws ``NetError/Code/usage`` for a duplicate name or an unknown predecessor, and if the graph has ended.
    @discardableResult
    public func add<Work: SendableOperation>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try work.add(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that does not use the values of other steps.
    @discardableResult
    public func add<Work: SendableOperation>(
        _ name: String, after earlier: [String] = [], _ operation: Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try add(name, after: earlier) { _ in operation }
    }
}

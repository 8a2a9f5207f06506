/// Named steps that depend on each other. Steps whose predecessors have ended run concurrently.
///
///     var graph = StepGraph()
///     let user = graph.add("user", login)
///     let posts = graph.add("posts", after: ["user"]) { run in Request<[Post]>("posts/\(try run[user].id)") }
///     let friends = graph.add("friends", after: ["user"]) { run in Request<[User]>("friends/\(try run[user].id)") }
///     graph.add("page", after: ["posts", "friends"]) { run in page(try run[posts], try run[friends]) }
///     let outcome = try await agent.send(graph)
///     print(try outcome[posts].count)
///
/// A step can add others while it runs (`run.add`), so it can choose its successors. The first failure cancels the
/// steps in flight, and no further step begins. Its error is thrown, with the step's name in ``NetError/failedPart``.
///
/// Cycles, duplicate names and unknown names are errors before anything is sent. A graph without steps succeeds.
public struct StepGraph: Errand, ComposedErrand {
    private(set) var nodes: [StepNode] = []
    /// The caller's number for it. It is 0 by default.
    public var tag = 0
    /// The caller's values for its tasks.
    public var userInfo: [String: any Sendable] = [:]
    /// The accessories of its tasks.
    public var accessories: [any Accessory] = []

    /// Creates a graph without steps.
    public init() {}

    /// Adds a step that is created when all its predecessors have ended.
    ///
    /// - Parameters:
    ///   - name: a unique name.
    ///   - earlier: the names of its predecessors, which may be added later.
    ///   - make: creates the step from their values. An error thrown here fails the step.
    @discardableResult
    public mutating func add<Work: Errand>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) -> StepKey<Work.Outcome.Value> {
        nodes.append(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that needs no values of other steps.
    @discardableResult
    public mutating func add<Work: Errand>(
        _ name: String, after earlier: [String] = [], _ errand: Work
    ) -> StepKey<Work.Outcome.Value> {
        add(name, after: earlier) { _ in errand }
    }

    /// Checks the graph.
    ///
    /// Throws ``NetError/Code/usage`` for a cycle, a duplicate name or an unknown predecessor.
    public func check() throws(NetError) {
        var places: [String: Int] = [:]
        for (place, node) in nodes.enumerated() where places.updateValue(place, forKey: node.name) != nil {
            throw NetError(.usage, "two steps are called \"\(node.name)\"")
        }
        for node in nodes {
            if let unknown = node.earlier.first(where: { places[$0] == nil }) {
                throw NetError(.usage, "step \"\(node.name)\" comes after \"\(unknown)\", which is no step")
            }
        }
        if let circle = circle(places) {
            let names = circle.map { "\"\($0)\"" }.joined(separator: " after ")
            throw NetError(.usage, "steps wait for each other: \(names)")
        }
    }

    /// Returns a cycle of names. Each depends on the next, and the last equals the first.
    private func circle(_ places: [String: Int]) -> [String]? {
        var waits = nodes.map(\.comesAfter.count)
        var later: [[Int]] = Array(repeating: [], count: nodes.count)
        for (place, node) in nodes.enumerated() {
            for name in node.comesAfter {
                if let other = places[name] {
                    later[other].append(place)
                }
            }
        }
        var ready = nodes.indices.filter { waits[$0] == 0 }
        while let place = ready.popLast() {
            for other in later[place] {
                waits[other] -= 1
                if waits[other] == 0 {
                    ready.append(other)
                }
            }
        }
        // Each step that still waits has a predecessor that still waits, so following them ends in a cycle.
        guard var place = waits.firstIndex(where: { $0 > 0 }) else { return nil }
        var path: [Int] = []
        while !path.contains(place) {
            path.append(place)
            place = nodes[place].earlier.compactMap { places[$0] }.first { waits[$0] > 0 } ?? place
        }
        return (path.drop { $0 != place } + [place]).map { nodes[$0].name }
    }

    var kind: Run.Kind { .chain }

    /// Runs all steps.
    public func run(through sender: some RequestSender) async throws(NetError) -> StepGraphOutcome {
        try check()
        return try await GraphWork(nodes).run(through: sender)
    }
}

/// A step of a ``StepGraph``, used as the key to its value.
public struct StepKey<Value: Sendable>: Sendable, Hashable {
    /// The step's name, for its successors.
    public let name: String

    /// Creates the key of a step that other code adds.
    public init(_ name: String) {
        self.name = name
    }
}

/// The outcome of a graph whose steps all succeeded.
public struct StepGraphOutcome: ErrandOutcome {
    let outcomes: [String: any ErrandOutcome]
    /// The names of the steps, in the order in which they ended.
    public let names: [String]

    /// The value of a step.
    ///
    /// Throws ``NetError/Code/usage`` for a step of another graph.
    public subscript<Value>(step: StepKey<Value>) -> Value {
        get throws(NetError) { try step.value(in: outcomes) }
    }

    /// The outcome itself: a step's value is read with its key.
    public var value: StepGraphOutcome { self }
    /// Whether all steps came from a cache.
    public var isFromCache: Bool { outcomes.values.allSatisfy(\.isFromCache) }
}

extension StepKey {
    /// Returns the value of this step.
    func value(in outcomes: [String: any ErrandOutcome]) throws(NetError) -> Value {
        guard let outcome = outcomes[name] else {
            throw NetError(.usage, "there is no step \"\(name)\"")
        }
        guard let value = outcome.value as? Value else {
            throw NetError(.usage, "step \"\(name)\" has another value than \(Value.self)")
        }
        return value
    }
}

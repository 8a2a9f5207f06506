/// Steps with names, each of which may come after others; those that are ready run at once.
///
///     var graph = StepGraph()
///     let user = graph.add("user", login)
///     let posts = graph.add("posts", after: ["user"]) { run in Request<[Post]>("posts/\(try run[user].id)") }
///     let friends = graph.add("friends", after: ["user"]) { run in Request<[User]>("friends/\(try run[user].id)") }
///     graph.add("page", after: ["posts", "friends"]) { run in page(try run[posts], try run[friends]) }
///     let outcome = try await agent.send(graph)
///     print(try outcome[posts].count)
///
/// A step may add others while it runs (`run.add`), so it can choose what comes after it.
/// The first failure cancels what is under way, nothing more begins, and the error is that step's, with its name in
/// ``NetError/failedPart``. Steps that wait for each other, names that occur twice and names that nothing has are errors
/// before anything is sent. A graph without steps succeeds.
public struct StepGraph: Errand, ComposedErrand {
    private(set) var nodes: [StepNode] = []
    /// A number of the caller's; 0 says nothing.
    public var tag = 0
    /// Whatever the caller wants to find again with its starts.
    public var userInfo: [String: any Sendable] = [:]
    /// Who accompanies its starts.
    public var accessories: [any Accessory] = []

    /// A graph without steps.
    public init() {}

    /// Adds a step that is made when all those before it have ended.
    ///
    /// - Parameters:
    ///   - name: its own; no other step has it.
    ///   - earlier: the names of the steps that it comes after; they may be added later.
    ///   - make: gets their values; what it throws fails the step.
    @discardableResult
    public mutating func add<Work: Errand>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) -> StepKey<Work.Outcome.Value> {
        nodes.append(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that needs no values of others.
    @discardableResult
    public mutating func add<Work: Errand>(
        _ name: String, after earlier: [String] = [], _ errand: Work
    ) -> StepKey<Work.Outcome.Value> {
        add(name, after: earlier) { _ in errand }
    }

    /// Throws ``NetError/Code/usage`` when steps wait for each other, a name occurs twice, or a step comes after one that
    /// is not there.
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

    /// Names, each of which comes after the next one; the last is the first again.
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
        // Whatever still waits comes after something that still waits: going back from there ends in a circle.
        guard var place = waits.firstIndex(where: { $0 > 0 }) else { return nil }
        var path: [Int] = []
        while !path.contains(place) {
            path.append(place)
            place = nodes[place].earlier.compactMap { places[$0] }.first { waits[$0] > 0 } ?? place
        }
        return (path.drop { $0 != place } + [place]).map { nodes[$0].name }
    }

    var kind: Run.Kind { .chain }

    /// Does it all.
    public func run(through sender: some RequestSender) async throws(NetError) -> StepGraphOutcome {
        try check()
        return try await GraphWork(nodes).run(through: sender)
    }
}

/// A step of a ``StepGraph``: the key to its value.
public struct StepKey<Value: Sendable>: Sendable, Hashable {
    /// Its name, for steps that come after it.
    public let name: String

    /// The key to a step that something else adds.
    public init(_ name: String) {
        self.name = name
    }
}

/// What came of a graph whose steps all went well.
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

    /// Itself: a step's value is asked for by the step.
    public var value: StepGraphOutcome { self }
    /// Whether all came from a cache.
    public var isFromCache: Bool { outcomes.values.allSatisfy(\.isFromCache) }
}

extension StepKey {
    /// Its value among these.
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

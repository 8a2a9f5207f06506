/// A running graph, from the view of one of its steps.
public struct StepRun: Sendable {
    /// The step's name.
    public let name: String
    let work: GraphWork

    /// The value of a direct or indirect predecessor.
    ///
    /// Throws ``NetError/Code/usage`` for any other step, because it may not have ended.
    public subscript<Value>(step: StepKey<Value>) -> Value {
        get throws(NetError) {
            guard let outcome = work.outcome(of: step.name, before: name) else {
                throw NetError(.usage, "step \"\(name)\" does not come after \"\(step.name)\"")
            }
            return try step.value(in: [step.name: outcome])
        }
    }

    /// Adds a step to the running graph. It may depend on any existing step, including this one.
    ///
    /// Throws ``NetError/Code/usage`` for a duplicate name or an unknown predecessor, and if the graph has ended.
    @discardableResult
    public func add<Work: Errand>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try work.add(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that needs no values of other steps.
    @discardableResult
    public func add<Work: Errand>(
        _ name: String, after earlier: [String] = [], _ errand: Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try add(name, after: earlier) { _ in errand }
    }
}

/// A graph under way, as one of its steps sees it.
public struct StepRun: Sendable {
    /// The step's own name.
    public let name: String
    let work: GraphWork

    /// The value of a step that this one comes after, directly or not.
    ///
    /// Throws ``NetError/Code/usage`` for any other step: whether that has ended would be chance.
    public subscript<Value>(step: StepKey<Value>) -> Value {
        get throws(NetError) {
            guard let outcome = work.outcome(of: step.name, before: name) else {
                throw NetError(.usage, "step \"\(name)\" does not come after \"\(step.name)\"")
            }
            return try step.value(in: [step.name: outcome])
        }
    }

    /// Adds a step to the graph under way; it may come after any that is there, this one too.
    ///
    /// Throws ``NetError/Code/usage`` when the name is taken, when one that it comes after is not there, and when the
    /// graph is over.
    @discardableResult
    public func add<Work: Errand>(
        _ name: String, after earlier: [String] = [],
        _ make: @escaping @Sendable (StepRun) async throws -> Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try work.add(StepNode(name, after: earlier, make))
        return StepKey(name)
    }

    /// Adds a step that needs no values of others.
    @discardableResult
    public func add<Work: Errand>(
        _ name: String, after earlier: [String] = [], _ errand: Work
    ) throws(NetError) -> StepKey<Work.Outcome.Value> {
        try add(name, after: earlier) { _ in errand }
    }
}

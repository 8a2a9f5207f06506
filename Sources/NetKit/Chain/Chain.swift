/// Steps that run one after the other. Each step is created from the values of the steps before it.
///
///     let (user, friends) = try await agent.send(
///         Chain(login).then { user in Request<[User]>("users/\(user.id)/friends") }
///     ).values
///
/// The first failure ends the chain. The chain throws its error, and ``NetError/failedMember`` contains the index and
/// the name of the failed step.
///
/// A step can be a request, a batch or another chain. Because a step is created while the chain runs, earlier values
/// can determine it. For steps that depend on several others, use ``StepGraph``.
public struct Chain<Values: Sendable>: SendableOperation, ComposedOperation {
    typealias Work = @Sendable (any RequestSender) async throws(NetError) -> ChainOutcome<Values>

    private let work: Work
    var kind: RequestTask.Kind { .chain }
    /// The number of steps.
    public let count: Int
    /// A number that the app chooses for the chain. It is 0 by default.
    public var tag = 0
    /// Values that the app chooses for the request tasks of the chain.
    public var userInfo: [String: any Sendable] = [:]
    /// The listeners of the request tasks of the chain.
    public var listeners: [any TaskListener] = []

    private init(count: Int, work: @escaping Work) {
        self.count = count
        self.work = work
    }

    /// Creates a chain with its first step.
    ///
    /// - Parameters:
    ///   - first: the first step.
    ///   - name: the step's name in errors.
    public init<First: SendableOperation>(_ first: First, name: String? = nil) where First.Outcome.Value == Values {
        let step = ChainStep(index: 0, name: name)
        self.init(count: 1) { (sender) async throws(NetError) -> ChainOutcome<Values> in
            let outcome = try await Self.run(step, through: sender) { first }
            return ChainOutcome(values: outcome.value, isFromCache: outcome.isFromCache)
        }
    }

    /// Returns the chain with one more step.
    func adding<Next: SendableOperation, All>(
        _ name: String?, _ make: @escaping @Sendable (Values) async throws -> Next,
        _ join: @escaping @Sendable (Values, Next.Outcome.Value) -> All
    ) -> Chain<All> {
        let (earlier, step) = (work, ChainStep(index: count, name: name))
        var chain = Chain<All>(count: count + 1) { (sender) async throws(NetError) -> ChainOutcome<All> in
            let before = try await earlier(sender)
            let outcome = try await Self.run(step, through: sender) { try await make(before.values) }
            return ChainOutcome(
                values: join(before.values, outcome.value), isFromCache: before.isFromCache && outcome.isFromCache)
        }
        chain.tag = tag
        chain.userInfo = userInfo
        chain.listeners = listeners
        return chain
    }

    private static func run<Work: SendableOperation>(
        _ step: ChainStep, through sender: some RequestSender, _ make: () async throws -> Work
    ) async throws(NetError) -> Work.Outcome {
        try await step.run(through: sender, make)
    }

    /// Runs the steps in order.
    public func run(through sender: some RequestSender) async throws(NetError) -> ChainOutcome<Values> {
        try await work(sender)
    }
}

/// The outcome of a chain whose steps all succeeded.
public struct ChainOutcome<Values: Sendable>: OperationOutput {
    /// The values of the steps in order: a tuple, or the value itself if there is only one step.
    public let values: Values
    /// Whether the outcomes of all steps came from a cache.
    public let isFromCache: Bool

    /// The same as ``values``.
    public var value: Values { values }
}

/// The index and the name of a step of a chain or a graph, which errors of the step contain.
struct ChainStep: Sendable {
    let index: Int
    let name: String?

    /// Creates the step's operation and runs it.
    func run<Work: SendableOperation>(
        through sender: some RequestSender, _ make: () async throws -> Work
    ) async throws(NetError) -> Work.Outcome {
        try checkCancellation()
        let operation: Work
        do {
            operation = try await make()
        } catch {
            throw failure(tag: 0, Self.error(from: error))
        }
        do throws(NetError) {
            return try await operation.run(through: sender)
        } catch {
            throw failure(tag: operation.tag, error)
        }
    }

    /// Returns the error of a failed step. If the Swift task was cancelled, the step did not fail, and the error is
    /// that of the cancellation.
    private func failure(tag: Int, _ error: NetError) -> NetError {
        if Task.isCancelled {
            return NetError(.cancelled, "the task was cancelled")
        }
        return NetError("step", FailedMember(index: index, name: name, tag: tag, error: error))
    }

    private static func error(from error: any Error) -> NetError {
        error as? NetError
            ?? NetError(.stoppedByCaller, "the request could not be created: \(error)", underlying: error)
    }
}

/// Throws ``NetError/Code/cancelled`` if the Swift task was cancelled.
func checkCancellation() throws(NetError) {
    if Task.isCancelled {
        throw NetError(.cancelled, "the task was cancelled")
    }
}

// There is one method for each number of values instead of one with a parameter pack. With a pack, the compiler could
// not infer the parameter types of a closure from the preceding closure.

extension Chain {
    /// Returns the chain with one more step, which is created from the value of the preceding step.
    ///
    /// After several steps, a closure with as many parameters receives the values of all steps in order, up to six:
    /// `.then { user, friends in … }`. A closure with one parameter receives them as a tuple. In that case the values
    /// of the new chain are a pair of that tuple and the new value.
    /// - Parameters:
    ///   - name: the step's name in errors.
    ///   - make: creates the step. If it throws, the step fails with that error.
    public func then<Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (Values) async throws -> Next
    ) -> Chain<(Values, Next.Outcome.Value)> {
        adding(name, make) { ($0, $1) }
    }

    /// Returns the chain with one more step, created from the two values before it.
    public func then<A, B, Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B) async throws -> Next
    ) -> Chain<(A, B, Next.Outcome.Value)> where Values == (A, B) {
        adding(name, { try await make($0.0, $0.1) }, { ($0.0, $0.1, $1) })
    }

    /// Returns the chain with one more step, created from the three values before it.
    public func then<A, B, C, Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C) async throws -> Next
    ) -> Chain<(A, B, C, Next.Outcome.Value)> where Values == (A, B, C) {
        adding(name, { try await make($0.0, $0.1, $0.2) }, { ($0.0, $0.1, $0.2, $1) })
    }

    /// Returns the chain with one more step, created from the four values before it.
    public func then<A, B, C, D, Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D) async throws -> Next
    ) -> Chain<(A, B, C, D, Next.Outcome.Value)> where Values == (A, B, C, D) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3) }, { ($0.0, $0.1, $0.2, $0.3, $1) })
    }

    /// Returns the chain with one more step, created from the five values before it.
    public func then<A, B, C, D, E, Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E) async throws -> Next
    ) -> Chain<(A, B, C, D, E, Next.Outcome.Value)> where Values == (A, B, C, D, E) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) })
    }

    /// Returns the chain with one more step, created from the six values before it.
    public func then<A, B, C, D, E, F, Next: SendableOperation>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E, F) async throws -> Next
    ) -> Chain<(A, B, C, D, E, F, Next.Outcome.Value)> where Values == (A, B, C, D, E, F) {
        adding(
            name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $1) })
    }
}

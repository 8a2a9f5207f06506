/// Steps that run one after the other. Each step sees the values of the steps before it.
///
///     let (user, friends) = try await agent.send(
///         Chain(login).then { user in Request<[User]>("users/\(user.id)/friends") }
///     ).values
///
/// The first failure ends the chain. Its error is thrown, with the step's index and name in ``NetError/failedPart``. A
/// step can be a batch, or another chain that is created while this one runs: `.then { user in Chain(a).then { … } }`.
/// For steps that depend on several others, use ``StepGraph``.
public struct Chain<Values: Sendable>: Errand, ComposedErrand {
    typealias Work = @Sendable (any RequestSender) async throws(NetError) -> ChainOutcome<Values>

    private let work: Work
    var kind: Run.Kind { .chain }
    /// The number of steps.
    public let count: Int
    /// The caller's number for it. It is 0 by default.
    public var tag = 0
    /// The caller's values for its tasks.
    public var userInfo: [String: any Sendable] = [:]
    /// The accessories of its tasks.
    public var accessories: [any Accessory] = []

    private init(count: Int, work: @escaping Work) {
        self.count = count
        self.work = work
    }

    /// Creates a chain with its first step.
    ///
    /// - Parameters:
    ///   - first: the first step.
    ///   - name: the step's name in an error.
    public init<First: Errand>(_ first: First, name: String? = nil) where First.Outcome.Value == Values {
        let step = ChainStep(index: 0, name: name)
        self.init(count: 1) { (sender) async throws(NetError) -> ChainOutcome<Values> in
            let outcome = try await Self.run(step, through: sender) { first }
            return ChainOutcome(values: outcome.value, isFromCache: outcome.isFromCache)
        }
    }

    /// Returns the chain with one more step.
    func adding<Next: Errand, All>(
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
        chain.accessories = accessories
        return chain
    }

    private static func run<Work: Errand>(
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
public struct ChainOutcome<Values: Sendable>: ErrandOutcome {
    /// The values of the steps in order: a tuple, or a single step's value.
    public let values: Values
    /// Whether all of it came from a cache.
    public let isFromCache: Bool

    /// ``values``.
    public var value: Values { values }
}

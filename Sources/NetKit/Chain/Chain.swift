/// Errands one after the other, each of which sees the values before it.
///
///     let (user, friends) = try await agent.send(
///         Chain(login).then { user in Request<[User]>("users/\(user.id)/friends") }
///     ).values
///
/// The first failure ends it: the error is that step's, with its place and its name in ``NetError/failedPart``, and
/// nothing after it is sent. A step may be a batch, or a chain that is made while it runs, as long as it likes:
/// `.then { user in Chain(a).then { … } }`. Where steps depend on several others see ``StepGraph``.
public struct Chain<Values: Sendable>: Errand, ComposedErrand {
    typealias Work = @Sendable (any RequestSender) async throws(NetError) -> ChainOutcome<Values>

    private let work: Work
    var kind: Run.Kind { .chain }
    /// The number of steps.
    public let count: Int
    /// A number of the caller's; 0 says nothing.
    public var tag = 0
    /// Whatever the caller wants to find again with its starts.
    public var userInfo: [String: any Sendable] = [:]
    /// Who accompanies its starts.
    public var accessories: [any Accessory] = []

    private init(count: Int, work: @escaping Work) {
        self.count = count
        self.work = work
    }

    /// The first step.
    ///
    /// - Parameters:
    ///   - first: what is done first.
    ///   - name: what a failure calls it.
    public init<First: Errand>(_ first: First, name: String? = nil) where First.Outcome.Value == Values {
        let step = ChainStep(index: 0, name: name)
        self.init(count: 1) { (sender) async throws(NetError) -> ChainOutcome<Values> in
            let outcome = try await Self.run(step, through: sender) { first }
            return ChainOutcome(values: outcome.value, isFromCache: outcome.isFromCache)
        }
    }

    /// The chain with one more step.
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

    /// Does one step after the other.
    public func run(through sender: some RequestSender) async throws(NetError) -> ChainOutcome<Values> {
        try await work(sender)
    }
}

/// What came of a chain whose steps all went well.
public struct ChainOutcome<Values: Sendable>: ErrandOutcome {
    /// The value of each step, in order: a tuple, or of one step its value.
    public let values: Values
    /// Whether all of it came from a cache.
    public let isFromCache: Bool

    /// ``values``.
    public var value: Values { values }
}

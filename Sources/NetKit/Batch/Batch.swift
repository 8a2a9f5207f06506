/// Requests and other work that succeed together or fail with the first failure.
///
///     let (user, cities) = try await agent.send(Batch(user, cities)).values
///     let pages = try await agent.send(Batch((1...9).map(page)).limited(to: 3)).values
///
/// The first failure cancels the remaining members. Its error is thrown, with the member's index and tag in
/// ``NetError/failedPart``. ``collectingAll`` continues and keeps each result. An empty batch succeeds. Members keep
/// their own observers, interceptors and limits. A batch can be a member of another one, or a step of a chain.
public struct Batch<Members: BatchMembers>: Errand, ComposedErrand {
    /// The number of members in flight.
    public enum Concurrency: Sendable, Hashable {
        /// Limited only by the agent.
        case unlimited
        /// At most this number, at least 1, begun in order. A ``PreparedCall`` begins after those that it waits for.
        case limited(Int)

        /// One after the other, in order.
        public static var serial: Concurrency { .limited(1) }
    }

    let members: Members
    /// The largest number of members in flight.
    public var concurrency = Concurrency.unlimited
    /// The caller's number for it. It is 0 by default.
    public var tag = 0
    /// The caller's values for its tasks.
    public var userInfo: [String: any Sendable] = [:]
    /// The accessories of its tasks.
    public var accessories: [any Accessory] = []
    /// Receives the progress before the first member, after each member and at the end. Called one at a time, in order,
    /// on the Swift task that runs the batch.
    public var progress: (@Sendable (BatchProgress) -> Void)?

    /// Creates a batch of members of different types.
    public init<each Member: Errand>(_ members: repeat each Member)
    where Members == MemberTuple<repeat each Member> {
        self.members = MemberTuple(repeat each members)
    }

    /// Creates a batch of members of one type.
    public init<Member: Errand>(_ members: [Member]) where Members == MemberArray<Member> {
        self.members = MemberArray(members)
    }

    var kind: Run.Kind { .batch }
    var partCount: Int { count }

    /// The number of members.
    public var count: Int { members.count }

    /// Returns the batch with at most this number of members in flight; 1 sends one after the other.
    public func limited(to count: Int) -> Self {
        var batch = self
        batch.concurrency = .limited(count)
        return batch
    }

    /// The same members, each with its own result.
    public var collectingAll: CollectingBatch<Members> { CollectingBatch(batch: self) }

    /// Runs all members.
    ///
    /// Throws the first failure, after the remaining members have ended. Throws ``NetError/Code/cancelled``, without a
    /// failed part, if the Swift task was cancelled.
    public func run(through sender: some RequestSender) async throws(NetError) -> BatchOutcome<Members> {
        let run = members.run(through: sender)
        if let failed = try await works(of: run, endsWithFailure: true).run().first {
            throw NetError("member", failed)
        }
        return BatchOutcome(outcomes: try run.outcomes())
    }

    func works(of run: BatchRun<Members>, endsWithFailure: Bool) -> Works {
        let tags = members.tags
        // A member that waits for another occupies a slot, so the other must come first or it could never begin.
        let order = concurrency.limit < tags.count ? Waits.order(of: run.waiting()) : Array(tags.indices)
        return Works(
            work: run.work, tags: tags, order: order, limit: concurrency.limit, endsWithFailure: endsWithFailure,
            progress: progress)
    }
}

extension Batch.Concurrency {
    fileprivate var limit: Int {
        switch self {
        case .unlimited: .max
        case .limited(let count): max(1, count)
        }
    }
}

/// The outcome of a batch whose members all succeeded.
public struct BatchOutcome<Members: BatchMembers>: ErrandOutcome {
    /// The outcome of each member in order; for a request its ``Response``.
    public let outcomes: Members.Outcomes

    /// The value of each member, in order.
    public var values: Members.Values { Members.values(of: outcomes) }
    /// ``values``.
    public var value: Members.Values { values }
    /// Whether all members came from a cache.
    public var isFromCache: Bool { Members.areFromCache(outcomes) }
}

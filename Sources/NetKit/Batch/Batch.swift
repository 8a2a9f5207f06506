/// Errands that belong together: all of them, or the first failure.
///
///     let (user, cities) = try await agent.send(Batch(user, cities)).values
///     let pages = try await agent.send(Batch((1...9).map(page)).limited(to: 3)).values
///
/// With the first failure the rest is cancelled, and the error is that one's, with its place and its tag in
/// ``NetError/failedPart``; ``collectingAll`` goes on and keeps each result. An empty batch succeeds. Members are sent as
/// by themselves: their own observers, interceptors and limits count. A batch can be a member, or a step of a chain.
public struct Batch<Members: BatchMembers>: Errand, ComposedErrand {
    /// How many members are under way at once.
    public enum Concurrency: Sendable, Hashable {
        /// As many as the agent lets.
        case unlimited
        /// At most so many, begun in order, but each ``PreparedCall`` behind those that it comes after; less than 1 counts
        /// as 1.
        case limited(Int)

        /// One after the other, in order.
        public static var serial: Concurrency { .limited(1) }
    }

    let members: Members
    /// How many members are under way at once.
    public var concurrency = Concurrency.unlimited
    /// A number of the caller's; 0 says nothing.
    public var tag = 0
    /// Whatever the caller wants to find again with its starts.
    public var userInfo: [String: any Sendable] = [:]
    /// Who accompanies its starts.
    public var accessories: [any Accessory] = []
    /// Hears how far it is: before the first member, after each one, and a last word. One call at a time, in order, on
    /// the task that runs the batch.
    public var progress: (@Sendable (BatchProgress) -> Void)?

    /// Errands of any kind.
    public init<each Member: Errand>(_ members: repeat each Member)
    where Members == MemberTuple<repeat each Member> {
        self.members = MemberTuple(repeat each members)
    }

    /// Errands of one kind.
    public init<Member: Errand>(_ members: [Member]) where Members == MemberArray<Member> {
        self.members = MemberArray(members)
    }

    var kind: Run.Kind { .batch }
    var partCount: Int { count }

    /// The number of members.
    public var count: Int { members.count }

    /// The same batch, with at most so many members under way at once; 1 sends one after the other.
    public func limited(to count: Int) -> Self {
        var batch = self
        batch.concurrency = .limited(count)
        return batch
    }

    /// The same members, each of which ends as it ends.
    public var collectingAll: CollectingBatch<Members> { CollectingBatch(batch: self) }

    /// Does it all.
    ///
    /// Throws the first failure, when the rest has ended, too; ``NetError/Code/cancelled``, which names no member, when
    /// the task was cancelled.
    public func run(through sender: some RequestSender) async throws(NetError) -> BatchOutcome<Members> {
        let run = members.run(through: sender)
        if let failed = try await works(of: run, endsWithFailure: true).run().first {
            throw NetError("member", failed)
        }
        return BatchOutcome(outcomes: try run.outcomes())
    }

    func works(of run: BatchRun<Members>, endsWithFailure: Bool) -> Works {
        let tags = members.tags
        // One that waits for another has a place in the row, and that one may not have to wait for it.
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

/// What came of a batch whose members all went well.
public struct BatchOutcome<Members: BatchMembers>: ErrandOutcome {
    /// What came of each, in order: for a request its ``Response``.
    public let outcomes: Members.Outcomes

    /// The value of each, in order.
    public var values: Members.Values { Members.values(of: outcomes) }
    /// ``values``.
    public var value: Members.Values { values }
    /// Whether every one came from a cache.
    public var isFromCache: Bool { Members.areFromCache(outcomes) }
}

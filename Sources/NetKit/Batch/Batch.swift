/// Requests and other operations that run together. The batch succeeds if all members succeed, and fails with the first
/// failure.
///
///     let (user, cities) = try await agent.send(Batch(user, cities)).values
///     let pages = try await agent.send(Batch((1...9).map(page)).limited(to: 3)).values
///
/// The first failure cancels the remaining members. The batch throws its error, and ``NetError/failedMember`` contains
/// the index and the tag of the failed member. To continue after a failure and keep each result, use ``collectingAll``.
///
/// Each member has its own observers, interceptors and limits. A batch can be a member of another batch or a step of a
/// chain. An empty batch succeeds.
public struct Batch<Members: BatchMembers>: SendableOperation, ComposedOperation {
    let members: MemberOperations<Members>
    private var limit = Int.max
    /// A number that the app chooses for the batch. It is 0 by default.
    public var tag = 0
    /// Values that the app chooses for the request tasks of the batch.
    public var userInfo: [String: any Sendable] = [:]
    /// The listeners of the request tasks of the batch.
    public var listeners: [any TaskListener] = []
    /// Receives the progress before the first member, after each member and at the end. It is called on the Swift task
    /// that runs the batch, in order and never concurrently.
    public var progress: (@Sendable (BatchProgress) -> Void)?

    /// Creates a batch of members of different types.
    public init<each Member: SendableOperation>(_ members: repeat each Member)
    where Members == MemberTuple<repeat each Member> {
        self.members = MemberOperations(MemberTuple(repeat each members))
    }

    /// Creates a batch of members of one type.
    public init<Member: SendableOperation>(_ members: [Member]) where Members == MemberArray<Member> {
        self.members = MemberOperations(MemberArray(members))
    }

    var kind: RequestTask.Kind { .batch }
    var partCount: Int { count }

    var count: Int { members.count }

    /// Returns the batch with at most this number of members in flight. Otherwise only the agent limits them.
    ///
    /// The members begin in order, but a ``PreparedCall`` begins after the members that it waits for. With 1, they run one
    /// after the other.
    public func limited(to count: Int) -> Self {
        var batch = self
        batch.limit = max(1, count)
        return batch
    }

    /// A batch with the same members that continues after a failure, and keeps the result of each member.
    ///
    ///     let outcome = try await agent.send(Batch(user, cities).collectingAll)
    ///     let (user, cities) = outcome.results
    ///     for part in outcome.failures { print(part.index, part.tag, part.error) }
    ///
    /// It throws only if the Swift task was cancelled, with ``NetError/Code/cancelled``.
    public var collectingAll: some SendableOperation<CollectedOutcome<Members>> { CollectingBatch(batch: self) }

    /// Runs all members.
    ///
    /// Throws the first failure, after the remaining members have ended. If the Swift task was cancelled, throws
    /// ``NetError/Code/cancelled`` without a ``NetError/failedMember``.
    public func run(through sender: some RequestSender) async throws(NetError) -> BatchOutcome<Members> {
        let run = members.begin(sender)
        if let failed = try await operations(of: run, endsWithFailure: true).run().first {
            throw NetError("member", failed)
        }
        let outcomes = try run.outcomes()
        return BatchOutcome(
            outcomes: outcomes, values: members.values(outcomes), isFromCache: members.areFromCache(outcomes))
    }

    func operations(of run: BatchRun<Members>, endsWithFailure: Bool) -> BatchOperations {
        let tags = members.tags()
        // A member that waits for another one counts as in flight. So the other one must begin first: it might never
        // begin otherwise.
        let order = limit < tags.count ? Waits.order(of: run.waiting()) : Array(tags.indices)
        return BatchOperations(
            work: run.work, tags: tags, order: order, limit: limit, endsWithFailure: endsWithFailure,
            progress: progress)
    }
}

/// The outcome of a batch whose members all succeeded.
public struct BatchOutcome<Members: BatchMembers>: OperationOutput {
    /// The outcome of each member, in order. The outcome of a request is its ``Response``.
    public let outcomes: Members.Outcomes

    /// The value of each member, in order.
    public let values: Members.Values
    /// The same as ``values``.
    public var value: Members.Values { values }
    /// Whether the outcomes of all members came from a cache.
    public let isFromCache: Bool
}

/// A batch that continues after a failure, and keeps the result of each member.
struct CollectingBatch<Members: BatchMembers>: SendableOperation, ComposedOperation {
    var batch: Batch<Members>

    var tag: Int { batch.tag }
    var userInfo: [String: any Sendable] { batch.userInfo }
    var listeners: [any TaskListener] { batch.listeners }
    var kind: RequestTask.Kind { batch.kind }
    var partCount: Int { batch.count }

    func run(through sender: some RequestSender) async throws(NetError) -> CollectedOutcome<Members> {
        let run = batch.members.begin(sender)
        let failures = try await batch.operations(of: run, endsWithFailure: false).run()
        let outcomes = failures.isEmpty ? try run.outcomes() : nil
        return CollectedOutcome(
            results: run.results(), failures: failures.sorted { $0.index < $1.index },
            isFromCache: outcomes.map(batch.members.areFromCache) ?? false)
    }
}

/// The results of a batch's members.
public struct CollectedOutcome<Members: BatchMembers>: OperationOutput {
    /// The result of each member, in order.
    public let results: Members.Results
    /// The failed members, in order.
    public let failures: [FailedMember]
    /// Whether all members succeeded and all outcomes came from a cache.
    public let isFromCache: Bool

    /// The same as ``results``.
    public var value: Members.Results { results }
}

/// Runs the members of a batch with limited concurrency.
struct BatchOperations: Sendable {
    let work: @Sendable (Int) async -> NetError?
    /// The members' tags.
    let tags: [Int]
    /// The order in which the members begin.
    let order: [Int]
    let limit: Int
    let endsWithFailure: Bool
    let progress: (@Sendable (BatchProgress) -> Void)?

    /// Runs the members and returns those that failed, in the order in which they failed.
    ///
    /// Throws ``NetError/Code/cancelled`` without a failed member if the Swift task was cancelled before all members
    /// had ended.
    func run() async throws(NetError) -> [FailedMember] {
        var report = BatchProgress(total: tags.count, isOver: tags.isEmpty)
        progress?(report)
        let failures = await withTaskGroup { group in
            var failures: [FailedMember] = []
            var next = 0
            while next < tags.count, next < limit {
                begin(order[next], in: &group)
                next += 1
            }
            while let (index, error) = await group.next() {
                // Ignores errors after the first failure, and errors that the cancellation caused.
                if error != nil, Task.isCancelled || (endsWithFailure && !failures.isEmpty) {
                    continue
                }
                report.finished += 1
                if let error {
                    report.failed += 1
                    failures.append(FailedMember(index: index, name: nil, tag: tags[index], error: error))
                }
                if endsWithFailure && !failures.isEmpty {
                    group.cancelAll()
                    continue
                }
                if next < tags.count, !Task.isCancelled {
                    begin(order[next], in: &group)
                    next += 1
                }
                report.isOver = report.finished == report.total
                progress?(report)
            }
            return failures
        }
        let isWhole = report.finished == report.total
        if !report.isOver {
            report.isOver = true
            progress?(report)
        }
        if !isWhole && (failures.isEmpty || !endsWithFailure) {
            throw NetError(.cancelled, "the task was cancelled")
        }
        return failures
    }

    private func begin(_ index: Int, in group: inout TaskGroup<(Int, NetError?)>) {
        group.addTask { [work] in (index, await work(index)) }
    }
}

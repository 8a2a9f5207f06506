/// A batch that goes on after a failure, and keeps what came of each member.
///
///     let outcome = try await agent.send(Batch(user, cities).collectingAll)
///     let (user, cities) = outcome.results
///     for part in outcome.failures { print(part.index, part.tag, part.error) }
///
/// It throws only ``NetError/Code/cancelled``, when the task was cancelled.
public struct CollectingBatch<Members: BatchMembers>: Errand, ComposedErrand {
    /// The batch whose members, limit and progress these are.
    public var batch: Batch<Members>

    /// The batch's.
    public var tag: Int { batch.tag }
    /// The batch's.
    public var userInfo: [String: any Sendable] { batch.userInfo }
    /// The batch's.
    public var accessories: [any Accessory] { batch.accessories }
    var kind: Run.Kind { batch.kind }
    var partCount: Int { batch.count }

    /// Does it all.
    public func run(through sender: some RequestSender) async throws(NetError) -> CollectedOutcome<Members> {
        let run = batch.members.run(through: sender)
        let failures = try await batch.works(of: run, endsWithFailure: false).run()
        let outcomes = failures.isEmpty ? try run.outcomes() : nil
        return CollectedOutcome(
            results: run.results(), failures: failures.sorted { $0.index < $1.index },
            isFromCache: outcomes.map(Members.areFromCache) ?? false)
    }
}

/// What came of each member of a batch.
public struct CollectedOutcome<Members: BatchMembers>: ErrandOutcome {
    /// What came of each, in order.
    public let results: Members.Results
    /// Those that failed, in order.
    public let failures: [FailedPart]
    /// Whether none failed and every one came from a cache.
    public let isFromCache: Bool

    /// ``results``.
    public var value: Members.Results { results }
}

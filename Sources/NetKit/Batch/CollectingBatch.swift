/// A batch that continues after a failure, and keeps the result of each member.
///
///     let outcome = try await agent.send(Batch(user, cities).collectingAll)
///     let (user, cities) = outcome.results
///     for part in outcome.failures { print(part.index, part.tag, part.error) }
///
/// It throws only ``NetError/Code/cancelled``, if the Swift task was cancelled.
public struct CollectingBatch<Members: BatchMembers>: Errand, ComposedErrand {
    /// The batch with the members, limit and progress.
    public var batch: Batch<Members>

    /// The tag of the batch.
    public var tag: Int { batch.tag }
    /// The values of the batch.
    public var userInfo: [String: any Sendable] { batch.userInfo }
    /// The accessories of the batch.
    public var accessories: [any Accessory] { batch.accessories }
    var kind: Run.Kind { batch.kind }
    var partCount: Int { batch.count }

    /// Runs all members.
    public func run(through sender: some RequestSender) async throws(NetError) -> CollectedOutcome<Members> {
        let run = batch.members.run(through: sender)
        let failures = try await batch.works(of: run, endsWithFailure: false).run()
        let outcomes = failures.isEmpty ? try run.outcomes() : nil
        return CollectedOutcome(
            results: run.results(), failures: failures.sorted { $0.index < $1.index },
            isFromCache: outcomes.map(Members.areFromCache) ?? false)
    }
}

/// The results of a batch's members.
public struct CollectedOutcome<Members: BatchMembers>: ErrandOutcome {
    /// The result of each member, in order.
    public let results: Members.Results
    /// The failed members, in order.
    public let failures: [FailedPart]
    /// Whether no member failed and all came from a cache.
    public let isFromCache: Bool

    /// ``results``.
    public var value: Members.Results { results }
}

/// The members of a ``Batch``: a tuple of different types, or an array of one type.
///
/// Apps use ``MemberTuple`` and ``MemberArray``, and do not implement this protocol.
public protocol BatchMembers: Sendable {
    /// The outcomes of all members.
    associatedtype Outcomes: Sendable
    /// The values of all members.
    associatedtype Values: Sendable
    /// The results of all members: outcomes or errors.
    associatedtype Results: Sendable
}

/// Members that a batch can run.
protocol RunnableMembers: BatchMembers {
    /// The number of members.
    var count: Int { get }
    /// The members' tags, in order.
    var tags: [Int] { get }

    /// Prepares one run of all members.
    func run(through sender: some RequestSender) -> BatchRun<Self>
    /// Returns the values of the outcomes.
    static func values(of outcomes: Outcomes) -> Values
    /// Returns true if the outcomes of all members came from a cache.
    static func areFromCache(_ outcomes: Outcomes) -> Bool
}

/// The functions of ``RunnableMembers`` for a batch, whose public type does not require that protocol.
struct MemberOperations<Members: BatchMembers>: Sendable {
    let count: Int
    let tags: @Sendable () -> [Int]
    let begin: @Sendable (any RequestSender) -> BatchRun<Members>
    let values: @Sendable (Members.Outcomes) -> Members.Values
    let areFromCache: @Sendable (Members.Outcomes) -> Bool

    init(_ members: Members) where Members: RunnableMembers {
        count = members.count
        tags = { members.tags }
        begin = { members.run(through: $0) }
        values = { Members.values(of: $0) }
        areFromCache = { Members.areFromCache($0) }
    }
}

/// One run of the members of a batch. The members run independently, and the outcomes are read at the end.
struct BatchRun<Members: BatchMembers>: Sendable {
    /// Runs the member at an index. Returns its error, or `nil` if it succeeds.
    typealias Work = @Sendable (Int) async -> NetError?

    let work: Work
    /// Returns for each member the operation that can wait for others, or `nil` if the member cannot.
    let waiting: @Sendable () -> [(any WaitingOperation)?]
    let outcomes: @Sendable () throws(NetError) -> Members.Outcomes
    let results: @Sendable () -> Members.Results
}

extension Result where Failure == NetError {
    /// The result of a member that was not run.
    fileprivate static var notRun: Self {
        .failure(NetError(.cancelled, "the batch ended before this member was sent"))
    }
}

extension SendableOperation {
    fileprivate func result(through sender: some RequestSender) async -> Result<Outcome, NetError> {
        do throws(NetError) {
            return .success(try await run(through: sender))
        } catch {
            return .failure(error)
        }
    }
}

/// The storage of the outcome of one member of a tuple.
private final class MemberSlot<Outcome: Sendable>: Sendable {
    private let storage = Lock(Result<Outcome, NetError>?.none)

    init<Member: SendableOperation>(for member: Member) where Member.Outcome == Outcome {}

    var result: Result<Outcome, NetError> { storage.withLock { $0 } ?? .notRun }

    func outcome() throws(NetError) -> Outcome { try result.get() }

    func work<Member: SendableOperation>(_ member: Member, _ sender: some RequestSender)
        -> @Sendable () async -> NetError?
    where Member.Outcome == Outcome {
        {
            let result = await member.result(through: sender)
            self.storage.withLock { $0 = result }
            return result.failure
        }
    }
}

/// Members of different types, in order.
public struct MemberTuple<each Member: SendableOperation>: RunnableMembers {
    private let members: (repeat each Member)

    /// Creates a tuple of members.
    init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// The outcome of each member.
    public typealias Outcomes = (repeat (each Member).Outcome)
    /// The value of each member.
    public typealias Values = (repeat (each Member).Outcome.Value)
    /// The outcome of each member, or its error.
    public typealias Results = (repeat Result<(each Member).Outcome, NetError>)

    var count: Int { tags.count }

    var tags: [Int] {
        var tags: [Int] = []
        repeat tags.append((each members).tag)
        return tags
    }

    func run(through sender: some RequestSender) -> BatchRun<Self> {
        let slots = (repeat MemberSlot(for: each members))
        var collected: [@Sendable () async -> NetError?] = []
        repeat collected.append((each slots).work(each members, sender))
        let operations = collected
        return BatchRun(
            work: { await operations[$0]() },
            waiting: { [members] in
                var waiting: [(any WaitingOperation)?] = []
                repeat waiting.append((each members) as? any WaitingOperation)
                return waiting
            }, outcomes: { () throws(NetError) in (repeat try (each slots).outcome()) },
            results: { (repeat (each slots).result) })
    }

    static func values(of outcomes: Outcomes) -> Values { (repeat (each outcomes).value) }

    static func areFromCache(_ outcomes: Outcomes) -> Bool {
        var areFromCache = true
        for outcome in repeat each outcomes {
            areFromCache = areFromCache && outcome.isFromCache
        }
        return areFromCache
    }
}

/// Members of one type, in order.
public struct MemberArray<Member: SendableOperation>: RunnableMembers {
    private let members: [Member]

    /// Creates an array of members.
    init(_ members: [Member]) {
        self.members = members
    }

    /// The outcome of each member.
    public typealias Outcomes = [Member.Outcome]
    /// The value of each member.
    public typealias Values = [Member.Outcome.Value]
    /// The outcome of each member, or its error.
    public typealias Results = [Result<Member.Outcome, NetError>]

    var count: Int { members.count }
    var tags: [Int] { members.map(\.tag) }

    func run(through sender: some RequestSender) -> BatchRun<Self> {
        // One lock for all members is enough, because storing an outcome is fast.
        let storage = Lock([Result<Member.Outcome, NetError>?](repeating: nil, count: members.count))
        return BatchRun(
            work: { [members] index in
                let result = await members[index].result(through: sender)
                storage.withLock { $0[index] = result }
                return result.failure
            }, waiting: { [members] in members.map { $0 as? any WaitingOperation } },
            outcomes: { () throws(NetError) in
                var outcomes: [Member.Outcome] = []
                outcomes.reserveCapacity(members.count)
                for result in storage.withLock({ $0 }) {
                    outcomes.append(try (result ?? .notRun).get())
                }
                return outcomes
            }, results: { storage.withLock { $0 }.map { $0 ?? .notRun } })
    }

    static func values(of outcomes: [Member.Outcome]) -> [Member.Outcome.Value] { outcomes.map(\.value) }

    static func areFromCache(_ outcomes: [Member.Outcome]) -> Bool { outcomes.allSatisfy(\.isFromCache) }
}

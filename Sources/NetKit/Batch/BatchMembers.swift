/// The members of a ``Batch``: a tuple of different types, or an array of one type.
///
/// Only ``MemberTuple`` and ``MemberArray`` are meant to conform.
public protocol BatchMembers: Sendable {
    /// The outcomes of all members.
    associatedtype Outcomes: Sendable
    /// The values of all members.
    associatedtype Values: Sendable
    /// The results of all members: outcomes or errors.
    associatedtype Results: Sendable

    /// The number of members.
    var count: Int { get }
    /// The members' tags, in order.
    var tags: [Int] { get }

    /// Creates a run of all members.
    func run(through sender: some RequestSender) -> BatchRun<Self>
    /// Returns the values of the outcomes.
    static func values(of outcomes: Outcomes) -> Values
    /// Returns whether all members came from a cache.
    static func areFromCache(_ outcomes: Outcomes) -> Bool
}

/// One run of a batch's members. Each member works independently; the outcomes are read at the end.
public struct BatchRun<Members: BatchMembers>: Sendable {
    /// Runs the member at an index. Returns its error if it fails.
    typealias Work = @Sendable (Int) async -> NetError?

    let work: Work
    /// The members that can wait for others, at their indices.
    let waiting: @Sendable () -> [(any WaitingErrand)?]
    let outcomes: @Sendable () throws(NetError) -> Members.Outcomes
    let results: @Sendable () -> Members.Results
}

extension Result where Failure == NetError {
    /// The result of a member that has not ended.
    fileprivate static var unsent: Self {
        .failure(NetError(.cancelled, "the batch ended before this member was sent"))
    }

    fileprivate var failure: NetError? {
        guard case .failure(let error) = self else {
            return nil
        }
        return error
    }
}

extension Errand {
    fileprivate func result(through sender: some RequestSender) async -> Result<Outcome, NetError> {
        do throws(NetError) {
            return .success(try await run(through: sender))
        } catch {
            return .failure(error)
        }
    }
}

/// The storage of one tuple member's outcome.
private final class MemberSlot<Outcome: Sendable>: Sendable {
    private let kept = Lock(Result<Outcome, NetError>?.none)

    init<Member: Errand>(for member: Member) where Member.Outcome == Outcome {}

    var result: Result<Outcome, NetError> { kept.withLock { $0 } ?? .unsent }

    func outcome() throws(NetError) -> Outcome { try result.get() }

    func work<Member: Errand>(_ member: Member, _ sender: some RequestSender) -> @Sendable () async -> NetError?
    where Member.Outcome == Outcome {
        {
            let result = await member.result(through: sender)
            self.kept.withLock { $0 = result }
            return result.failure
        }
    }
}

/// Members of different types, in order.
public struct MemberTuple<each Member: Errand>: BatchMembers {
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

    /// The number of members.
    public var count: Int { tags.count }

    /// The members' tags, in order.
    public var tags: [Int] {
        var tags: [Int] = []
        repeat tags.append((each members).tag)
        return tags
    }

    /// Creates a run of all members.
    public func run(through sender: some RequestSender) -> BatchRun<Self> {
        let slots = (repeat MemberSlot(for: each members))
        var growing: [@Sendable () async -> NetError?] = []
        repeat growing.append((each slots).work(each members, sender))
        let works = growing
        return BatchRun(
            work: { await works[$0]() },
            waiting: { [members] in
                var waiting: [(any WaitingErrand)?] = []
                repeat waiting.append((each members) as? any WaitingErrand)
                return waiting
            }, outcomes: { () throws(NetError) in (repeat try (each slots).outcome()) },
            results: { (repeat (each slots).result) })
    }

    /// Returns the values of the outcomes.
    public static func values(of outcomes: Outcomes) -> Values { (repeat (each outcomes).value) }

    /// Returns whether all members came from a cache.
    public static func areFromCache(_ outcomes: Outcomes) -> Bool {
        var areFromCache = true
        for outcome in repeat each outcomes {
            areFromCache = areFromCache && outcome.isFromCache
        }
        return areFromCache
    }
}

/// Members of one type, in order.
public struct MemberArray<Member: Errand>: BatchMembers {
    private let members: [Member]

    /// Creates an array of members.
    init(_ members: [Member]) {
        self.members = members
    }

    /// The number of members.
    public var count: Int { members.count }

    /// The members' tags, in order.
    public var tags: [Int] { members.map(\.tag) }

    /// Creates a run of all members.
    public func run(through sender: some RequestSender) -> BatchRun<Self> {
        // One lock for all: storing an outcome is brief, so a thousand members need no thousand locks.
        let kept = Lock([Result<Member.Outcome, NetError>?](repeating: nil, count: members.count))
        return BatchRun(
            work: { [members] index in
                let result = await members[index].result(through: sender)
                kept.withLock { $0[index] = result }
                return result.failure
            }, waiting: { [members] in members.map { $0 as? any WaitingErrand } },
            outcomes: { () throws(NetError) in
                var outcomes: [Member.Outcome] = []
                outcomes.reserveCapacity(members.count)
                for result in kept.withLock({ $0 }) {
                    outcomes.append(try (result ?? .unsent).get())
                }
                return outcomes
            }, results: { kept.withLock { $0 }.map { $0 ?? .unsent } })
    }

    /// Returns the values of the outcomes.
    public static func values(of outcomes: [Member.Outcome]) -> [Member.Outcome.Value] { outcomes.map(\.value) }

    /// Returns whether all members came from a cache.
    public static func areFromCache(_ outcomes: [Member.Outcome]) -> Bool { outcomes.allSatisfy(\.isFromCache) }

    /// The outcome of each member, or its error.
    public typealias Results = [Result<Member.Outcome, NetError>]
}

/// What a ``Batch`` is made of: a tuple of errands of any kind, or an array of errands of one kind.
///
/// Only ``MemberTuple`` and ``MemberArray`` are meant to conform.
public protocol BatchMembers: Sendable {
    /// What comes of all of them.
    associatedtype Outcomes: Sendable
    /// The values in it.
    associatedtype Values: Sendable
    /// What comes of each: an outcome or an error.
    associatedtype Results: Sendable

    /// How many there are.
    var count: Int { get }
    /// Their tags, in order.
    var tags: [Int] { get }

    /// One run of all of them.
    func run(through sender: some RequestSender) -> BatchRun<Self>
    /// The values in what came of them.
    static func values(of outcomes: Outcomes) -> Values
    /// Whether every one came from a cache.
    static func areFromCache(_ outcomes: Outcomes) -> Bool
}

/// One run of a batch's members: each works by itself, and what came of them is asked for at the end.
public struct BatchRun<Members: BatchMembers>: Sendable {
    /// Does what the member at an index is there for; returns what it failed with.
    typealias Work = @Sendable (Int) async -> NetError?

    let work: Work
    /// The members that may come after others, in their places.
    let waiting: @Sendable () -> [(any WaitingErrand)?]
    let outcomes: @Sendable () throws(NetError) -> Members.Outcomes
    let results: @Sendable () -> Members.Results
}

extension Result where Failure == NetError {
    /// What stands for a member that has not ended.
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

/// Where a member of a tuple leaves what came of it.
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

/// Errands of any kind, in order.
public struct MemberTuple<each Member: Errand>: BatchMembers {
    private let members: (repeat each Member)

    /// These.
    init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// What comes of each.
    public typealias Outcomes = (repeat (each Member).Outcome)
    /// The value in each.
    public typealias Values = (repeat (each Member).Outcome.Value)
    /// What comes of each, or its error.
    public typealias Results = (repeat Result<(each Member).Outcome, NetError>)

    /// How many there are.
    public var count: Int { tags.count }

    /// Their tags, in order.
    public var tags: [Int] {
        var tags: [Int] = []
        repeat tags.append((each members).tag)
        return tags
    }

    /// One run of all of them.
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

    /// The values in what came of them.
    public static func values(of outcomes: Outcomes) -> Values { (repeat (each outcomes).value) }

    /// Whether every one came from a cache.
    public static func areFromCache(_ outcomes: Outcomes) -> Bool {
        var areFromCache = true
        for outcome in repeat each outcomes {
            areFromCache = areFromCache && outcome.isFromCache
        }
        return areFromCache
    }
}

/// Errands of one kind, in order.
public struct MemberArray<Member: Errand>: BatchMembers {
    private let members: [Member]

    /// These.
    init(_ members: [Member]) {
        self.members = members
    }

    /// How many there are.
    public var count: Int { members.count }

    /// Their tags, in order.
    public var tags: [Int] { members.map(\.tag) }

    /// One run of all of them.
    public func run(through sender: some RequestSender) -> BatchRun<Self> {
        // One place for all: what a member leaves is put there in a moment, and a thousand need no thousand locks.
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

    /// The values in what came of them.
    public static func values(of outcomes: [Member.Outcome]) -> [Member.Outcome.Value] { outcomes.map(\.value) }

    /// Whether every one came from a cache.
    public static func areFromCache(_ outcomes: [Member.Outcome]) -> Bool { outcomes.allSatisfy(\.isFromCache) }

    /// What comes of each, or its error.
    public typealias Results = [Result<Member.Outcome, NetError>]
}

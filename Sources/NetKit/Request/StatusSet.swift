/// The statuses of responses that a request accepts.
///
///     request.acceptedStatuses = 200..<500
///     request.acceptedStatuses = [200, 404]
///     request.acceptedStatuses = [200...299, 304]
///     request.acceptedStatuses = .any
///
/// A response with another status throws ``NetError/Code/status``.
public struct StatusSet: Sendable, Hashable {
    private enum Choice: Sendable, Hashable {
        case automatic
        case any
        case range(Range<Int>)
        /// Ranges in order, with gaps between them.
        case ranges([Range<Int>])
    }

    private let choice: Choice

    private init(_ choice: Choice) {
        self.choice = choice
    }

    /// The statuses that the service accepts, or else the agent. By default these are 200 to 299. If redirects are
    /// returned (``RedirectPolicy/return``), 300 to 399 are accepted too.
    public static let automatic = StatusSet(.automatic)
    /// All statuses.
    public static let any = StatusSet(.any)
    /// The statuses from 200 to 299.
    package static let successful = StatusSet(200..<300)

    /// Creates a set from a range or a list of statuses.
    public init(_ statuses: some Collection<Int>) {
        switch statuses {
        case let range as Range<Int>: self.init(merging: [range])
        case let range as ClosedRange<Int>: self.init(merging: [range.lowerBound..<range.upperBound.successor])
        default: self.init(merging: statuses.map { $0..<$0.successor })
        }
    }

    private init(merging ranges: [Range<Int>]) {
        var merged: [Range<Int>] = []
        for range in ranges.filter({ !$0.isEmpty }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        choice = merged.count == 1 ? .range(merged[0]) : .ranges(merged)
    }

    /// Returns true if the status is one of the set. ``automatic`` counts as 200 to 299.
    public func contains(_ status: Int) -> Bool {
        switch choice {
        case .automatic: (200..<300 as Range).contains(status)
        case .any: true
        case .range(let range): range.contains(status)
        case .ranges(let ranges): ranges.contains { $0.contains(status) }
        }
    }

    /// The ranges of the set, in order; `nil` for ``any``. ``automatic`` counts as 200 to 299.
    package var ranges: [Range<Int>]? {
        switch choice {
        case .any: nil
        case .automatic: [200..<300]
        case .range(let range): [range]
        case .ranges(let ranges): ranges
        }
    }

    /// Returns this set, or the other one if this set is ``automatic``.
    func resolved(_ other: StatusSet) -> StatusSet { isAutomatic ? other : self }

    /// Whether the set is ``automatic``.
    var isAutomatic: Bool {
        if case .automatic = choice { true } else { false }
    }

    /// The set, or 200 to 299 instead of ``any``.
    var restricted: StatusSet { choice == .any ? .successful : self }

    /// The range in which the engine checks bodies: the one with 200, or the first one. Bodies with statuses of other
    /// ranges are checked when they have arrived.
    var checkedRange: Range<Int> {
        guard let ranges else { return 100..<1000 }
        return ranges.first { $0.contains(200) } ?? ranges.first ?? 999..<1000
    }

    /// Returns the set for requests with this redirect policy: if redirects are returned, it contains 300 to 399 too.
    func accepting(_ redirects: RedirectPolicy) -> StatusSet {
        guard redirects == .return, let ranges else { return self }
        return StatusSet(merging: ranges + [300..<400])
    }

    /// Returns the set with another status.
    func inserting(_ status: Int) -> StatusSet {
        StatusSet(merging: (ranges ?? []) + [status..<status.successor])
    }
}

extension Int {
    fileprivate var successor: Int { self == .max ? self : self + 1 }
}

extension StatusSet: ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// Creates a set of one status.
    public init(integerLiteral status: Int) {
        self.init(CollectionOfOne(status))
    }

    /// Creates a set from a literal of statuses and ranges. ``any`` and ``automatic`` among them stand for themselves.
    public init(arrayLiteral elements: StatusSet...) {
        if let whole = elements.first(where: { $0.isAutomatic || $0.ranges == nil }) {
            self = whole
        } else {
            self.init(merging: elements.flatMap { $0.ranges ?? [] })
        }
    }
}

extension Int {
    // Disfavored, so that a range without a type is still a Range.

    /// Creates the set of a half-open range: `request.acceptedStatuses = 200..<500`.
    @_disfavoredOverload
    public static func ..< (lowerBound: Int, upperBound: Int) -> StatusSet {
        let range: Range<Int> = lowerBound..<upperBound
        return StatusSet(range)
    }

    /// Creates the set of a closed range: `request.acceptedStatuses = 200...499`.
    @_disfavoredOverload
    public static func ... (lowerBound: Int, upperBound: Int) -> StatusSet {
        let range: ClosedRange<Int> = lowerBound...upperBound
        return StatusSet(range)
    }
}

/// A type that an ``Endpoint`` may give its ``EndpointMembers/acceptedStatuses``: ``StatusSet``, or a range or an array
/// of `Int`.
public protocol StatusesConvertible {
    /// The statuses.
    var _statuses: StatusSet { get }
}

extension StatusSet: StatusesConvertible {
    /// The set itself.
    public var _statuses: StatusSet { self }
}

extension StatusesConvertible where Self: Collection<Int> {
    /// The set of these statuses.
    public var _statuses: StatusSet { StatusSet(self) }
}

extension Range: StatusesConvertible where Bound == Int {}
extension ClosedRange: StatusesConvertible where Bound == Int {}
extension [Int]: StatusesConvertible {}

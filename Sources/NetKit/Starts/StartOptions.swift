/// How something is started, beside what it is.
public struct StartOptions: Sendable {
    /// Who accompanies this start, after those that the request brings.
    public var accessories: [any Accessory] = []
    /// When it is let go, this start is cancelled; the start does not keep it.
    public weak var scope: CallScope?
    /// Whether closures and the delegate are told of ``NetError/Code/cancelled``. Without it a cancelled start ends
    /// silently: accessories and observers see its end, and ``CallHandle/value`` throws.
    public var tellsCancellation = false
    /// Hears how far the transfer is, where the start delivers, and before its end.
    public var progress: (@Sendable (TransferProgress) -> Void)?
    /// The group that it is in until everybody was told how it ended.
    public var completionGroup: CompletionGroup?

    /// Starts that come first. While they are under way this one waits; it takes no slot, and its limits do not count.
    ///
    /// Starts that wait for each other are told so: the last one of the circle fails with ``NetError/Code/usage``.
    public var after: [EarlierStart] = []
    /// What ``CallHandle/pause()`` does to a request.
    public var pausing = Pausing.holding
    /// Where it waits for its turn among others; nil is nowhere. Requests alone do.
    public var lane: CallLane?
    /// Follows it, and can cancel it and hold it up.
    public var tracking: CallProgress?
    /// What it is of something larger that is tracked: hears of its bytes, and has no reins.
    var part: CallProgress?

    /// The defaults.
    public init(
        accessories: [any Accessory] = [], scope: CallScope? = nil, tellsCancellation: Bool = false,
        after: [EarlierStart] = [], pausing: Pausing = .holding, lane: CallLane? = nil, tracking: CallProgress? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.accessories = accessories
        self.scope = scope
        self.tellsCancellation = tellsCancellation
        self.after = after
        self.pausing = pausing
        self.lane = lane
        self.tracking = tracking
        self.progress = progress
    }
}

/// What becomes of a request that is held up.
public enum Pausing: Sendable, Hashable {
    /// Its transfer is held up as it is: the connection stays open, and nothing is sent twice.
    case holding
    /// Its transfer is ended, and its connection and slot are free. ``CallHandle/resume()`` sends the request again, and
    /// goes on behind the bytes that have come (`Range` and `If-Range`) where the answer allows that: to a GET without
    /// a range of its own, with status 200, a strong validator and no content coding. Otherwise, and when the answer is
    /// another one by then, the body begins anew. Each go is a call of its own to observers and interceptors, with its
    /// own limits of time. A request that changes something is sent twice: choose this for those that may be.
    case lettingGo
}

/// Lets so many starts go on at once, and the others wait: the most urgent first, those alike as they came.
///
///     let lane = CallLane(maxConcurrent: 2)
///     for page in pages { agent.start(page, options: .init(lane: lane)) }
///
/// A start is in it from the moment it is described until its answer is there, whether that comes from the network or
/// not. One that comes ``StartOptions/after`` another waits outside. Several agents may share one. Thread-safe.
public final class CallLane: Sendable {
    let slots: Slots

    /// A lane for so many, at least one.
    public init(maxConcurrent: Int) {
        slots = Slots(maxConcurrent, time: .system)
    }

    /// Those that wait.
    public var waitingCount: Int { slots.waitingCount }
}

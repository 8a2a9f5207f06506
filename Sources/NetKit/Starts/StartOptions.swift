/// Options of a task.
public struct StartOptions: Sendable {
    /// The accessories of this task; they follow those of the request.
    public var accessories: [any Accessory] = []
    /// The scope that cancels this task when it is deallocated. The task references it weakly.
    public weak var scope: CallScope?
    /// Whether closures and the delegate receive ``NetError/Code/cancelled``. If false, a cancelled task calls only
    /// accessories and observers, and ``CallHandle/value`` throws.
    public var tellsCancellation = false
    /// Receives the transfer's progress, where the task delivers, before the task ends.
    public var progress: (@Sendable (TransferProgress) -> Void)?
    /// The group in which the task stays until all listeners were notified of its end.
    public var completionGroup: CompletionGroup?

    /// The tasks that must end first. While they are in flight this one waits; it uses no slot, and its time limits do
    /// not count.
    ///
    /// If tasks wait for each other, the last task of the cycle fails with ``NetError/Code/usage``.
    public var after: [EarlierStart] = []
    /// How ``CallHandle/pause()`` pauses a request.
    public var pausing = Pausing.holding
    /// The concurrency limiter in which a request waits, or `nil` for none. Batches and chains ignore it.
    public var lane: CallLane?
    /// Follows the task, and can cancel and pause it.
    public var tracking: CallProgress?
    /// A part of a larger progress. It receives the bytes and cannot control the task.
    var part: CallProgress?

    /// Creates options with default values.
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

/// What a pause does to the transfer of a request.
public enum Pausing: Sendable, Hashable {
    /// The transfer is paused: its connection remains open, and nothing is sent twice.
    case holding
    /// The transfer is ended, and its connection and slot are freed. ``CallHandle/resume()`` sends the request again.
    ///
    /// It continues after the received bytes (`Range` and `If-Range`) if all of these hold:
    /// - the request is a GET without a range of its own
    /// - the response has status 200, a strong validator and no content coding
    ///
    /// Otherwise, and if the resource has changed meanwhile, the body starts from the beginning. Each transfer is a
    /// separate call for observers and interceptors, with its own time limits. Use it only for requests that may be
    /// sent twice.
    case lettingGo
}

/// Limits the number of concurrent tasks. Others wait: the most urgent first, those of equal priority in order of
/// arrival.
///
///     let lane = CallLane(maxConcurrent: 2)
///     for page in pages { agent.start(page, options: .init(lane: lane)) }
///
/// A task occupies a slot from the creation of its request until its response is available. A response from a cache
/// counts too. A task that waits for others (``StartOptions/after``) occupies none. Several agents may share a limiter.
/// Thread-safe.
public final class CallLane: Sendable {
    let slots: Slots

    /// Creates a limiter for this number of tasks, at least one.
    public init(maxConcurrent: Int) {
        slots = Slots(maxConcurrent, time: .system)
    }

    /// The number of waiting tasks.
    public var waitingCount: Int { slots.waitingCount }
}

public import NetKit

/// Receives the events of one or several tasks: requests, batches and chains.
///
/// All methods are optional. They are called where the task delivers (see `Delivery`), one at a time for each task. A
/// task references its delegate weakly.
///
/// A delegate that is isolated to the main actor, whose tasks deliver there, can implement a method like this:
///
///     nonisolated func run(_ run: RequestTask, finishedWith value: any Sendable) {
///         MainActor.assumeIsolated { show(value as? Response<[City]>) }
///     }
public protocol RequestTaskDelegate: AnyObject, Sendable {
    /// Called when the task succeeded. The value is a `Response` for a request, or the results of a batch or a chain.
    func run(_ run: RequestTask, finishedWith value: any Sendable)
    /// Called when the task failed. A cancelled task is reported only if `StartOptions.reportsCancellation` is true.
    func run(_ run: RequestTask, failedWith error: NetError)
    /// Called when bytes of the request's body were sent.
    func run(_ run: RequestTask, sent progress: TransferProgress)
    /// Called when bytes of the response's body were received.
    func run(_ run: RequestTask, received progress: TransferProgress)
    /// Called last, after the task has ended and its closures were released.
    func runCleared(_ run: RequestTask)
}

extension RequestTaskDelegate {
    /// Does nothing.
    public func run(_ run: RequestTask, finishedWith value: any Sendable) {}
    /// Does nothing.
    public func run(_ run: RequestTask, failedWith error: NetError) {}
    /// Does nothing.
    public func run(_ run: RequestTask, sent progress: TransferProgress) {}
    /// Does nothing.
    public func run(_ run: RequestTask, received progress: TransferProgress) {}
    /// Does nothing.
    public func runCleared(_ run: RequestTask) {}
}

/// Notifies a delegate, which it references weakly.
struct DelegateListener: TaskListener {
    private final class Latest: Sendable {
        let progress = Lock(TransferProgress())
    }

    private weak var delegate: (any RequestTaskDelegate)?
    private let latest = Latest()

    init(_ delegate: any RequestTaskDelegate) {
        self.delegate = delegate
    }

    var followsProgress: Bool { delegate != nil }

    func report(_ progress: TransferProgress, of task: RequestTask) {
        let last = latest.progress.withLock { last in
            defer { last = progress }
            return last
        }
        if progress.sent != last.sent {
            delegate?.run(task, sent: progress)
        }
        if progress.received != last.received {
            delegate?.run(task, received: progress)
        }
    }

    func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        switch outcome {
        case .success(let value): delegate?.run(task, finishedWith: value)
        case .failure(let error): delegate?.run(task, failedWith: error)
        }
        return outcome
    }

    func cleared(_ task: RequestTask) {
        delegate?.runCleared(task)
    }
}

extension StartOptions {
    /// Creates options with accessories, a scope, a progress that follows the task, and a progress closure.
    @_disfavoredOverload
    public init(
        accessories: [any Accessory] = [], scope: CallScope? = nil, reportsCancellation: Bool = false,
        after: [TaskDependency] = [], pausing: Pausing = .holding, limiter: ConcurrencyLimiter? = nil,
        tracking: CallProgress? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.init(
            listeners: accessories, reportsCancellation: reportsCancellation, after: after, pausing: pausing,
            limiter: limiter)
        self.scope = scope
        self.tracking = tracking
        self.progress = progress
    }

    /// The accessories of this task. They are called after those of the request.
    public var accessories: [any Accessory] {
        get { listeners.accessories }
        set { listeners.accessories = newValue }
    }

    /// A closure that receives the progress of the transfer. It is called where the task delivers, and not after the
    /// task has ended.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { listeners.lazy.compactMap { $0 as? ProgressListener }.first?.report }
        set {
            let others = listeners.filter { !($0 is ProgressListener) }
            listeners = others + (newValue.map { [ProgressListener(report: $0)] } ?? [])
        }
    }
}

/// Reports the progress of a task to a closure.
private struct ProgressListener: TaskListener {
    let report: @Sendable (TransferProgress) -> Void

    var followsProgress: Bool { true }

    func report(_ progress: TransferProgress, of task: RequestTask) {
        report(progress)
    }
}

public import NetKit

extension StartOptions {
    /// A progress that follows the task and can cancel and pause it.
    public var tracking: CallProgress? {
        get { listeners.lazy.compactMap { $0 as? ProgressFollower }.first?.progress }
        set {
            listeners =
                listeners.filter { !($0 is ProgressFollower) } + (newValue.map { [ProgressFollower($0)] } ?? [])
        }
    }
}

/// Reports one task, or one part of it, to a progress.
private struct ProgressFollower: TaskListener {
    let progress: CallProgress
    private let hasSucceeded = Lock(false)

    init(_ progress: CallProgress) {
        self.progress = progress
    }

    var followsProgress: Bool { true }

    func willStart(_ task: RequestTask) {
        if task.kind != .request {
            progress.expect(task.partCount)
        }
        if let handle = task.handle {
            progress.follow(handle)
        }
    }

    func partListener(of task: RequestTask) -> (any TaskListener)? {
        ProgressFollower(progress.part())
    }

    func report(_ transfer: TransferProgress, of task: RequestTask) {
        progress.take(transfer)
    }

    func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        if case .success = outcome {
            hasSucceeded.withLock { $0 = true }
        }
        return outcome
    }

    func cleared(_ task: RequestTask) {
        progress.end(isFailed: !hasSucceeded.withLock { $0 })
    }
}

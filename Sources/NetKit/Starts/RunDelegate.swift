/// Receives the events of one or several tasks: requests, batches and chains.
///
/// All methods are optional. They are called where the task delivers, one at a time for each task. A task references
/// its delegate weakly. For a delegate that is isolated to the main actor, write:
///
///     nonisolated func run(_ run: Run, finishedWith value: any Sendable) {
///         MainActor.assumeIsolated { show(value as? Response<[City]>) }
///     }
public protocol RunDelegate: AnyObject, Sendable {
    /// The task succeeded. The value is a request's ``Response``, or the results of a batch or a chain.
    func run(_ run: Run, finishedWith value: any Sendable)
    /// The task failed. Called with ``NetError/Code/cancelled`` only if ``StartOptions/tellsCancellation`` is true.
    func run(_ run: Run, failedWith error: NetError)
    /// Bytes of the request's body were sent.
    func run(_ run: Run, sent progress: TransferProgress)
    /// Bytes of the response's body were received.
    func run(_ run: Run, received progress: TransferProgress)
    /// The task has ended and its closures are released. This is the last call.
    func runCleared(_ run: Run)
}

extension RunDelegate {
    /// Does nothing.
    public func run(_ run: Run, finishedWith value: any Sendable) {}
    /// Does nothing.
    public func run(_ run: Run, failedWith error: NetError) {}
    /// Does nothing.
    public func run(_ run: Run, sent progress: TransferProgress) {}
    /// Does nothing.
    public func run(_ run: Run, received progress: TransferProgress) {}
    /// Does nothing.
    public func runCleared(_ run: Run) {}
}

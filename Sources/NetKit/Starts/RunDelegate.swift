/// Hears of starts: of one, or of as many as it likes, requests, batches and chains alike.
///
/// All methods are optional and called where the start delivers, one at a time for each start. A start keeps its
/// delegate weakly. A delegate that is isolated to the main actor says so in its methods:
///
///     nonisolated func run(_ run: Run, finishedWith value: any Sendable) {
///         MainActor.assumeIsolated { show(value as? Response<[City]>) }
///     }
public protocol RunDelegate: AnyObject, Sendable {
    /// It succeeded; of a request the value is its ``Response``, of a batch or a chain its results.
    func run(_ run: Run, finishedWith value: any Sendable)
    /// It failed; with ``NetError/Code/cancelled`` only if that is to be told, see ``StartOptions/tellsCancellation``.
    func run(_ run: Run, failedWith error: NetError)
    /// Bytes of the request's body went out.
    func run(_ run: Run, sent progress: TransferProgress)
    /// Bytes of the response's body came in.
    func run(_ run: Run, received progress: TransferProgress)
    /// All is over and the start's closures are gone; nothing comes after this.
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

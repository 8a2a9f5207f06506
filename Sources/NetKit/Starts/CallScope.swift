/// Cancels what was started in it when it is let go: a screen, a session, a search.
///
///     let scope = CallScope()
///     agent.start(request, options: .init(scope: scope)) { … }
///
/// What has ended is forgotten. Thread-safe.
public final class CallScope: Sendable {
    private let runs = Lock<[UInt64: RunControl]>([:])

    /// An empty scope.
    public init() {}

    deinit {
        cancelAll()
    }

    /// Starts in it that are not over.
    public var count: Int { runs.withLock { $0.count } }

    /// Cancels everything in it.
    public func cancelAll() {
        for run in runs.withLock({ $0.values.sorted { $0.id < $1.id } }) {
            run.cancel()
        }
    }

    func insert(_ control: RunControl) {
        runs.withLock { $0[control.id] = control }
    }

    func remove(_ control: RunControl) {
        _ = runs.withLock { $0.removeValue(forKey: control.id) }
    }
}

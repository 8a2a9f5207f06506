/// Cancels its tasks when it is deallocated. Create one for a screen, a session or a search.
///
///     let scope = CallScope()
///     agent.start(request, options: .init(scope: scope)) { … }
///
/// Tasks that have ended are removed. Thread-safe.
public final class CallScope: Sendable {
    private let runs = Lock<[UInt64: RunControl]>([:])

    /// Creates an empty scope.
    public init() {}

    deinit {
        cancelAll()
    }

    /// The number of tasks that have not ended.
    public var count: Int { runs.withLock { $0.count } }

    /// Cancels all its tasks.
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

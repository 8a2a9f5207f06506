public import NetKit

/// A group of tasks that are cancelled when the scope is deallocated. Create a scope for a screen, a session or a
/// search.
///
///     let scope = CallScope()
///     agent.start(request, options: .init(scope: scope))
///
/// A task leaves the scope when it ends. Thread-safe.
public final class CallScope: Sendable {
    private let handles = Lock<[UInt64: CallHandle<Void>]>([:])

    /// Creates an empty scope.
    public init() {}

    deinit {
        cancelAll()
    }

    /// The number of tasks that have not ended.
    public var count: Int { handles.withLock { $0.count } }

    /// Cancels all tasks of the scope.
    public func cancelAll() {
        for handle in handles.withLock({ $0.values.sorted { $0.id < $1.id } }) {
            handle.cancel()
        }
    }

    fileprivate func insert(_ handle: CallHandle<Void>) {
        handles.withLock { $0[handle.id] = handle }
    }

    fileprivate func remove(_ id: UInt64) {
        _ = handles.withLock { $0.removeValue(forKey: id) }
    }
}

extension StartOptions {
    /// The scope that cancels this task when it is deallocated. The options and the task reference it weakly.
    public var scope: CallScope? {
        get { listeners.lazy.compactMap { $0 as? ScopeListener }.first?.scope }
        set {
            listeners = listeners.filter { !($0 is ScopeListener) } + (newValue.map { [ScopeListener($0)] } ?? [])
        }
    }
}

/// Keeps a task in a scope, which it references weakly.
private struct ScopeListener: TaskListener {
    private(set) weak var scope: CallScope?

    init(_ scope: CallScope) {
        self.scope = scope
    }

    func willStart(_ task: RequestTask) {
        if let handle = task.handle {
            scope?.insert(handle)
        }
    }

    func cleared(_ task: RequestTask) {
        scope?.remove(task.id)
    }
}

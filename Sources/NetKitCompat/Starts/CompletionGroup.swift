public import NetKit

/// A set of pending calls. Callers can wait until all of them have ended.
///
///     let group = CompletionGroup()
///     request.completionGroup = group
///     agent.start(request) { show($0) }
///     await group.wait()                      // show was called
///
/// A request leaves its group after all its listeners were notified of its end. A stream leaves it when it is read to
/// its end or released. Other work can join the group with ``enter()`` and ``leave()``. Thread-safe.
public final class CompletionGroup: TaskListener {
    private struct State: Sendable {
        var count = 0
        var lastNumber = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        /// The waiters whose task was cancelled before they began to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Lock(State())

    /// Creates an empty group.
    public init() {}

    /// The number of pending calls.
    public var count: Int { state.withLock { $0.count } }

    /// Adds one to the count.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Subtracts one from the count.
    public func leave() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters {
            waiter.resume()
        }
    }

    /// Returns when the group is empty, or when the Swift task is cancelled.
    public func wait() async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.count == 0 || state.cancelled.contains(number) {
                        return true
                    }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver {
                    continuation.resume()
                }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled.insert(number)
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Enters the group.
    public func willStart(_ task: RequestTask) {
        enter()
    }

    /// Leaves the group.
    public func cleared(_ task: RequestTask) {
        leave()
    }
}

extension [any TaskListener] {
    /// The completion group among the listeners. It is the last listener.
    var completionGroup: CompletionGroup? {
        get { lazy.compactMap { $0 as? CompletionGroup }.first }
        set { self = filter { !($0 is CompletionGroup) } + [newValue].compactMap { $0 } }
    }
}

extension Request {
    /// The completion group of the request.
    public var completionGroup: CompletionGroup? {
        get { listeners.completionGroup }
        set { listeners.completionGroup = newValue }
    }
}

extension StartOptions {
    /// The completion group of the task. The task leaves the group after all listeners were notified of its end.
    public var completionGroup: CompletionGroup? {
        get { listeners.completionGroup }
        set { listeners.completionGroup = newValue }
    }
}

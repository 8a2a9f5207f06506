/// A snapshot of a task: a request, a batch or a chain that was started.
public struct Run: Sendable, Identifiable {
    /// The kind of a task.
    public enum Kind: Sendable, Hashable {
        /// One request.
        case request
        /// Several requests, sent concurrently.
        case batch
        /// Several requests, each sent after those that it depends on.
        case chain
    }

    /// The state of a task.
    public enum State: Sendable, Hashable {
        /// The task is being prepared, is paused before it is sent, or waits for a slot.
        case waiting
        /// The task is in flight.
        case running
        /// The task has ended, and its listeners are being notified.
        case stopping
        /// The task has ended, and its listeners were notified.
        case stopped
    }

    /// The task's number, unique in the process. Its ``Call`` and its ``Event``s have the same number.
    public let id: UInt64
    /// The kind of the task.
    public let kind: Kind
    /// The caller's number for it. It is 0 by default.
    public internal(set) var tag = 0
    /// The caller's values for it.
    public internal(set) var userInfo: [String: any Sendable] = [:]
    /// The name of the type that describes the task; empty for a plain ``Request``.
    public internal(set) var name = ""
    /// The request's method. `nil` until the request is created, and for batches and chains.
    public internal(set) var method: Method?
    /// The request's URL before redirects. `nil` until the request is created, and for batches and chains.
    public internal(set) var url: String?
    /// The state of the task.
    public internal(set) var state = State.waiting
    /// Whether the caller has paused it.
    public internal(set) var isPaused = false
    /// Whether it was cancelled before its outcome was reported.
    public internal(set) var isCancelled = false

    init(id: UInt64 = CallNumber.next(), kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

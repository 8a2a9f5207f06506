public import Dispatch

/// Options of a task.
public struct StartOptions: Sendable {
    /// The listeners of this task. They are called after those of the request.
    public var listeners: [any TaskListener] = []
    /// Whether listeners receive the outcome ``NetError/Code/cancelled`` if the task is cancelled. If false, they are
    /// notified of the end of a cancelled task without an outcome. ``CallHandle/value`` throws in both cases.
    public var reportsCancellation = false
    /// The tasks that must end before this task starts. While this task waits, its time limits do not count, and it
    /// does not count as in flight for any limit.
    ///
    /// If tasks wait for each other in a cycle, the task that would close the cycle fails with ``NetError/Code/usage``.
    public var after: [TaskDependency] = []
    /// How ``CallHandle/pause()`` pauses the transfer of a request.
    public var pausing = Pausing.holding
    /// The concurrency limiter of a request, or `nil` for none. Batches and chains ignore it.
    public var limiter: ConcurrencyLimiter?

    /// Creates options with default values.
    public init(
        listeners: [any TaskListener] = [], reportsCancellation: Bool = false, after: [TaskDependency] = [],
        pausing: Pausing = .holding, limiter: ConcurrencyLimiter? = nil
    ) {
        self.listeners = listeners
        self.reportsCancellation = reportsCancellation
        self.after = after
        self.pausing = pausing
        self.limiter = limiter
    }
}

/// How a pause affects the transfer of a request.
public enum Pausing: Sendable, Hashable {
    /// The transfer is paused. Its connection remains open, and nothing is sent twice.
    case holding
    /// The transfer ends, so that its connection can be used by others and it no longer counts as in flight.
    /// ``CallHandle/resume()`` sends the request again.
    ///
    /// The body continues after the received bytes (`Range` and `If-Range`) if all of these hold:
    /// - the request is a GET without a range of its own
    /// - the response has status 200, a strong validator and no content coding
    ///
    /// Otherwise, or if the resource has changed meanwhile, the body starts from the beginning. Observers and
    /// interceptors see each transfer as a separate call, with its own time limits. Use this only for requests that may
    /// be sent twice.
    case releasingConnection
}

/// Limits the number of concurrent tasks. Further tasks wait and start in order of priority; tasks of equal priority
/// start in order of arrival.
///
///     let limiter = ConcurrencyLimiter(maxConcurrent: 2)
///     for page in pages { agent.start(page, options: .init(limiter: limiter)) }
///
/// A task counts from the creation of its request until its response is available, even if the response comes from a
/// cache. A task that waits for other tasks (``StartOptions/after``) does not count. Several agents may share a
/// limiter. Thread-safe.
public final class ConcurrencyLimiter: Sendable {
    let permits: PermitQueue

    /// Creates a limiter for this number of tasks, at least one.
    public init(maxConcurrent: Int) {
        permits = PermitQueue(maxConcurrent, time: .system)
    }

    /// The number of waiting tasks.
    package var waitingCount: Int { permits.waitingCount }
}

/// Where a task calls its completion handlers and other listeners.
public enum Delivery: Sendable {
    /// On the thread that finished the work, without switching threads.
    case here
    /// On the main actor.
    case main
    /// On this queue, which may be concurrent.
    case queue(DispatchQueue)
    /// On this actor.
    case actor(any Actor)
    /// On this executor, such as ``Agent/executor``.
    case executor(any TaskExecutor)

    /// Runs `body` at this place in one uninterrupted call.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        switch self {
        case .here:
            body()
        case .main:
            await MainActor.run(body: body)
        case .queue(let queue):
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: body()) }
            }
        case .actor(let actor):
            await Self.run(body, on: actor)
        case .executor(let executor):
            await withTaskExecutorPreference(executor) { await Self.runOnExecutor(body) }
        }
    }

    private static func run<Result: Sendable>(
        _ body: @Sendable () -> Result, on actor: isolated any Actor
    ) -> Result {
        body()
    }

    @concurrent
    private static func runOnExecutor<Result: Sendable>(_ body: @Sendable () -> Result) async -> Result {
        body()
    }
}

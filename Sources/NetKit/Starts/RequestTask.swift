/// A snapshot of a request task: a request, a batch or a chain that was started in the background.
public struct RequestTask: Sendable, Identifiable {
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
        /// The task is being prepared, waits until it may start, or is paused before it is sent.
        case waiting
        /// The task is in flight.
        case running
        /// The task has ended, and its listeners are being notified.
        case stopping
        /// The task has ended, and its listeners were notified.
        case stopped
    }

    /// The task's number, unique in the process. The task's ``Call`` and ``Event``s have the same number.
    public let id: UInt64
    /// The kind of the task.
    public let kind: Kind
    /// The number that the caller gave the task; 0 by default.
    public internal(set) var tag = 0
    /// The values that the caller stored with the task.
    public internal(set) var userInfo: [String: any Sendable] = [:]
    /// The name of the type that describes the task, such as an endpoint. Empty for a plain ``Request``.
    public internal(set) var name = ""
    /// The request's method. `nil` until the request is created, and for batches and chains.
    public internal(set) var method: Method?
    /// The request's URL before redirects. `nil` until the request is created, and for batches and chains.
    public internal(set) var url: String?
    /// The number of parts of a batch. 0 for requests, and for chains, whose steps determine how many requests they send.
    public internal(set) var partCount = 0
    /// The state of the task.
    public internal(set) var state = State.waiting
    /// Whether the caller has paused the task.
    public internal(set) var isPaused = false
    /// Whether the task was cancelled before its outcome was reported.
    public internal(set) var isCancelled = false
    /// The control of the task, which is set when a snapshot is taken.
    var control: TaskControl?

    /// A handle of the task, or `nil` if the task has ended. The handle has no value, but waits for the end of the task
    /// and throws its error.
    public var handle: CallHandle<Void>? {
        guard let control, control.run.state != .stopped else { return nil }
        let promise = Promise<Void>()
        let report = { @Sendable in promise.fulfil(control.failure.map { .failure($0) } ?? .success(())) }
        if !control.transferHandle.onEndReported(report) {
            report()
        }
        return CallHandle(control: control, promise: promise)
    }

    init(id: UInt64 = CallNumber.next(), kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

/// A handle for a request task. The task continues if the handle is released. Thread-safe.
public struct CallHandle<Value: Sendable>: Sendable, Identifiable {
    let control: TaskControl
    let promise: Promise<Value>

    /// The task's number, unique in the process.
    public var id: UInt64 { control.id }

    /// The task and its state.
    public var task: RequestTask { control.run }

    /// The task's state.
    public var state: RequestTask.State { control.run.state }

    /// Whether the task was cancelled before its outcome was reported.
    public var isCancelled: Bool { control.isCancelled }

    /// Cancels the task. This has no effect after the task has begun to report its outcome.
    ///
    /// If you call this where the task delivers (see ``Delivery``), no closure or delegate receives the outcome after
    /// this function returns.
    /// - Returns: false if the task has ended.
    @discardableResult
    public func cancel() -> Bool {
        control.cancel()
    }

    /// Pauses the task until ``resume()``.
    ///
    /// If the request is not yet sent, it is not sent before that. If a transfer is in flight, its body is paused in
    /// both directions; nothing is lost or sent twice. The limits of total and waiting time continue to count.
    /// ``StartOptions/pausing`` can change this behaviour.
    public func pause() {
        control.setPaused(true)
    }

    /// Resumes the task after ``pause()``.
    public func resume() {
        control.setPaused(false)
    }

    /// Changes the task's priority among waiting tasks. The new priority also applies when the request is sent again.
    public func setPriority(_ priority: Priority) {
        control.setPriority(priority)
    }

    /// The task's value, available after all other listeners were notified. A cancelled task throws
    /// ``NetError/Code/cancelled``.
    ///
    /// If the waiting Swift task is cancelled, the wait ends with the same error code, but the request task continues.
    public var value: Value {
        get async throws(NetError) { try await promise.value() }
    }

    /// The task's outcome, available after all other listeners were notified; see ``value``.
    public var result: Result<Value, NetError> {
        get async {
            do throws(NetError) {
                return .success(try await value)
            } catch {
                return .failure(error)
            }
        }
    }
}

/// A handle for a request task. The task continues if the handle is released. Thread-safe.
public struct CallHandle<Value: Sendable>: Sendable, Identifiable {
    let control: RunControl
    let promise: Promise<Value>

    /// The task's number, unique in the process.
    public var id: UInt64 { control.id }

    /// The task and its state.
    public var run: Run { control.run }

    /// The task's state.
    public var state: Run.State { control.run.state }

    /// Whether the task was cancelled before its outcome was reported.
    public var isCancelled: Bool { control.isCancelled }

    /// Cancels the task. It has no effect while the outcome is being reported, or later.
    ///
    /// Call it where the task delivers to ensure that no closure or delegate receives the outcome after it returns.
    public func cancel() {
        control.cancel()
    }

    /// Pauses the task until ``resume()``. A request that is not yet sent stays unsent; the body of a transfer is
    /// paused in both directions. Nothing is lost or sent twice. Limits of total and waiting time continue to count.
    public func pause() {
        control.setPaused(true)
    }

    /// Resumes the task after ``pause()``.
    public func resume() {
        control.setPaused(false)
    }

    /// Changes the task's priority among those that wait for a slot, now and when it is sent again.
    public func setPriority(_ priority: Priority) {
        control.setPriority(priority)
    }

    /// The task's value, available after all other listeners were notified. A cancelled task throws
    /// ``NetError/Code/cancelled``.
    ///
    /// Cancelling the Swift task that waits ends the wait with the same code; it does not cancel the request task.
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

/// A handle for a task that was started elsewhere, see ``Agent/adopt(_:)``. The task continues if the handle is
/// released. Thread-safe.
public struct AdoptedRun: Sendable, Identifiable {
    let control: RunControl

    /// The task's number, unique in the process.
    public var id: UInt64 { control.id }

    /// The task and its state.
    public var run: Run { control.run }

    /// Cancels the task. Returns false if it has already ended.
    @discardableResult
    public func cancel() -> Bool {
        control.cancel()
    }

    /// Pauses the task until ``resume()``, as ``CallHandle/pause()`` does.
    public func pause() {
        control.setPaused(true)
    }

    /// Resumes the task.
    public func resume() {
        control.setPaused(false)
    }

    /// Changes the task's priority among those that wait for a slot.
    public func setPriority(_ priority: Priority) {
        control.setPriority(priority)
    }

    /// Returns when the task has ended and all its listeners were notified. Throws ``NetError/Code/cancelled`` if the
    /// current Swift task is cancelled first.
    public func waitForEnd() async throws(NetError) {
        let promise = Promise<Void>()
        if control.ticket.whenTold({ promise.fulfil(.success(())) }) {
            try await promise.value()
        }
    }
}

/// The hold on something that was started elsewhere, see ``Agent/adopt(_:)``. It goes on whether anybody holds this or
/// not. Thread-safe.
public struct AdoptedRun: Sendable, Identifiable {
    let control: RunControl

    /// Its number, unique in the process.
    public var id: UInt64 { control.id }

    /// What was started, and how far it is.
    public var run: Run { control.run }

    /// Asks for its end; false when it is too late for that.
    @discardableResult
    public func cancel() -> Bool {
        control.cancel()
    }

    /// Holds it up until ``resume()``, as ``CallHandle/pause()``.
    public func pause() {
        control.setPaused(true)
    }

    /// Lets it go on.
    public func resume() {
        control.setPaused(false)
    }

    /// Moves it among those that wait for a slot.
    public func setPriority(_ priority: Priority) {
        control.setPriority(priority)
    }

    /// Returns when it is over and everybody was told; throws ``NetError/Code/cancelled`` when the task is cancelled
    /// first.
    public func waitForEnd() async throws(NetError) {
        let promise = Promise<Void>()
        if control.ticket.whenTold({ promise.fulfil(.success(())) }) {
            try await promise.value()
        }
    }
}

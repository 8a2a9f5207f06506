/// The hold on something that was started. It goes on whether anybody holds this or not. Thread-safe.
public struct CallHandle<Value: Sendable>: Sendable, Identifiable {
    let control: RunControl
    let promise: Promise<Value>

    /// Its number, unique in the process.
    public var id: UInt64 { control.id }

    /// What was started, and how far it is.
    public var run: Run { control.run }

    /// How far it is.
    public var state: Run.State { control.run.state }

    /// Whether it was cancelled in time: before anybody was told how it ended.
    public var isCancelled: Bool { control.isCancelled }

    /// Asks for its end; nothing happens when its outcome is being told, or was.
    ///
    /// Called where the start delivers, it is certain that no closure and no delegate hears of the outcome after it.
    public func cancel() {
        control.cancel()
    }

    /// Holds it up until ``resume()``: what was not sent is not, and a transfer's body rests both ways. Nothing is lost
    /// or repeated. Limits of total and waiting time go on.
    public func pause() {
        control.setPaused(true)
    }

    /// Lets it go on after ``pause()``.
    public func resume() {
        control.setPaused(false)
    }

    /// Moves it among those that wait for a slot, now and when it is sent again.
    public func setPriority(_ priority: Priority) {
        control.setPriority(priority)
    }

    /// What came of it, after everybody else was told; a cancelled start throws ``NetError/Code/cancelled``.
    ///
    /// Cancelling the task that waits ends the wait with the same code, and not the start.
    public var value: Value {
        get async throws(NetError) { try await promise.value() }
    }

    /// What came of it, after everybody else was told; see ``value``.
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

/// The sending task's context for producing a transfer's body.
///
/// The event loop thread starts the producers and has neither a priority nor task-local values. A task that the sender
/// creates passes both on. It ends when the last reference to this object is released.
final class BodyOwner: Sendable {
    private let beginnings: AsyncStream<@Sendable () -> Void>.Continuation

    /// Created in the sending task.
    init() {
        let (stream, beginnings) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        self.beginnings = beginnings
        Task {
            for await begin in stream {
                begin()
            }
        }
    }

    deinit {
        beginnings.finish()
    }

    /// Runs a closure that starts a task, in a task of the sender.
    func begin(_ start: @escaping @Sendable () -> Void) {
        beginnings.yield(start)
    }
}

/// On behalf of whom a transfer's body is made.
///
/// The loop thread begins the makers, and has neither a priority nor task-local values: a task that the sender leaves
/// behind passes both on. It ends with the last reference to this.
final class BodyOwner: Sendable {
    private let beginnings: AsyncStream<@Sendable () -> Void>.Continuation

    /// Made in the task that sends.
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

    /// Does what begins a task, from a task of the sender's.
    func begin(_ start: @escaping @Sendable () -> Void) {
        beginnings.yield(start)
    }
}

/// The total time of a call that several transfers, and the app's callbacks between them, share.
struct TimeBudget: Sendable {
    private let total: Duration?
    private let begun = ContinuousClock.now

    /// - Parameter total: `nil` is no limit.
    init(_ total: Duration?) {
        self.total = total
    }

    /// Returns the remaining time for the next transfer.
    func left(behind what: String) throws(NetError) -> Duration? {
        guard let total else { return nil }
        let elapsed = ContinuousClock.now - begun
        guard elapsed < total else { throw timedOut(what, total) }
        return total - elapsed
    }

    /// Returns the result of a callback of the app. When the time ends first, its task is cancelled and waited for, as
    /// with any task that works for another.
    func answer<Answer: Sendable>(
        of who: String, _ ask: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        guard let total, let left = try left(behind: who) else { return try await ask() }
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await ask() }
            group.addTask {
                try await TimeSource.system.sleep(left)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let answer = first else { throw timedOut(who, total) }
            try Task.checkCancellation()  // The callback may have returned because of it.
            return answer
        }
    }

    private func timedOut(_ what: String, _ total: Duration) -> NetError {
        NetError(.totalTimedOut, "\(what) took longer than \(total)")
    }
}

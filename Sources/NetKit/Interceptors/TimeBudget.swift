/// The whole time of a call, where several transfers share it, and what the app is asked between them.
struct TimeBudget: Sendable {
    private let total: Duration?
    private let begun = ContinuousClock.now

    /// - Parameter total: nil is no limit.
    init(_ total: Duration?) {
        self.total = total
    }

    /// What is left for the next transfer.
    func left(behind what: String) throws(NetError) -> Duration? {
        guard let total else { return nil }
        let elapsed = ContinuousClock.now - begun
        guard elapsed < total else { throw timedOut(what, total) }
        return total - elapsed
    }

    /// What the app answers. When the time is over before, its task is cancelled and waited for, as is any task that
    /// works for another.
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
            try Task.checkCancellation()  // Whoever is asked may have answered because of it.
            return answer
        }
    }

    private func timedOut(_ what: String, _ total: Duration) -> NetError {
        NetError(.totalTimedOut, "\(what) took longer than \(total)")
    }
}

import NetKit

extension Agent {
    /// Creates an agent from the default configuration, changed by `change`.
    convenience init(configured change: (inout Configuration) -> Void) {
        var configuration = Configuration()
        change(&configuration)
        self.init(configuration)
    }

    /// Waits until this many of the agent's transfers are queued.
    func waitUntilWaiting(_ count: Int) async throws {
        while transfers().count(where: { $0.state == .waiting }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until the agent has no transfer left, which may be a moment after the last connection was closed.
    func waitUntilNothingIsInFlight() async throws {
        while !transfers().isEmpty {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until this many request tasks report that they are queued, which may be a moment after their transfers
    /// are.
    func waitUntilRunsWait(_ count: Int) async throws {
        while requestTasks().count(where: { $0.state == .waiting }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

import NetKit

extension Agent {
    /// An agent whose configuration differs from the default one in what `change` says.
    convenience init(configured change: (inout Configuration) -> Void) {
        var configuration = Configuration()
        change(&configuration)
        self.init(configuration)
    }

    /// Waits until this many of the agent's transfers wait for a slot.
    func waitUntilWaiting(_ count: Int) async throws {
        while transfers().count(where: { $0.state == .waiting }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until none of the agent's transfers is left, which may be a moment after the last connection was closed.
    func waitUntilNothingIsUnderWay() async throws {
        while !transfers().isEmpty {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until so many starts say that they wait: a moment after their transfers do.
    func waitUntilRunsWait(_ count: Int) async throws {
        while runs().count(where: { $0.state == .waiting }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

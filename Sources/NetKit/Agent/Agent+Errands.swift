extension Agent: RequestSender {}

extension Agent {
    /// Runs a batch, a chain, a graph of steps, or a request of an endpoint, and returns its outcome.
    ///
    ///     let (user, cities) = try await agent.send(Batch(user, cities)).values
    ///
    /// Throws the errors of its parts; ``NetError/failedPart`` names the part that failed.
    public func send<Work: Errand>(_ errand: Work) async throws(NetError) -> Work.Outcome {
        try flights.begin()
        defer { flights.group.leave() }
        return try await flights.aboard { () async throws(NetError) in try await errand.run(through: self) }
    }
}

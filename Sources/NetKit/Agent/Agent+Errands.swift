extension Agent: RequestSender {}

extension Agent {
    /// Does an errand: a batch, a chain, a graph of steps, or what describes a request.
    ///
    ///     let (user, cities) = try await agent.send(Batch(user, cities)).values
    ///
    /// Throws what its parts throw; ``NetError/failedPart`` names the one that failed.
    public func send<Work: Errand>(_ errand: Work) async throws(NetError) -> Work.Outcome {
        try flights.begin()
        defer { flights.group.leave() }
        return try await flights.aboard { () async throws(NetError) in try await errand.run(through: self) }
    }
}

extension Agent {
    /// Sends the requests of a queue one after the other, in order, whenever there is a route. Returns when the task is
    /// cancelled or the agent is invalidated, and immediately if the queue is being drained already.
    ///
    /// A request stays in the queue, to be sent again later, after:
    /// - a temporary failure, or a status of 408, 429, 502, 503 and 504
    /// - an open circuit, or a cancelled transfer
    /// - a duplicate in flight (``Repeats``)
    /// - a cellular connection that it must not use
    /// - exhausted descriptors or memory
    /// - a credential refresh that failed for one of these reasons
    ///
    /// Any other outcome removes it from the queue.
    public func drain(_ queue: OfflineQueue) async {
        await queue.drain { request throws(NetError) in
            try await self.send(request)
        }
    }
}

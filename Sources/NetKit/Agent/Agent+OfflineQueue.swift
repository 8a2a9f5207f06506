extension Agent {
    /// Sends what a queue keeps, one after the other and in order, whenever there is a way, until the task is cancelled
    /// or the agent is invalidated.
    ///
    /// A passing failure, or one of the statuses 408, 429, 502, 503 and 504, leaves a request where it is, to be tried
    /// again after a while; so does what says nothing of the request: a circuit that is open, a transfer that was
    /// cancelled, one like it that is under way (``Repeats``), a modem that may not be used, descriptors or memory that
    /// ran out, credentials that could not be refreshed for such a reason. Anything else ends it. When the queue is
    /// being drained already this returns at once.
    public func drain(_ queue: OfflineQueue) async {
        await queue.drain { request throws(NetError) in
            try await self.send(request)
        }
    }
}

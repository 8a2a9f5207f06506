extension Agent {
    /// Sends the uploads of a queue, several concurrently. Returns when the task is cancelled or the agent is
    /// invalidated, and immediately if the queue is being sent already.
    ///
    /// An upload stays in the queue, to be sent again later, after:
    /// - a temporary failure, or a status of 408, 429, 502, 503 and 504
    /// - an open circuit, or a cancelled transfer
    /// - a duplicate in flight (``Repeats``)
    /// - a cellular connection that it must not use
    /// - exhausted descriptors or memory
    /// - a credential refresh that failed for one of these reasons
    ///
    /// Any other outcome removes it from the queue.
    /// - Parameters:
    ///   - queue: the queue.
    ///   - untilEmpty: whether to return when the queue is empty.
    public func upload(_ queue: UploadQueue, untilEmpty: Bool = false) async {
        await queue.drain(untilEmpty: untilEmpty) { request throws(NetError) in
            try await self.send(request)
        }
    }
}

extension Agent {
    /// Sends what a queue keeps, several at once, until the task is cancelled or the agent is invalidated.
    ///
    /// A passing failure, or one of the statuses 408, 429, 502, 503 and 504, leaves an upload where it is, to be tried
    /// again after a while; so does what says nothing of the upload: a circuit that is open, a transfer that was
    /// cancelled, one like it that is under way (``Repeats``), a modem that may not be used, descriptors or memory that
    /// ran out, credentials that could not be refreshed for such a reason. Anything else ends it. When the queue is
    /// being sent already this returns at once.
    /// - Parameters:
    ///   - queue: what is sent.
    ///   - untilEmpty: returns when nothing is left.
    public func upload(_ queue: UploadQueue, untilEmpty: Bool = false) async {
        await queue.drain(untilEmpty: untilEmpty) { request throws(NetError) in
            try await self.send(request)
        }
    }
}

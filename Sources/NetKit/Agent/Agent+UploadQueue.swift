extension Agent {
    /// Sends what a queue keeps, several at once, until the task is cancelled.
    ///
    /// A passing failure, or one of the statuses 408, 429, 502, 503 and 504, leaves an upload where it is, to be tried
    /// again after a while; a cancelled one is tried again, too. Anything else ends it. When the queue is being sent
    /// already this returns at once.
    /// - Parameters:
    ///   - queue: what is sent.
    ///   - untilEmpty: returns when nothing is left.
    public func upload(_ queue: UploadQueue, untilEmpty: Bool = false) async {
        await queue.drain(untilEmpty: untilEmpty) { request throws(NetError) in
            try await self.send(request)
        }
    }
}

extension Agent {
    /// Sends what a queue keeps, one after the other and in order, whenever there is a way, until the task is cancelled.
    ///
    /// A passing failure, or one of the statuses 408, 429, 502, 503 and 504, leaves a request where it is, to be tried
    /// again after a while; anything else ends it. When the queue is being drained already this returns at once.
    public func drain(_ queue: OfflineQueue) async {
        await queue.drain { request throws(NetError) in
            try await self.send(request)
        }
    }
}

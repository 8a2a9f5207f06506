import NetKit

extension Agent {
    /// Waits until one of the agent's transfers is paused, or none is left.
    func waitUntilPausedOrOver() async throws {
        while true {
            let transfers = transfers()
            if transfers.isEmpty || transfers.contains(where: \.isPaused) {
                return
            }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

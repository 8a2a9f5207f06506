extension Agent {
    /// Waits for earlier request tasks, or cancels them, so that the order of starting counts. They run concurrently
    /// and could otherwise overtake each other before ``Repeats``.
    func takeTurn(_ control: RunControl, _ request: Request<some Sendable>) async throws(NetError) {
        guard let policy = repeatPolicy(of: request), policy == .ignore || policy == .cancelPrevious else { return }
        for earlier in registry.earlier(than: control) {
            // Waiting for a request that turns out to be different is harmless; cancelling it is not. The later arrival
            // is the new request, even if it was created first.
            guard earlier.mayRepeat(control, isPerhaps: policy == .ignore),
                !Waits.isWaiting(earlier.id, for: control.id)
            else { continue }
            if earlier.request.flatMap({ repeatPolicy(of: $0) }) == .allow {
                continue
            }
            if policy == .cancelPrevious {
                earlier.cancel()
            } else {
                try await earlier.waitForEntry()
            }
        }
    }

    /// Returns the action for its duplicates, or `nil` if no ``Repeats`` handles it.
    private func repeatPolicy(of request: Request<some Sendable>) -> RepeatPolicy? {
        let own = request.hasNotes ? (request.service?.configuration.interceptors ?? []) + request.interceptors : []
        guard let repeats = (configuration.interceptors + own).lazy.compactMap({ $0 as? Repeats }).first else {
            return nil
        }
        return request.repeatPolicy ?? repeats.policy
    }
}

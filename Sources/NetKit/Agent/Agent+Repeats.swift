extension Agent {
    /// Starts run side by side from the beginning on, and might overtake each other on their way to ``Repeats``: here
    /// the order in which they were started is made to count.
    func takeTurn(_ control: RunControl, _ request: Request<some Sendable>) async throws(NetError) {
        guard let policy = repeatPolicy(of: request), policy == .ignore || policy == .cancelPrevious else { return }
        for earlier in registry.earlier(than: control) {
            // To wait for one that turns out to be another does no harm; to cancel it would. One that comes after this
            // one is the later one, whichever was made first.
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

    /// What becomes of it while the same one is under way; nil where no ``Repeats`` looks.
    private func repeatPolicy(of request: Request<some Sendable>) -> RepeatPolicy? {
        let own = request.hasNotes ? (request.service?.configuration.interceptors ?? []) + request.interceptors : []
        guard let repeats = (configuration.interceptors + own).lazy.compactMap({ $0 as? Repeats }).first else {
            return nil
        }
        return request.repeatPolicy ?? repeats.policy
    }
}

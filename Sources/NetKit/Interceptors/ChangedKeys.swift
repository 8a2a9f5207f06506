/// Which keys a request that changes something took out of reach, and in which order: what was asked for before that may
/// tell of what was there before it, and is not stored behind it (RFC 9111, 4.4). Thread-safe.
final class ChangedKeys: Sendable {
    private struct State: Sendable {
        var count: UInt64 = 0
        var changes: [CacheKey: UInt64] = [:]
        // What was asked for before this counts as changed, whatever it is.
        var forgotten: UInt64 = 0
    }

    /// As many as are known one by one.
    private static let maximumKeys = 1024
    private let state = Lock(State())

    /// Now, as a number that each change makes larger.
    var now: UInt64 { state.withLock { $0.count } }

    /// What stands under a key is changed.
    func add(_ key: CacheKey) {
        state.withLock { state in
            if state.changes.count >= Self.maximumKeys {
                state.changes = [:]
                state.forgotten = state.count
            }
            state.count += 1
            state.changes[key] = state.count
        }
    }

    /// Whether nothing has changed under a key since a moment of ``now``.
    func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
        state.withLock { state in
            moment >= state.forgotten && state.changes[key].map { $0 <= moment } ?? true
        }
    }
}

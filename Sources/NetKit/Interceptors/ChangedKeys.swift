/// In which order what stands under keys was asked for and changed: an answer that was asked for before a change, or
/// before the answer that is stored, may tell of what was there before it, and is not stored behind it (RFC 9111, 4 and
/// 4.4). Thread-safe.
final class ChangedKeys: Sendable {
    private struct State: Sendable {
        var count: UInt64 = 0
        var recent: [CacheKey: UInt64] = [:]
        var older: [CacheKey: UInt64] = [:]
        /// When `recent` was begun.
        var turned: UInt64 = 0
        /// What was asked for before this counts as changed, whatever it is: nobody knows any more.
        var forgotten: UInt64 = 0

        func last(_ key: CacheKey) -> UInt64 { max(recent[key] ?? 0, older[key] ?? 0) }

        mutating func next() -> UInt64 {
            count += 1
            return count
        }

        mutating func note(_ key: CacheKey, _ moment: UInt64) {
            if recent.count >= ChangedKeys.maximumKeys {
                (older, recent) = (recent, [:])
                (forgotten, turned) = (turned, count)
            }
            recent[key] = max(last(key), moment)
        }

        func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
            moment >= forgotten && last(key) <= moment
        }
    }

    /// As many as are known one by one, and up to twice as many.
    private static let maximumKeys = 1024
    private let state = Lock(State())

    /// Something is asked for: the moment, as a number that grows.
    func begin() -> UInt64 { state.withLock { $0.next() } }

    /// What stands under a key is changed.
    func add(_ key: CacheKey) {
        state.withLock { $0.note(key, $0.next()) }
    }

    /// Takes a key for what was asked for at a moment; false where something later has it.
    func take(_ key: CacheKey, for moment: UInt64) -> Bool {
        state.withLock { state in
            guard state.isUnchanged(key, since: moment) else { return false }
            state.note(key, moment)
            return true
        }
    }

    /// Whether nothing has changed under a key since a moment, and nothing later is stored there.
    func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
        state.withLock { $0.isUnchanged(key, since: moment) }
    }
}

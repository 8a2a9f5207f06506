/// The order of requests and changes of cache keys. A response is not stored if its request was sent before a change,
/// or before the request of the stored response. It may describe an older state (RFC 9111, 4 and 4.4). Thread-safe.
final class ChangedKeys: Sendable {
    private struct State: Sendable {
        var count: UInt64 = 0
        var recent: [CacheKey: UInt64] = [:]
        var older: [CacheKey: UInt64] = [:]
        /// When `recent` was started.
        var turned: UInt64 = 0
        /// Requests before this moment count as changed, for any key: the record is lost.
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

    /// The number of keys that are recorded individually; up to twice as many are kept.
    private static let maximumKeys = 1024
    private let state = Lock(State())

    /// Records the start of a request. Returns the moment as an increasing number.
    func begin() -> UInt64 { state.withLock { $0.next() } }

    /// Records a change of a key.
    func add(_ key: CacheKey) {
        state.withLock { $0.note(key, $0.next()) }
    }

    /// Claims a key for a request of a moment. Returns false if a later one has it.
    func take(_ key: CacheKey, for moment: UInt64) -> Bool {
        state.withLock { state in
            guard state.isUnchanged(key, since: moment) else { return false }
            state.note(key, moment)
            return true
        }
    }

    /// Returns true if nothing has changed under a key since a moment, and nothing later is stored there.
    func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
        state.withLock { $0.isUnchanged(key, since: moment) }
    }
}

/// Work of a cache that continues after the caller has received its response: writes and refreshes.
final class BackgroundWork: Sendable {
    private struct State: Sendable {
        var runningCount = 0
        var names: Set<CacheKey> = []
        /// The running writes, by key.
        var writes: [CacheKey: [Promise<Void>]] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    /// Starts work.
    ///
    /// - Parameter name: if work with the same name is running, this function does nothing.
    func begin(_ name: CacheKey? = nil, _ work: @escaping @Sendable () async -> Void) {
        let isNew = state.withLock { state in
            if let name, !state.names.insert(name).inserted {
                return false
            }
            state.runningCount += 1
            return true
        }
        guard isNew else { return }
        Task {
            await work()
            end(name)
        }
    }

    /// Starts a write to the store. Lookups of its key wait for the write.
    func begin(writing key: CacheKey?, _ work: @escaping @Sendable () async -> Void) {
        guard let key else { return begin(nil, work) }
        let written = Promise<Void>()
        state.withLock { $0.writes[key, default: []].append(written) }
        begin { [self] in
            await Self.$writing.withValue(Self.writing.union([key])) { await work() }
            state.withLock { state in
                state.writes[key]?.removeAll { $0 === written }
                if state.writes[key]?.isEmpty == true {
                    state.writes[key] = nil
                }
            }
            written.fulfil(.success(()))
        }
    }

    /// Waits until the running writes of a key have ended, the call's time is over, or the task is cancelled. A task
    /// that writes the key itself does not wait.
    func waitForWrites(of key: CacheKey, within budget: TimeBudget) async {
        guard let writes = state.withLock({ $0.writes[key] }), !Self.writing.contains(key) else { return }
        for write in writes {
            _ = try? await budget.value(of: write, "writing to the cache")
        }
    }

    /// The keys that the current task is writing.
    @TaskLocal private static var writing: Set<CacheKey> = []

    private func end(_ name: CacheKey?) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            if let name {
                state.names.remove(name)
            }
            state.runningCount -= 1
            guard state.runningCount == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Waits until no work is running.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.runningCount > 0 {
                    state.waiting.append(continuation)
                }
                return state.runningCount == 0
            }
            if isIdle {
                continuation.resume()
            }
        }
    }
}

/// Records the order of requests, invalidations and stored responses for each cache key.
///
/// A response may describe an old state if its request was sent before the key was invalidated, or before the request
/// of the stored response. Then it must not be stored (RFC 9111, 4 and 4.4).
///
/// A moment is a number that increases with each request and each invalidation. Thread-safe.
final class ChangedKeys: Sendable {
    private struct State: Sendable {
        var count: UInt64 = 0
        var recent: [CacheKey: UInt64] = [:]
        var older: [CacheKey: UInt64] = [:]
        /// The moment at which `recent` was empty.
        var recentStart: UInt64 = 0
        /// The moment up to which records are lost. For requests before it, every key counts as changed.
        var lostUntil: UInt64 = 0

        func last(_ key: CacheKey) -> UInt64 { max(recent[key] ?? 0, older[key] ?? 0) }

        mutating func next() -> UInt64 {
            count += 1
            return count
        }

        mutating func record(_ key: CacheKey, _ moment: UInt64) {
            if recent.count >= ChangedKeys.maximumKeys {
                (older, recent) = (recent, [:])
                (lostUntil, recentStart) = (recentStart, count)
            }
            recent[key] = max(last(key), moment)
        }

        func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
            moment >= lostUntil && last(key) <= moment
        }
    }

    /// The number of keys in each of the two tables. When one is full, it replaces the older one.
    private static let maximumKeys = 1024
    private let state = Lock(State())

    /// Records the start of a request and returns its moment.
    func begin() -> UInt64 { state.withLock { $0.next() } }

    /// Records that a key was invalidated.
    func add(_ key: CacheKey) {
        state.withLock { $0.record(key, $0.next()) }
    }

    /// Claims a key for the response to a request that was sent at this moment. Returns false if the key was
    /// invalidated, or claimed for a later request.
    func claim(_ key: CacheKey, for moment: UInt64) -> Bool {
        state.withLock { state in
            guard state.isUnchanged(key, since: moment) else { return false }
            state.record(key, moment)
            return true
        }
    }

    /// Returns true if a key was neither invalidated nor claimed for a later request since a moment.
    func isUnchanged(_ key: CacheKey, since moment: UInt64) -> Bool {
        state.withLock { $0.isUnchanged(key, since: moment) }
    }
}

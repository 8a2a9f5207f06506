/// Work that continues after its caller has the response. It can be waited for.
final class BackgroundWork: Sendable {
    private struct State: Sendable {
        var underWay = 0
        var names: Set<CacheKey> = []
        /// The running writes, by key.
        var writes: [CacheKey: [Promise<Void>]] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    /// Starts work.
    ///
    /// - Parameter name: while work with this name is running, no more is started.
    func begin(_ name: CacheKey? = nil, _ work: @escaping @Sendable () async -> Void) {
        let isNew = state.withLock { state in
            if let name, !state.names.insert(name).inserted {
                return false
            }
            state.underWay += 1
            return true
        }
        guard isNew else { return }
        Task {
            await work()
            end(name)
        }
    }

    /// Starts a write; lookups of its key wait for it.
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

    /// Waits until the running writes of a key have ended, the call's time is over, or the task is
    /// cancelled. A write does not wait for itself.
    func waitForWrites(of key: CacheKey, within budget: TimeBudget) async {
        guard let writes = state.withLock({ $0.writes[key] }), !Self.writing.contains(key) else { return }
        for write in writes {
            _ = try? await budget.value(of: write, "the write of the cache")
        }
    }

    /// The keys that the current task is writing.
    @TaskLocal private static var writing: Set<CacheKey> = []

    private func end(_ name: CacheKey?) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            if let name {
                state.names.remove(name)
            }
            state.underWay -= 1
            guard state.underWay == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Returns when no work is running.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.underWay > 0 {
                    state.waiting.append(continuation)
                }
                return state.underWay == 0
            }
            if isOver {
                continuation.resume()
            }
        }
    }
}

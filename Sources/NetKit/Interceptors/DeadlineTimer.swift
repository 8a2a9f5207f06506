/// Calls back when a time is over. One task sleeps for all of an agent's calls.
///
/// A cancelled `Task.sleep` keeps its timer until it is due. A sleeping task for each call would keep memory for as long
/// as ``Limits/total`` after the call. Thread-safe.
final class DeadlineTimer: Sendable {
    typealias Moment = ContinuousClock.Instant

    private struct State: Sendable {
        var entries: [UInt64: (due: Moment, ring: @Sendable () -> Void)] = [:]
        var last: UInt64 = 0
        /// When the sleeping task wakes up; nil while none sleeps.
        var wake: Moment?
        var sleeper: Task<Void, Never>?
        /// Distinguishes the sleeping task from the tasks that it replaced.
        var generation: UInt64 = 0
    }

    // Bounds how long a cancelled sleep keeps its timer.
    private static let longestSleep = Duration.seconds(2)

    private let clock = ContinuousClock()
    private let state = Lock(State())

    /// Calls back once, after a time, from a task of its own: the closure must not block. Returns a number to remove it by.
    func add(after time: Duration, _ ring: @escaping @Sendable () -> Void) -> UInt64 {
        let now = clock.now
        let due = now + min(time, .seconds(1 << 31))
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = (due, ring)
            if state.wake.map({ due < $0 }) ?? true {
                sleep(until: min(due, now + Self.longestSleep), &state)
            }
            return state.last
        }
    }

    func remove(_ number: UInt64) {
        state.withLock { _ = $0.entries.removeValue(forKey: number) }
    }

    private func sleep(until wake: Moment, _ state: inout State) {
        state.generation += 1
        state.wake = wake
        state.sleeper?.cancel()
        // A task that inherits nothing: it outlives the call that began it.
        state.sleeper = Task.detached { [self, clock, generation = state.generation] in
            var next: Moment? = wake
            while let moment = next {
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                next = ring(generation)
            }
        }
    }

    /// Calls back for what is due; returns when to wake up next, or nil when the task has nothing to wait for.
    private func ring(_ generation: UInt64) -> Moment? {
        let now = clock.now
        let (due, next) = state.withLock { state -> ([@Sendable () -> Void], Moment?) in
            guard state.generation == generation else { return ([], nil) }
            let due = state.entries.filter { $0.value.due <= now }
            for number in due.keys {
                state.entries[number] = nil
            }
            state.wake = state.entries.values.map(\.due).min().map { min($0, now + Self.longestSleep) }
            if state.wake == nil {
                state.sleeper = nil
            }
            return (due.values.map(\.ring), state.wake)
        }
        due.forEach { $0() }
        return next
    }
}

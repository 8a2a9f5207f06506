#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clocks and the sleep function that interceptors and observers use. Tests can replace them by virtual time.
public struct TimeSource: Sendable {
    /// Returns the monotonic time since an arbitrary moment.
    public var now: @Sendable () -> Duration
    /// Returns the seconds since 1 January 1970, UTC.
    public var epochSeconds: @Sendable () -> Double
    /// Sleeps for this time. Throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates a source from closures.
    public init(
        now: @escaping @Sendable () -> Duration, epochSeconds: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.epochSeconds = epochSeconds
        self.sleep = sleep
    }

    // Longer than any real wait. A clock's time would overflow with a much longer one, and Dispatch timers beyond 2^63
    // nanoseconds never fire.
    private static let longestSleep = Duration.seconds(1 << 31)

    /// The system's clocks.
    public static var system: TimeSource {
        let clock = ContinuousClock()
        let origin = clock.now
        return TimeSource(
            now: { clock.now - origin }, epochSeconds: { Date().timeIntervalSince1970 },
            sleep: { try await clock.sleep(for: min($0, longestSleep)) })
    }

    /// Notifies the call's observers and sleeps. Throws ``NetError/Code/timeout`` if the call's time ends first.
    package func wait(
        _ time: Duration, for reason: Event.WaitReason, in call: Call
    ) async throws(NetError) {
        let activity =
            switch reason {
            case .retry: "waiting before the next attempt"
            case .rateLimit: "waiting for the rate limit"
            case .connectivity: "waiting for the network"
            }
        let timeLeft = try call.budget.remaining(for: activity) ?? time
        try await call.waiting(time, for: reason, activity) { () async throws(NetError) in
            do {
                try Task.checkCancellation()
                try await sleep(min(time, timeLeft))
                try Task.checkCancellation()
            } catch {
                throw error as? NetError
                    ?? NetError(.cancelled, "the task was cancelled while it waited", underlying: error)
            }
            if timeLeft < time {
                throw call.budget.timedOut(activity)
            }
        }
    }

    /// Returns the time until a moment in seconds since 1970, or zero if it has passed. The result is capped, because
    /// the moment may come from a file and be any number.
    package func left(until moment: Double) -> Duration {
        .seconds(min(max(0, moment - epochSeconds()), 1e10))
    }
}

extension Call {
    /// Notifies the observers of a wait and runs it. If the call's time ends meanwhile, the error names the activity.
    package func waiting(
        _ limit: Duration, for reason: Event.WaitReason, _ activity: String,
        _ wait: () async throws(NetError) -> Void
    ) async throws(NetError) {
        watch?.report(.waiting(limit, reason), of: request)
        let endActivity = budget.begin(activity)
        defer { endActivity?() }
        try await wait()
    }
}

/// Calls closures after a time. All calls of an agent share one sleeping task.
///
/// `Task.sleep` keeps its memory until its time is over, even if it is cancelled. If each call had a sleeping task, its
/// memory would be kept for ``Limits/total`` after the end of the call. Thread-safe.
final class DeadlineTimer: Sendable {
    typealias Moment = ContinuousClock.Instant

    private struct State: Sendable {
        var entries: [UInt64: (due: Moment, action: @Sendable () -> Void)] = [:]
        var last: UInt64 = 0
        /// The time at which the sleeping task wakes up; `nil` if no task sleeps.
        var wake: Moment?
        var sleepingTask: Task<Void, Never>?
        /// Distinguishes the current sleeping task from earlier ones.
        var generation: UInt64 = 0
    }

    // Bounds how long a cancelled sleep keeps its memory.
    private static let longestSleep = Duration.seconds(2)

    private let clock = ContinuousClock()
    private let state = Lock(State())

    /// Calls a closure once after a time, from the timer's task. The closure must not block. Returns a number for
    /// ``remove(_:)``.
    func add(after time: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        let now = clock.now
        let due = now + min(time, .seconds(1 << 31))
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = (due, action)
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
        state.sleepingTask?.cancel()
        // Detached, because it may live longer than the call that starts it.
        state.sleepingTask = Task.detached { [self, clock, generation = state.generation] in
            var next: Moment? = wake
            while let moment = next {
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                next = callDueActions(generation)
            }
        }
    }

    /// Calls the closures whose time is over. Returns the next time to wake up, or `nil` if the task should end.
    private func callDueActions(_ generation: UInt64) -> Moment? {
        let now = clock.now
        let (due, next) = state.withLock { state -> ([@Sendable () -> Void], Moment?) in
            guard state.generation == generation else { return ([], nil) }
            let due = state.entries.filter { $0.value.due <= now }
            for number in due.keys {
                state.entries[number] = nil
            }
            state.wake = state.entries.values.map(\.due).min().map { min($0, now + Self.longestSleep) }
            if state.wake == nil {
                state.sleepingTask = nil
            }
            return (due.values.map(\.action), state.wake)
        }
        due.forEach { $0() }
        return next
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clocks and the sleep function of interceptors and observers: the system's, or virtual time in tests.
public struct TimeSource: Sendable {
    /// The monotonic time since an arbitrary moment.
    public var now: @Sendable () -> Duration
    /// Seconds since 1 January 1970, UTC.
    public var epochSeconds: @Sendable () -> Double
    /// Sleeps. Throws if the task is cancelled.
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

    // Longer than any real wait. A clock cannot add much more to its time, and Dispatch never fires beyond 2^63
    // nanoseconds.
    private static let longestSleep = Duration.seconds(1 << 31)

    /// The system's clocks.
    public static var system: TimeSource {
        let clock = ContinuousClock()
        let origin = clock.now
        return TimeSource(
            now: { clock.now - origin }, epochSeconds: { Date().timeIntervalSince1970 },
            sleep: { try await clock.sleep(for: min($0, longestSleep)) })
    }

    /// Returns the time until a moment in seconds since 1970, or zero after it. It is capped, because a file may
    /// contain any number.
    func left(until moment: Double) -> Duration {
        .seconds(min(max(0, moment - epochSeconds()), 1e10))
    }

    /// Sleeps, and notifies the call's observers. Throws ``NetError/Code/totalTimedOut`` if the call's time ends first.
    func wait(
        _ time: Duration, for reason: Event.WaitReason, in call: Call
    ) async throws(NetError) {
        let what =
            switch reason {
            case .retry: "the wait before the next try"
            case .rateLimit: "the wait for the rate limit"
            case .connectivity: "the wait for the network"
            }
        let left = try call.budget.left(behind: what) ?? time
        call.watch?.tell(.waiting(time, reason), of: call.request)
        let step = call.budget.begin(what)
        defer { step?() }
        do {
            try Task.checkCancellation()
            try await sleep(min(time, left))
            try Task.checkCancellation()
            if left < time {
                throw call.budget.timedOut(what)
            }
        } catch {
            throw error as? NetError
                ?? NetError(.cancelled, "the task was cancelled while it waited", underlying: error)
        }
    }
}

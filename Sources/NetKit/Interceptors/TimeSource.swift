#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where interceptors and observers get the time, and how they wait: the system's, or in tests one that costs none.
public struct TimeSource: Sendable {
    /// The time since a moment of its own, never going back.
    public var now: @Sendable () -> Duration
    /// Seconds since 1 January 1970, UTC.
    public var epochSeconds: @Sendable () -> Double
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// A source of one's own.
    public init(
        now: @escaping @Sendable () -> Duration, epochSeconds: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.epochSeconds = epochSeconds
        self.sleep = sleep
    }

    // Longer than anybody waits is as good as for ever. More a clock cannot add to its time, and of what lies beyond 2^63
    // nanoseconds Dispatch never lets go.
    private static let longestSleep = Duration.seconds(1 << 31)

    /// The system's clocks.
    public static var system: TimeSource {
        let clock = ContinuousClock()
        let origin = clock.now
        return TimeSource(
            now: { clock.now - origin }, epochSeconds: { Date().timeIntervalSince1970 },
            sleep: { try await clock.sleep(for: min($0, longestSleep)) })
    }

    /// The time until a moment, in seconds since 1970; none when it is over. A file may hold any number: what is longer
    /// than anybody waits is as good as for ever.
    func left(until moment: Double) -> Duration {
        .seconds(min(max(0, moment - epochSeconds()), 1e10))
    }

    /// Waits, and tells those who watch the call.
    func wait(
        _ time: Duration, for reason: Event.WaitReason, in call: Call
    ) async throws(NetError) {
        call.watch?.tell(.waiting(time, reason), of: call.request)
        do {
            try Task.checkCancellation()
            try await sleep(time)
            try Task.checkCancellation()
        } catch {
            throw error as? NetError
                ?? NetError(.cancelled, "the task was cancelled while it waited", underlying: error)
        }
    }
}

public import NetKit

/// A source of time for tests. Each wait ends immediately, is recorded, and advances the clock by its duration.
///
///     let time = StubTime()
///     configuration.interceptors = [Retry(time: time.source)]
///     …
///     #expect(time.waits.count == 2)
///
/// Thread-safe.
public final class StubTime: Sendable {
    private struct State: Sendable {
        var now: Duration
        var waits: [Duration] = []
        var gate: StubGate?
    }

    private let state: Watched<State>
    private let startEpochSeconds: Double

    /// Creates a clock whose elapsed time is 0.
    ///
    /// - Parameter epochSeconds: the date at the start, in seconds since 1970.
    public init(epochSeconds: Double = 784_111_777) {
        state = Watched(State(now: .zero))
        startEpochSeconds = epochSeconds
    }

    /// The source of time for an interceptor.
    public var source: TimeSource {
        TimeSource(
            now: { self.now },
            epochSeconds: { self.startEpochSeconds + self.now / .seconds(1) },
            sleep: { try await self.sleep($0) })
    }

    /// The elapsed time.
    public var now: Duration { state.value.now }

    /// The waits so far, in order.
    public var waits: [Duration] { state.value.waits }

    /// Advances the clock.
    public func advance(by time: Duration) {
        state.change { $0.now += time }
    }

    /// Makes later waits last until the gate is open.
    public func hold(by gate: StubGate) {
        state.change { $0.gate = gate }
    }

    private func sleep(_ time: Duration) async throws {
        let gate = state.change { state in
            state.waits.append(time)
            return state.gate
        }
        if let gate {
            try await gate.pass()
        }
        try Task.checkCancellation()
        state.change { $0.now += max(.zero, time) }
    }
}

/// Stops calls to a host for some time after several consecutive failures.
///
///     configuration.interceptors = [CircuitBreaker(failures: 5, resetAfter: .seconds(30))]
///
/// After `failures` failures the circuit of the host opens: calls to the host fail immediately with
/// ``NetError/Code/circuitOpen``. After `resetAfter` one call is sent as a trial, while other calls still fail. If the
/// trial succeeds, the circuit closes; if it fails, the circuit opens again. If the trial ends for a local reason, such
/// as a cancellation, the next call is the trial.
///
/// Network errors, exceeded time limits and the statuses 500, 502, 503 and 504 are failures. Thread-safe.
public final class CircuitBreaker: PromptInterceptor {
    /// The state of a host.
    public enum State: Sendable, Hashable {
        /// Calls are sent.
        case closed
        /// Calls fail.
        case open
        /// One call may be sent as a trial, or the trial is in flight.
        case halfOpen
    }

    private struct Host: Sendable {
        var failures = 0
        var failedAt = Duration.zero
        var openUntil: Duration?
        var isTrialInFlight = false
        // Changes each time the circuit opens or closes. Outcomes of calls from an earlier turn are ignored.
        var turn = 0
    }

    private enum Permission: Sendable {
        case send(turn: Int, isTrial: Bool)
        case wait(Duration)
    }

    private let maxFailures: Int
    private let openTime: Duration
    private let time: TimeSource
    private let isFailure: @Sendable (Result<Int, NetError>) -> Bool
    /// The hosts with recent failures. Other hosts have no entry.
    private let hosts = Lock(SweptTable<Host>())

    /// Creates a circuit breaker.
    ///
    /// - Parameters:
    ///   - failures: the number of consecutive failures that open the circuit, from 1.
    ///   - resetAfter: how long the circuit stays open.
    ///   - time: the clock.
    ///   - isFailure: returns true for a status or an error that counts as a failure. If `nil`, the default rule
    ///     applies.
    public init(
        failures: Int = 5, resetAfter: Duration = .seconds(30), time: TimeSource = .system,
        isFailure: (@Sendable (Result<Int, NetError>) -> Bool)? = nil
    ) {
        maxFailures = max(1, failures)
        openTime = resetAfter
        self.time = time
        self.isFailure = isFailure ?? Self.isFailure
    }

    private static func isFailure(_ outcome: Result<Int, NetError>) -> Bool {
        switch outcome {
        case .success(let status): [500, 502, 503, 504].contains(status)
        // slotTimeout comes from a local queue, not from the host.
        case .failure(let error): error.isRetryable && error.code != .slotTimeout
        }
    }

    /// Returns the state of the circuit for the URL's origin.
    public func state(of url: String) -> State {
        let now = time.now()
        return hosts.withLock { hosts in
            guard let until = hosts[url.origin ?? ""]?.openUntil else { return .closed }
            return now < until ? .open : .halfOpen
        }
    }

    /// Continues with the call, unless the circuit of its host is open.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let name = call.request.url.origin ?? ""
        switch permission(for: name) {
        case .wait(let left):
            let seconds = max(1, Int64(moment: (left / .seconds(1)).rounded(.up)))
            throw NetError(.circuitOpen, "circuit open after repeated failures of \(name): retry in \(seconds) s")
        case .send(let turn, let isTrial):
            do throws(NetError) {
                let response = try await next(call)
                record(isFailure(.success(response.status)), name, turn, isTrial)
                return response
            } catch {
                let failed = error.code != .cancelled && isFailure(.failure(error))
                if !failed && error.isUnrelatedToHost {
                    releaseTrial(name, turn, isTrial)
                } else {
                    record(failed, name, turn, isTrial)
                }
                throw error
            }
        }
    }

    /// The number of hosts with an entry.
    var hostCount: Int { hosts.withLock { $0.count } }

    private func permission(for name: String) -> Permission {
        let now = time.now()
        return hosts.withLock { hosts in
            guard let host = hosts[name], let until = host.openUntil else {
                return .send(turn: hosts[name]?.turn ?? 0, isTrial: false)
            }
            if now < until || host.isTrialInFlight {
                return .wait(max(.zero, until - now))
            }
            hosts[name]?.isTrialInFlight = true
            return .send(turn: host.turn, isTrial: true)
        }
    }

    private func record(_ failed: Bool, _ name: String, _ turn: Int, _ isTrial: Bool) {
        let now = time.now()
        hosts.withLock { [maxFailures, openTime] hosts in
            var host = hosts[name] ?? Host()
            guard host.turn == turn else { return }
            host.failures = failed ? host.failures + 1 : 0
            host.failedAt = now
            if failed && (isTrial || host.failures >= maxFailures) {
                host = Host(failedAt: now, openUntil: now + openTime, turn: turn + 1)
            } else if isTrial {
                host = Host(failedAt: now, turn: turn + 1)
            }
            // The entry is kept after an opening, because its turn identifies calls from before.
            hosts[name] = host.failures > 0 || host.turn > 0 ? host : nil
            // Removes hosts whose last failure is old, unless a trial is in flight or the circuit is open.
            hosts.sweep { $0.isTrialInFlight || ($0.openUntil ?? $0.failedAt) > now - openTime }
        }
    }

    /// Makes the next call the trial, because this one ended without a result about the host.
    private func releaseTrial(_ name: String, _ turn: Int, _ isTrial: Bool) {
        hosts.withLock { hosts in
            if isTrial, hosts[name]?.turn == turn {
                hosts[name]?.isTrialInFlight = false
            }
        }
    }
}

extension NetError {
    /// Whether the call ended for a local reason, so that its error shows nothing about the host.
    fileprivate var isUnrelatedToHost: Bool {
        let others: [Code] = [
            .slotTimeout, .stoppedByCaller, .bodySource, .encoding, .circuitOpen, .ignored, .cellularRefused,
            .queued, .invalidParameters, .notCached, .authentication, .plaintextRefused,
        ]
        return code == .cancelled || (response == nil && (code.rawValue < 40 || others.contains(code)))
    }
}

/// A table of values by name (such as a host) that removes values which are no longer needed.
///
/// The values are checked only if the table is large and has doubled since the last check. So the average cost of each
/// call is constant.
struct SweptTable<Value: Sendable>: Sendable {
    private static var minimumCount: Int { 1024 }

    private var byName: [String: Value] = [:]
    private var sweepThreshold = Self.minimumCount

    var count: Int { byName.count }

    subscript(name: String) -> Value? {
        get { byName[name] }
        set { byName[name] = newValue }
    }

    /// Removes the values for which the closure returns false, if the table is large.
    mutating func sweep(keeping isNeeded: (Value) -> Bool) {
        guard byName.count > sweepThreshold else { return }
        byName = byName.filter { isNeeded($0.value) }
        sweepThreshold = max(Self.minimumCount, byName.count * 2)
    }
}

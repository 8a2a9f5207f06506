/// Stops calls to a host for a while after several consecutive failures.
///
/// After `maxFailures` failures, calls to the host fail immediately with ``NetError/Code/circuitOpen``. After
/// `openTime` one trial call is sent, and its outcome decides for the others, which keep failing until it ends. A trial
/// that ends before the host could respond leaves the trial to the next call. Network errors, time limits and the
/// statuses 500, 502, 503 and 504 are failures. Thread-safe.
public final class CircuitBreaker: PromptInterceptor {
    /// The state of a host.
    public enum State: Sendable, Hashable {
        /// Calls are sent.
        case closed
        /// Calls fail.
        case open
        /// One trial call may be sent, or is in flight.
        case halfOpen
    }

    private struct Host: Sendable {
        var failures = 0
        var failedAt = Duration.zero
        var openUntil: Duration?
        var isTried = false
        // Changes each time the circuit opens or closes: earlier calls are no evidence of the current state.
        var turn = 0
    }

    private enum Permission: Sendable {
        case go(turn: Int, isTrial: Bool)
        case wait(Duration)
    }

    private let maxFailures: Int
    private let openTime: Duration
    private let time: TimeSource
    private let isFailure: @Sendable (Result<Int, NetError>) -> Bool
    /// The hosts with failures; others need no entry.
    private let hosts = Lock(SweptTable<Host>())

    /// Creates a circuit breaker.
    ///
    /// - Parameters:
    ///   - maxFailures: the number of consecutive failures that open the circuit, from 1.
    ///   - openTime: how long it stays open.
    ///   - time: the clock.
    ///   - isFailure: decides about a status or an error, instead of the default rule.
    public init(
        maxFailures: Int = 5, openTime: Duration = .seconds(30), time: TimeSource = .system,
        isFailure: (@Sendable (Result<Int, NetError>) -> Bool)? = nil
    ) {
        self.maxFailures = max(1, maxFailures)
        self.openTime = openTime
        self.time = time
        self.isFailure = isFailure ?? Self.isFailure
    }

    private static func isFailure(_ outcome: Result<Int, NetError>) -> Bool {
        switch outcome {
        case .success(let status): [500, 502, 503, 504].contains(status)
        // A wait in the local queue that was too long is no evidence against the host.
        case .failure(let error): error.isRetryable && error.code != .slotTimedOut
        }
    }

    /// Returns the state of the URL's origin.
    public func state(of url: String) -> State {
        let now = time.now()
        return hosts.withLock { hosts in
            guard let until = hosts[url.origin ?? ""]?.openUntil else { return .closed }
            return now < until ? .open : .halfOpen
        }
    }

    /// Continues with the call, unless the circuit of its host is open.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let name = call.request.url.origin ?? ""
        switch permission(for: name) {
        case .wait(let left):
            let seconds = max(1, Int64(moment: (left / .seconds(1)).rounded(.up)))
            throw NetError(.circuitOpen, "\(name) failed too often, and is asked again in \(seconds) s")
        case .go(let turn, let isTrial):
            do throws(NetError) {
                let answer = try await next(call)
                note(isFailure(.success(answer.status)), name, turn, isTrial)
                return answer
            } catch {
                let failed = error.code != .cancelled && isFailure(.failure(error))
                if !failed && error.saysNothingOfTheHost {
                    giveUp(name, turn, isTrial)
                } else {
                    note(failed, name, turn, isTrial)
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
                return .go(turn: hosts[name]?.turn ?? 0, isTrial: false)
            }
            if now < until || host.isTried {
                return .wait(max(.zero, until - now))
            }
            hosts[name]?.isTried = true
            return .go(turn: host.turn, isTrial: true)
        }
    }

    private func note(_ failed: Bool, _ name: String, _ turn: Int, _ isTrial: Bool) {
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
            // Removed, unless a previous opening has to be distinguished from this one.
            hosts[name] = host.failures > 0 || host.turn > 0 ? host : nil
            // An old failure is forgotten, unless the circuit is still open.
            hosts.sweep { $0.isTried || ($0.openUntil ?? $0.failedAt) > now - openTime }
        }
    }

    /// Leaves the trial to the next call, because this one ended without an outcome.
    private func giveUp(_ name: String, _ turn: Int, _ isTrial: Bool) {
        hosts.withLock { hosts in
            if isTrial, hosts[name]?.turn == turn {
                hosts[name]?.isTried = false
            }
        }
    }
}

extension NetError {
    /// Whether the call ended for a local reason, without a response of the host.
    fileprivate var saysNothingOfTheHost: Bool {
        let others: [Code] = [
            .slotTimedOut, .stoppedByCaller, .bodySource, .unencodable, .circuitOpen, .ignored, .cellularRefused,
            .queued, .invalidParameters, .notCached, .authentication, .plaintextRefused,
        ]
        return code == .cancelled || (response == nil && (code.rawValue < 40 || others.contains(code)))
    }
}

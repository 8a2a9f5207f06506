/// Leaves a host alone for a while that has failed several times in a row.
///
/// After so many failures calls to the host fail at once with ``NetError/Code/circuitOpen``. When the time is over one
/// call tries; it decides for the others, which go on failing until it ends; one that ends here, before the host could
/// answer, leaves it to the next. Network faults, time limits and the statuses 500, 502, 503 and 504 are failures.
/// Thread-safe.
public final class CircuitBreaker: Interceptor {
    /// What becomes of calls to a host.
    public enum State: Sendable, Hashable {
        /// They go through.
        case closed
        /// They fail.
        case open
        /// One may try, or does.
        case halfOpen
    }

    private struct Host: Sendable {
        var failures = 0
        var failedAt = Duration.zero
        var openUntil: Duration?
        var isTried = false
        // Changes with each opening and closing: what began before says nothing about the host as it is now.
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
    /// Those that have failed: of others there is nothing to remember.
    private let hosts = Lock(SweptTable<Host>())

    /// - Parameters:
    ///   - maxFailures: failures in a row that open the circuit, from 1.
    ///   - openTime: how long it stays open.
    ///   - time: tells the time.
    ///   - isFailure: judges a status or an error, in another way than said above.
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
        // What waited here for too long says nothing about the host.
        case .failure(let error): error.isRetryable && error.code != .slotTimedOut
        }
    }

    /// What becomes of calls to the URL's origin now.
    public func state(of url: String) -> State {
        let now = time.now()
        return hosts.withLock { hosts in
            guard let until = hosts[url.origin ?? ""]?.openUntil else { return .closed }
            return now < until ? .open : .halfOpen
        }
    }

    /// Lets the call go on, unless its host is left alone.
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

    /// Hosts that are remembered.
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
            // As good as new, unless there is an opening that calls have to be told apart from.
            hosts[name] = host.failures > 0 || host.turn > 0 ? host : nil
            // A failure that is old is as good as none, unless the host is left alone still.
            hosts.sweep { $0.isTried || ($0.openUntil ?? $0.failedAt) > now - openTime }
        }
    }

    /// A trial that came to no end leaves the next call to try.
    private func giveUp(_ name: String, _ turn: Int, _ isTrial: Bool) {
        hosts.withLock { hosts in
            if isTrial, hosts[name]?.turn == turn {
                hosts[name]?.isTried = false
            }
        }
    }
}

extension NetError {
    /// The call ended for a reason of this process, and the host has not answered.
    fileprivate var saysNothingOfTheHost: Bool {
        let others: [Code] = [
            .slotTimedOut, .stoppedByCaller, .bodySource, .unencodable, .circuitOpen, .ignored, .cellularRefused,
            .queued, .invalidParameters, .notCached, .authentication, .plaintextRefused,
        ]
        return code == .cancelled || (response == nil && (code.rawValue < 40 || others.contains(code)))
    }
}

/// Sends a request again when that may help and does no harm.
///
///     configuration.interceptors = [Retry()]
///
/// Passing network faults, time limits and some statuses are tried again for methods that may be repeated (RFC 9110,
/// 9.2.2) and for requests with an `Idempotency-Key`; whatever its method, a request that never reached the server, or
/// went over a connection of one before it that closed before the first byte of an answer. A body that can be read once
/// only is never sent again. Between two tries it waits for a random part of a time that doubles, or as long as
/// `Retry-After` says. Each try has the request's ``Limits`` for itself, and the waits count for none. The last try's
/// reply or error is the call's.
public struct Retry: Interceptor {
    /// Tries after the first one (3).
    public var maxRetries = 3
    /// The first wait is up to this (200 ms), each other one up to twice the one before.
    public var baseDelay: Duration = .milliseconds(200)
    /// No wait is longer (20 s), but for one that the server asks for.
    public var maxDelay: Duration = .seconds(20)
    /// A `Retry-After` beyond this (60 s) is not waited for: the reply is the call's.
    public var maxServerDelay: Duration = .seconds(60)
    /// Once so much time has gone by since the first try began, the last one counts; nil is no limit. A `Retry-After`
    /// that leads beyond it is not waited for.
    public var maxElapsed: Duration?
    /// Statuses that are tried again: 408, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Whether any method is tried again.
    public var retriesAnyMethod = false
    /// Whether any error is tried again, but for one that comes from here: usage, cancelling, a body that failed.
    public var retriesAnyError = false
    /// Whether waits are random parts of their times (full jitter), so that clients do not come back all at once.
    public var hasJitter = true
    /// What retries may cost in all; nil is no limit.
    public var budget: RetryBudget?
    /// When not nil and there is no way to the host after a failure, the next try waits until there is one, for
    /// ``maxPathDelay`` at most, instead of for a time by chance.
    public var reachability: Reachability?
    /// How long a try waits for a way to the network (60 s).
    public var maxPathDelay: Duration = .seconds(60)
    /// The time, and how it passes.
    public var time: TimeSource
    /// A random number from 0 to 1.
    public var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// The defaults, with a budget of its own.
    public init(
        maxRetries: Int = 3, budget: RetryBudget? = RetryBudget(), time: TimeSource = .system
    ) {
        self.maxRetries = maxRetries
        self.budget = budget
        self.time = time
    }

    /// Answers by the first reply that is worth keeping, or by the last one.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        budget?.add()
        var retries = 0
        let begin = time.now()
        while true {
            let outcome: Result<Answer, NetError>
            do throws(NetError) {
                outcome = .success(try await next(call))
            } catch {
                outcome = .failure(error)
            }
            let left = maxElapsed.map { $0 - (time.now() - begin) }
            guard retries < maxRetries, call.isRepeatable, left.map({ $0 > .zero }) ?? true,
                let wait = wait(after: outcome, of: call, retries, left), !Task.isCancelled, budget?.take() ?? true
            else { return try outcome.get() }
            if case .success(let reply) = outcome {
                reply.discard()
            }
            retries += 1
            if outcome.isFailure, let reachability,
                let host = await reachability.unreachedHost(of: call.request, proxy: nil)
            {
                try await waitForPath(reachability.focused(on: host), in: call)
            } else {
                try await time.wait(wait, for: .retry, in: call)
            }
        }
    }

    /// Waits until there is a way; when there is none in time, the next try tells that.
    private func waitForPath(_ reachability: Reachability, in call: Call) async throws(NetError) {
        call.watch?.tell(.waiting(maxPathDelay, .connectivity), of: call.request)
        do throws(NetError) {
            try await reachability.wait(for: maxPathDelay, time: time) { $0.status != .notReachable }
        } catch  where error.code == .totalTimedOut {}
    }

    /// How long to wait before the next try; nil when there shall be none.
    private func wait(
        after outcome: Result<Answer, NetError>, of call: Call, _ retries: Int, _ left: Duration?
    ) -> Duration? {
        switch outcome {
        case .success(let reply):
            guard statuses.contains(reply.status), mayRepeat(call.request) else { return nil }
            let asked = RetryAfter.wait(reply.headers, epochSeconds: time.epochSeconds())
            guard let asked else { return delay(before: retries) }
            return asked <= min(maxServerDelay, left ?? maxServerDelay) ? asked : nil
        case .failure(let error):
            return mayHelp(after: error, of: call.request) ? delay(before: retries) : nil
        }
    }

    /// The wait before a retry, of which so many went before.
    func delay(before retries: Int) -> Duration {
        // 2 to the 40th of anything is beyond every limit, and of some times no time any more.
        let factor = 1 << min(max(0, retries), 40)
        let doubled = baseDelay > maxDelay / factor ? maxDelay : baseDelay * factor
        return hasJitter ? doubled * min(1, max(0, random())) : doubled
    }

    private func mayRepeat(_ request: Request<Bytes>) -> Bool {
        retriesAnyMethod || request.method.isIdempotent || request.headers["Idempotency-Key"] != nil
    }

    private func mayHelp(after error: NetError, of request: Request<Bytes>) -> Bool {
        if error.neverReachedTheServer || error.metAnOldConnectionsEnd {
            return true
        }
        let isOurs = [1...39, 150...199].contains { $0.contains(error.code.rawValue) }
        return (error.isRetryable || (retriesAnyError && !isOurs)) && mayRepeat(request)
    }
}

extension NetError {
    // After a redirect the first server has acted on the request.
    private var isOfFirstHop: Bool { metrics.count <= 1 && response == nil }

    /// Nothing of the request was sent.
    var neverReachedTheServer: Bool {
        let codes: [Code] = [.resolve, .connect, .refused, .unreachable, .connectTimedOut, .slotTimedOut]
        return codes.contains(code) && isOfFirstHop
    }

    /// The server closed a connection without a word that had been idle for too long. One that was opened for the
    /// request is another matter: the server may have acted on it before it closed.
    var metAnOldConnectionsEnd: Bool {
        let codes: [Code] = [.emptyReply, .reset, .send, .receive]
        guard codes.contains(code), isOfFirstHop, let hop = metrics.last else { return false }
        return hop.isReused && hop.firstByte == nil
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}

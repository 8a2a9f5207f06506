/// Sends a request again after temporary failures, if that is safe.
///
///     configuration.interceptors = [Retry()]
///
/// Temporary network errors, time limits and some statuses are retried:
/// - for idempotent methods (RFC 9110, 9.2.2), and for requests with an `Idempotency-Key`
/// - for any method, if the request never reached the server, or if it used a reused connection that was closed before
///   the first byte of a response
///
/// A body that can be read only once is never sent again. The delay between attempts is a random part of an interval
/// that doubles each time, or the time of `Retry-After`. The request's ``Limits`` apply to each attempt, except
/// ``Limits/total``: it bounds all attempts and delays together, and a delay that would exceed it does not begin. The last attempt's response or error is the call's.
public struct Retry: PromptInterceptor {
    /// The number of attempts after the first one (3).
    public var maxRetries = 3
    /// The longest first delay (200 ms); it doubles for each further one.
    public var baseDelay: Duration = .milliseconds(200)
    /// The longest delay (20 s), except for one that the server asks for.
    public var maxDelay: Duration = .seconds(20)
    /// The longest `Retry-After` to wait for (60 s). With a longer one, the response is final.
    public var maxServerDelay: Duration = .seconds(60)
    /// The time after the start of the first attempt from which on no further one starts; `nil` is no limit. A
    /// `Retry-After` beyond it is not waited for.
    public var maxElapsed: Duration?
    /// The statuses to retry: 408, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// Whether requests with any method are retried.
    public var retriesAnyMethod = false
    /// Whether any error is retried, except for local ones: wrong usage, cancellation, a failed body.
    public var retriesAnyError = false
    /// Whether delays are random parts of their intervals (full jitter), so that clients do not all retry together.
    public var hasJitter = true
    /// The budget of retries; `nil` is no limit.
    public var budget: RetryBudget?
    /// Reports whether there is a route to the host. If not `nil` and there is none after a failure, the next attempt
    /// waits for one, at most ``maxPathDelay``, instead of for a random delay.
    public var reachability: Reachability?
    /// The longest wait for a route to the network (60 s).
    public var maxPathDelay: Duration = .seconds(60)
    /// The clock and the sleep function.
    public var time: TimeSource
    /// Returns a random number from 0 to 1.
    public var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    var isPrompt: Bool { reachability == nil }

    /// Creates the default settings, with a budget of its own.
    public init(
        maxRetries: Int = 3, budget: RetryBudget? = RetryBudget(), time: TimeSource = .system
    ) {
        self.maxRetries = maxRetries
        self.budget = budget
        self.time = time
    }

    /// Returns the first response that needs no retry, or the last one.
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
            let ends = [maxElapsed.map { $0 - (time.now() - begin) }, call.budget.remaining]
            let left = ends.compactMap { $0 }.min()
            guard retries < maxRetries, call.isRepeatable, left.map({ $0 > .zero }) ?? true,
                let wait = wait(after: outcome, of: call, retries, left),
                call.budget.remaining.map({ wait < $0 }) ?? true,
                !Task.isCancelled, budget?.take() ?? true
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

    /// Waits for a route; without one in time, the next attempt reports the error.
    private func waitForPath(_ reachability: Reachability, in call: Call) async throws(NetError) {
        call.watch?.tell(.waiting(maxPathDelay, .connectivity), of: call.request)
        do throws(NetError) {
            try await reachability.wait(for: maxPathDelay, time: time) { $0.status != .notReachable }
        } catch  where error.code == .totalTimedOut {}
    }

    /// Returns the delay before the next attempt, or `nil` if there is none.
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

    /// Returns the delay before a retry, given the number of earlier ones.
    func delay(before retries: Int) -> Duration {
        // 2 to the 40th exceeds every limit, and would overflow some Durations.
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

    /// Whether nothing of the request was sent.
    var neverReachedTheServer: Bool {
        let codes: [Code] = [.resolve, .connect, .refused, .unreachable, .connectTimedOut, .slotTimedOut]
        return codes.contains(code) && isOfFirstHop
    }

    /// Whether the server closed an idle connection before responding. This excludes a connection that was opened for
    /// this request: there the server may have acted on it before closing.
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

/// Lets so many requests start in a time, and holds up the others: a bucket of tokens for each host or service.
///
///     configuration.interceptors = [RateLimit(10, per: .seconds(1))]
///
/// A bucket is full at first; it gets a token back at even intervals. Requests go in the order in which they came.
/// Thread-safe.
public final class RateLimit: Interceptor {
    /// Which requests share a bucket.
    public enum Scope: Sendable {
        /// Those of one origin: scheme, host and port.
        case host
        /// All.
        case all
        /// Those for which the closure says the same name, such as a service's; nil is not limited.
        case named(@Sendable (Request<Bytes>) -> String?)
    }

    // More than these are looked through for full ones, which are as good as none.
    private static let manyBuckets = 1024

    private let interval: Duration
    private let burst: Duration
    private let scope: Scope
    private let maxWait: Duration?
    private let time: TimeSource
    // For each bucket the time at which it is full again.
    private let fullAt = Lock<[String: Duration]>([:])

    /// - Parameters:
    ///   - count: requests in each period, from 1.
    ///   - period: how long a period is.
    ///   - burst: requests that may go at once, from 1; nil is `count`.
    ///   - scope: which requests share a bucket.
    ///   - maxWait: one that had to wait longer fails at once with ``NetError/Code/slotTimedOut``; nil waits for ever.
    ///   - time: tells the time, and waits.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, scope: Scope = .host, maxWait: Duration? = nil,
        time: TimeSource = .system
    ) {
        interval = max(.zero, period) / max(1, count)
        self.burst = interval * (max(1, burst ?? count) - 1)
        self.scope = scope
        self.maxWait = maxWait
        self.time = time
    }

    /// Lets the call go on when its turn has come.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        guard let name = name(of: call.request) else { return try await next(call) }
        let wait = try take(from: name)
        if wait > .zero {
            do throws(NetError) {
                try await time.wait(wait, for: .rateLimit, in: call)
            } catch {
                giveBack(to: name)
                throw error
            }
        }
        return try await next(call)
    }

    private func name(of request: Request<Bytes>) -> String? {
        switch scope {
        case .host: request.url.origin ?? ""
        case .all: ""
        case .named(let name): name(request)
        }
    }

    /// Takes a token, perhaps one that is yet to come; returns how long.
    private func take(from name: String) throws(NetError) -> Duration {
        let now = time.now()
        let wait: Duration? = fullAt.withLock { fullAt in
            if fullAt.count > Self.manyBuckets {
                fullAt = fullAt.filter { $0.value > now }
            }
            let full = max(now, fullAt[name] ?? now)
            let wait = max(.zero, full - burst - now)
            if let maxWait, wait > maxWait {
                return nil
            }
            fullAt[name] = full + interval
            return wait
        }
        guard let wait else {
            throw NetError(.slotTimedOut, "the rate limit would hold the request up for too long")
        }
        return wait
    }

    private func giveBack(to name: String) {
        fullAt.withLock { [interval] fullAt in
            fullAt[name] = fullAt[name].map { $0 - interval }
        }
    }
}

/// Limits the rate at which requests start, with a token bucket for each host or service. Further requests wait.
///
///     configuration.interceptors = [RateLimit(10, per: .seconds(1))]
///
/// A bucket is full at first and gets tokens back at regular intervals. Each request takes one token. Requests start in
/// the order of their arrival. If a waiting request is cancelled, its token is used for the next request that arrives.
/// Thread-safe.
public final class RateLimit: PromptInterceptor {
    /// The requests that share a bucket.
    public enum Scope: Sendable {
        /// Requests to one origin: scheme, host and port.
        case host
        /// All requests.
        case all
        /// Requests for which the closure returns the same name, such as the name of a service. If it returns `nil`,
        /// the request is not limited.
        case named(@Sendable (Request<Bytes>) -> String?)
    }

    private struct Bucket: Sendable {
        /// The time at which the bucket is full again.
        var fullAt: Duration
        /// The times of tokens that were returned while requests still wait for later tokens, in order.
        var free: [Duration] = []
    }

    // Longer than any real wait. A million times this value still fits into a Duration.
    private static let longest = Duration.seconds(1 << 40)

    private let interval: Duration
    private let burst: Duration
    private let scope: Scope
    private let maxWait: Duration?
    private let time: TimeSource
    private let buckets = Lock(SweptTable<Bucket>())

    /// Creates a rate limit.
    ///
    /// - Parameters:
    ///   - count: the number of requests in each period, from 1.
    ///   - period: the length of a period.
    ///   - burst: the number of requests that may start together when the bucket is full, from 1. If `nil`, `count`.
    ///   - scope: the requests that share a bucket.
    ///   - maxWait: the longest wait. A request that would wait longer fails immediately with
    ///     ``NetError/Code/slotTimeout``. If `nil`, there is no limit.
    ///   - time: the clock and the sleep function.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, scope: Scope = .host, maxWait: Duration? = nil,
        time: TimeSource = .system
    ) {
        interval = max(.zero, min(period, Self.longest)) / max(1, count)
        let (extraTokens, longestBurst) = (max(1, burst ?? count) - 1, Self.longest * 1_000_000)
        self.burst = Double(extraTokens) < longestBurst / interval ? interval * extraTokens : longestBurst
        self.scope = scope
        self.maxWait = maxWait
        self.time = time
    }

    /// Waits for a token, then continues with the call.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard let name = name(of: call.request) else { return try await next(call) }
        let (tokenTime, wait) = try take(from: name)
        if wait > .zero {
            do throws(NetError) {
                try await time.wait(wait, for: .rateLimit, in: call)
            } catch {
                giveBack(tokenTime, to: name)
                throw error
            }
        }
        return try await next(call)
    }

    /// Returns the name of a request's bucket, or `nil` if it is not limited.
    package func name(of request: Request<Bytes>) -> String? {
        switch scope {
        case .host: request.url.origin ?? ""
        case .all: ""
        case .named(let name): name(request)
        }
    }

    /// The number of buckets in the table, which may include some full ones.
    var bucketCount: Int { buckets.withLock { $0.count } }

    /// Takes a token that exists now or in the future. Returns the token's time, and how long to wait for it.
    func take(from name: String) throws(NetError) -> (tokenTime: Duration, wait: Duration) {
        let now = time.now()
        let token: (Duration, Duration)? = buckets.withLock { buckets in
            // A full bucket is the same as no entry.
            buckets.sweep { $0.fullAt > now }
            var bucket = buckets[name] ?? Bucket(fullAt: now)
            if bucket.fullAt - burst <= now {
                // No request waits for a later token, so the returned tokens can be put back into the bucket.
                bucket.fullAt = max(now, bucket.fullAt - interval * bucket.free.count)
                bucket.free = []
            }
            let tokenTime = bucket.free.first ?? bucket.fullAt - burst
            let wait = max(.zero, tokenTime - now)
            if let maxWait, wait > maxWait {
                return nil
            }
            if bucket.free.isEmpty {
                bucket.fullAt += interval
            } else {
                bucket.free.removeFirst()
            }
            buckets[name] = bucket
            return (tokenTime, wait)
        }
        guard let token else {
            throw NetError(.slotTimeout, "the rate limit would delay the request longer than maxWait")
        }
        return token
    }

    private func giveBack(_ tokenTime: Duration, to name: String) {
        buckets.withLock { [interval, burst] buckets in
            guard var bucket = buckets[name] else { return }
            bucket.free.insert(tokenTime, at: bucket.free.firstIndex { $0 > tokenTime } ?? bucket.free.count)
            // The last tokens can be put back, because no request waits for a later one.
            while let last = bucket.free.last, last == bucket.fullAt - interval - burst {
                bucket.free.removeLast()
                bucket.fullAt -= interval
            }
            buckets[name] = bucket
        }
    }
}

/// Limits the rate at which requests start, with a token bucket for each host or service; the others wait.
///
///     configuration.interceptors = [RateLimit(10, per: .seconds(1))]
///
/// A bucket is full at first and gets tokens back at regular intervals. Requests start in the order of their arrival.
/// When a waiting one is cancelled, its token goes to the next arrival. Thread-safe.
public final class RateLimit: PromptInterceptor {
    /// The requests that share a bucket.
    public enum Scope: Sendable {
        /// Requests to one origin: scheme, host and port.
        case host
        /// All requests.
        case all
        /// Requests for which the closure returns the same name, such as a service's; `nil` is not limited.
        case named(@Sendable (Request<Bytes>) -> String?)
    }

    private struct Bucket: Sendable {
        /// When it is full again.
        var fullAt: Duration
        /// Tokens that were returned while later ones are still waited for, in order.
        var free: [Duration] = []
    }

    // Longer than any real wait; a million of it still fits into a Duration.
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
    ///   - count: the requests in each period, from 1.
    ///   - period: the length of a period.
    ///   - burst: the requests that may start immediately, from 1; `nil` is `count`.
    ///   - scope: the requests that share a bucket.
    ///   - maxWait: a request that would wait longer fails immediately with ``NetError/Code/slotTimedOut``; `nil` is no
    ///     limit.
    ///   - time: the clock and the sleep function.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, scope: Scope = .host, maxWait: Duration? = nil,
        time: TimeSource = .system
    ) {
        interval = max(.zero, min(period, Self.longest)) / max(1, count)
        let (more, most) = (max(1, burst ?? count) - 1, Self.longest * 1_000_000)
        self.burst = Double(more) < most / interval ? interval * more : most
        self.scope = scope
        self.maxWait = maxWait
        self.time = time
    }

    /// Continues with the call when there is a token.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        guard let name = name(of: call.request) else { return try await next(call) }
        let (turn, wait) = try take(from: name)
        if wait > .zero {
            do throws(NetError) {
                try await time.wait(wait, for: .rateLimit, in: call)
            } catch {
                giveBack(turn, to: name)
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

    /// The number of buckets with an entry, including some that are full.
    var bucketCount: Int { buckets.withLock { $0.count } }

    /// Takes a token, possibly a future one. Returns its time and how long to wait for it.
    func take(from name: String) throws(NetError) -> (turn: Duration, wait: Duration) {
        let now = time.now()
        let taken: (Duration, Duration)? = buckets.withLock { buckets in
            // A full bucket needs no entry.
            buckets.sweep { $0.fullAt > now }
            var bucket = buckets[name] ?? Bucket(fullAt: now)
            if bucket.fullAt - burst <= now {
                // No later token is waited for: the returned ones are put back.
                bucket.fullAt = max(now, bucket.fullAt - interval * bucket.free.count)
                bucket.free = []
            }
            let turn = bucket.free.first ?? bucket.fullAt - burst
            let wait = max(.zero, turn - now)
            if let maxWait, wait > maxWait {
                return nil
            }
            if bucket.free.isEmpty {
                bucket.fullAt += interval
            } else {
                bucket.free.removeFirst()
            }
            buckets[name] = bucket
            return (turn, wait)
        }
        guard let taken else {
            throw NetError(.slotTimedOut, "the rate limit would hold the request up for too long")
        }
        return taken
    }

    private func giveBack(_ turn: Duration, to name: String) {
        buckets.withLock { [interval, burst] buckets in
            guard var bucket = buckets[name] else { return }
            bucket.free.insert(turn, at: bucket.free.firstIndex { $0 > turn } ?? bucket.free.count)
            // Behind the last token nothing waits.
            while let last = bucket.free.last, last == bucket.fullAt - interval - burst {
                bucket.free.removeLast()
                bucket.fullAt -= interval
            }
            buckets[name] = bucket
        }
    }
}

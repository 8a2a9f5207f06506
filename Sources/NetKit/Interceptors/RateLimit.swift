/// Lets so many requests start in a time, and holds up the others: a bucket of tokens for each host or service.
///
///     configuration.interceptors = [RateLimit(10, per: .seconds(1))]
///
/// A bucket is full at first; it gets a token back at even intervals. Requests go in the order in which they came; the
/// turn of one that gives up while it waits goes to the next one that comes. Thread-safe.
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

    private struct Bucket: Sendable {
        /// When it is full again.
        var fullAt: Duration
        /// Turns that were taken and given back while later ones are still waited for, in order.
        var free: [Duration] = []
    }

    // Longer than anybody waits is as good as for ever, and a million of it are a time still.
    private static let longest = Duration.seconds(1 << 40)

    private let interval: Duration
    private let burst: Duration
    private let scope: Scope
    private let maxWait: Duration?
    private let time: TimeSource
    private let buckets = Lock(SweptTable<Bucket>())

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
        interval = max(.zero, min(period, Self.longest)) / max(1, count)
        let (more, most) = (max(1, burst ?? count) - 1, Self.longest * 1_000_000)
        self.burst = Double(more) < most / interval ? interval * more : most
        self.scope = scope
        self.maxWait = maxWait
        self.time = time
    }

    /// Lets the call go on when its turn has come.
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

    /// Buckets that are not as good as none, and some that are.
    var bucketCount: Int { buckets.withLock { $0.count } }

    /// Takes a token, perhaps one that is yet to come; returns when its turn is, and how long that takes.
    func take(from name: String) throws(NetError) -> (turn: Duration, wait: Duration) {
        let now = time.now()
        let taken: (Duration, Duration)? = buckets.withLock { buckets in
            // A full one is as good as none.
            buckets.sweep { $0.fullAt > now }
            var bucket = buckets[name] ?? Bucket(fullAt: now)
            if bucket.fullAt - burst <= now {
                // Nobody waits: what was given back is as good as never taken.
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
            // Behind the last turn nobody waits.
            while let last = bucket.free.last, last == bucket.fullAt - interval - burst {
                bucket.free.removeLast()
                bucket.fullAt -= interval
            }
            buckets[name] = bucket
        }
    }
}

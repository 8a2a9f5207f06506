#if Redis
public import NetKit

/// Limits the rate at which all processes with the same prefix start requests. Further requests wait.
///
///     configuration.interceptors = [SharedRateLimit(100, per: .seconds(1), redis: redis)]
///
/// The server counts, by its own clock (generic cell rate algorithm): each request reserves its moment, so that it
/// waits exactly once. If a waiting request is cancelled and no later one has reserved a moment, its reservation is
/// returned.
///
/// If the server does not answer within the time limit of the client, the request takes a token of a `RateLimit` with
/// the same numbers, which applies to this process alone. If the server loses its data, the limit starts again.
/// Thread-safe.
public final class SharedRateLimit: Interceptor {
    /// The counts of a limit since it was created, in this process.
    public struct Statistics: Sendable, Equatable {
        /// The number of requests that the server has counted.
        public var shared = 0
        /// The number of requests that only this process has counted, because the server did not answer.
        public var local = 0
    }

    /// Keys: the limit. Arguments: interval, burst and longest wait in microseconds. Returns the wait, or -1 if it is
    /// too long, and the state after this request.
    private static let reserve = RedisScript(
        """
        local t = redis.call('TIME')
        local now = t[1] * 1000000 + t[2]
        local interval, burst, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
        local full = tonumber(redis.pcall('GET', KEYS[1]) or nil)
        if not full or full < now then full = now end
        local wait = math.max(0, full - burst - now)
        if longest >= 0 and wait > longest then return {-1, ''} end
        full = full + interval
        local text = string.format('%.0f', full)
        redis.call('SET', KEYS[1], text, 'PX', math.ceil((full - now) / 1000) + 1)
        return {wait, text}
        """)

    /// Keys: the limit. Arguments: the state after the reservation, and the interval.
    private static let giveBack = RedisScript(
        """
        local life = redis.call('PTTL', KEYS[1])
        if life > 0 and redis.pcall('GET', KEYS[1]) == ARGV[1] then
          redis.call('SET', KEYS[1], string.format('%.0f', ARGV[1] - ARGV[2]), 'PX', life)
        end
        return 0
        """)

    private let client: RedisClient
    private let local: RateLimit
    private let interval: Int64
    private let burst: Int64
    private let longest: Int64
    private let time: TimeSource
    private let counts = Lock(Statistics())

    /// Creates a limit. All processes must use the same numbers.
    ///
    /// - Parameters:
    ///   - count: the number of requests in each period, at least 1.
    ///   - period: the length of a period, at most 366 days.
    ///   - burst: the number of requests that may start together when none has started recently, at least 1. If `nil`,
    ///     `count`.
    ///   - scope: the requests that share a limit.
    ///   - maxWait: the longest wait. A request that would wait longer fails immediately with
    ///     `NetError.Code.slotTimeout`. If `nil`, requests wait as long as necessary.
    ///   - redis: the client, whose prefix selects the limits.
    ///   - time: the clock and the sleep function of the waits.
    public init(
        _ count: Int, per period: Duration, burst: Int? = nil, scope: RateLimit.Scope = .host, maxWait: Duration? = nil,
        redis: RedisClient, time: TimeSource = .system
    ) {
        let count = max(1, count)
        let period = max(.microseconds(1), min(period, .seconds(366 * 86_400)))
        client = redis
        self.time = time
        interval = max(1, Int64(period / .microseconds(1) / Double(count)))
        // The sum of the server's time and the burst must be exact in a number of Lua.
        self.burst = Int64(min(Double(interval) * Double(max(1, burst ?? count) - 1), 0x1p51))
        longest = maxWait.map { Int64(max(0, min($0 / .microseconds(1), 0x1p51))) } ?? -1
        local = RateLimit(count, per: period, burst: burst, scope: scope, maxWait: maxWait, time: time)
    }

    /// The counts so far.
    public var statistics: Statistics { counts.withLock { $0 } }

    /// Waits for the request's moment, then continues with the call.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard let name = local.name(of: call.request) else { return try await next(call) }
        let key: String
        let (wait, state): (Int64, Bytes)
        do throws(NetError) {
            key = "r" + (try client.seal.name(Bytes("limit:\(interval):\(burst):" + name)))
            (wait, state) = try await reserve(key)
        } catch {
            counts.withLock { $0.local += 1 }
            return try await local.intercept(call, next: next)
        }
        counts.withLock { $0.shared += 1 }
        if wait < 0 {
            throw NetError(.slotTimeout, "the shared rate limit would delay the request longer than maxWait")
        }
        if wait > 0 {
            do throws(NetError) {
                try await time.wait(.microseconds(wait), for: .rateLimit, in: call)
            } catch {
                _ = try? await client.run(Self.giveBack, keys: [key], [state, Bytes("\(interval)")])
                throw error
            }
        }
        return try await next(call)
    }

    private func reserve(_ key: String) async throws(NetError) -> (Int64, Bytes) {
        let reply = try await client.run(
            Self.reserve, keys: [key], [Bytes("\(interval)"), Bytes("\(burst)"), Bytes("\(longest)")])
        guard let items = reply.items, items.count == 2, let wait = items[0].integer, let state = items[1].bytes else {
            throw NetError(.badResponse, "the Redis server returned an unexpected reply")
        }
        return (wait, state)
    }
}
#endif

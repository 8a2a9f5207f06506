#if Redis
public import NetKit

/// Sends one request for all processes when a response is missing in their shared cache, or must not be used any more.
/// The other processes wait, and then read the cache.
///
///     let caching = Caching(try RedisCacheStore(redis).twoTier(), rules: .http(), hashKey: key)
///     configuration.interceptors = [SharedFlight(redis, caching), caching]
///
/// Place it before the cache. Only calls of `Agent.send(_:)` whose rules look into the cache first take part. The cache
/// decides which calls share a response: users are never mixed. If the rules allow a stale response, it is used
/// without waiting, and each process renews it by itself.
///
/// A lock on the server, which expires, names the process that sends the request. If that request stores nothing, the
/// others send theirs. If the server does not answer within the time limit of the client, the call continues without a
/// lock. Thread-safe.
public final class SharedFlight: CallEnding {
    /// The counts of an interceptor since it was created, in this process.
    public struct Statistics: Sendable, Equatable {
        /// The number of calls that have sent a request for all.
        public var leading = 0
        /// The number of calls that have waited, or wait, for the request of another call.
        public var waiting = 0
        /// The number of calls that continued without a lock, because the server did not answer.
        public var unlocked = 0
    }

    private struct Flight: Sendable {
        let lock: String
        let token: Bytes
        let key: CacheKey
    }

    /// Keys: lock. Arguments: token, the token that this call waits for, lifetime of the lock in milliseconds. Returns
    /// an empty text if this call has the lock now, "done" if the other call has ended, or the token of the other call.
    private static let enter = RedisScript(
        """
        local held = redis.pcall('GET', KEYS[1])
        if type(held) == 'string' then
          if string.sub(held, 1, 1) ~= '-' then return held end
          if string.sub(held, 2) == ARGV[2] then return 'done' end
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
        return ''
        """)

    /// Keys: lock. Arguments: token, and the time in milliseconds in which waiting calls notice the end. A server
    /// without memory refuses SET, but not DEL.
    private static let leave = RedisScript(
        """
        if redis.pcall('GET', KEYS[1]) == ARGV[1] then
          local reply = redis.pcall('SET', KEYS[1], '-' .. ARGV[1], 'PX', ARGV[2])
          if reply.err then redis.call('DEL', KEYS[1]) end
        end
        return 0
        """)

    private let client: RedisClient
    private let caching: Caching
    private let lockTime: Duration
    private let flights = Lock<[UInt64: Flight]>([:])
    private let counts = Lock(Statistics())
    /// The number of running ``returnLater(_:_:)``, and their maximum: each request may need one while a server is slow.
    private let late = Lock(0)
    private static let maximumLate = 256

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - redis: the client, whose prefix selects the locks.
    ///   - caching: the cache, which is the next interceptor. All processes must share its store.
    ///   - lockTime: the longest time for which one call sends a request for all, and for which the others wait. Should
    ///     be longer than the server takes to respond.
    public init(_ redis: RedisClient, _ caching: Caching, lockTime: Duration = .seconds(10)) {
        client = redis
        self.caching = caching
        self.lockTime = max(.milliseconds(1), min(lockTime, .seconds(3600)))
    }

    /// The counts so far.
    public var statistics: Statistics { counts.withLock { $0 } }

    /// Continues with the call now, or after another process has stored the response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        guard let key = await caching.keyToFetch(call, next) else { return try await next(call) }
        do throws(NetError) {
            try await enter(call, key, next)
        } catch {
            if error.code == .cancelled {
                throw error
            }
            counts.withLock { $0.unlocked += 1 }
        }
        return try await next(call)
    }

    /// Returns when the call may continue: it has the lock, or the response is stored, or it has waited long enough.
    private func enter(_ call: Call, _ key: CacheKey, _ next: Next) async throws(NetError) {
        let flight = Flight(
            lock: "f" + (try client.seal.name(Bytes(key.description))),
            token: Bytes(Bytes((0..<16).map { _ in UInt8.random(in: 0...255) }).hexText), key: key)
        let start = ContinuousClock.now
        var other = Bytes()
        var pause = Duration.milliseconds(5)
        while ContinuousClock.now - start < lockTime {
            let reply: RedisReply
            do throws(NetError) {
                reply = try await client.run(
                    Self.enter, keys: [flight.lock], [flight.token, other, Bytes("\(lockTime.redisMilliseconds)")])
            } catch {
                returnLater(flight, error)
                throw error
            }
            guard let held = reply.bytes else {
                throw NetError(.badResponse, "the Redis server returned an unexpected reply")
            }
            if held.isEmpty {
                return await lead(call, flight, next)
            }
            if held == Bytes("done") {
                return
            }
            if other.isEmpty {
                counts.withLock { $0.waiting += 1 }
            } else if other != held, await caching.keyToFetch(call, next) == nil {
                return
            }
            other = held
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw NetError(.cancelled, "the task was cancelled while another process sent the request")
            }
            pause = min(pause * 2, .milliseconds(80))
        }
    }

    private func lead(_ call: Call, _ flight: Flight, _ next: Next) async {
        // Another process may have stored the response between the lookup and the lock.
        if await caching.keyToFetch(call, next) == nil {
            Task { await leave(flight) }
            return
        }
        counts.withLock { $0.leading += 1 }
        flights.withLock { $0[call.id] = flight }
    }

    /// Ends the flight when the response is stored, or when there is none.
    public func willEnd(_ call: Call, _ outcome: Event.Outcome) async {
        guard let flight = flights.withLock({ $0.removeValue(forKey: call.id) }) else { return }
        // In a task of its own, so that the caller does not wait for the server.
        Task {
            await caching.waitForWrites(of: flight.key, call)
            await leave(flight)
        }
    }

    /// Returns a lock that the server may still give to this call, after the call has stopped waiting for the reply.
    private func returnLater(_ flight: Flight, _ error: NetError) {
        guard [.timeout, .reset].contains(error.code),
            late.withLock({ late in
                guard late < Self.maximumLate else { return false }
                late += 1
                return true
            })
        else { return }
        Task {
            await leave(flight)
            late.withLock { $0 -= 1 }
        }
    }

    /// Returns the lock. If the server does not reply, tries again: the others wait as long as the lock exists.
    private func leave(_ flight: Flight) async {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(10)
        while ContinuousClock.now - start < lockTime {
            if (try? await client.run(Self.leave, keys: [flight.lock], [flight.token, Bytes("2000")])) != nil {
                return
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}
#endif

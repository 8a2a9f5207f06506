import NetKit
import NetKitRedis

/// The counts of a worker.
struct Report: Codable, Sendable {
    var worker: Int
    /// The calls that the worker has made.
    var calls = 0
    /// The responses that came from the cache.
    var hits = 0
    /// The calls that the rate limit has refused.
    var refused = 0
    /// The refreshes that this worker has made for all.
    var refreshes = 0
}

/// One of several processes with the same code.
struct Worker {
    private let number: Int
    private let pages: Agent
    private let orders: Agent
    private let refreshes: Counter

    init(_ number: Int, origin: String, redis url: String, prefix: String) throws {
        // In a real program, the keys are secrets of 32 random bytes that all workers have.
        let sealKey = [UInt8](repeating: 1, count: 32)
        let hashKey = Bytes([UInt8](repeating: 2, count: 32))
        // The default time limit, 50 ms, keeps requests fast. Here the sums must be exact even on a busy computer.
        let redis = try RedisClient(url, prefix: prefix, timeLimit: .seconds(30), sealKey: sealKey)
        let limit = SharedRateLimit(dailyBudget, per: .seconds(86_400), maxWait: .zero, redis: redis)
        var configuration = Agent.Configuration(baseURL: origin)
        configuration.headers["Worker"] = "\(number)"
        let login = Agent(configuration)

        let tiers = try RedisCacheStore(redis).twoTier(with: MemoryCacheStore())
        let caching = Caching(tiers, rules: .http(), hashKey: hashKey)
        configuration.interceptors = [SharedFlight(redis, caching), caching, limit]
        pages = Agent(configuration)

        let credentials = try SharedCredentials<String>(redis, name: "orders")
        let counter = Counter()
        let refresh = CredentialRefresh("expired") { expired in
            try await credentials.refreshed(expired) { _ in
                await counter.add()
                return try await login.send(Request<String>("token", method: .post)).value
            }
        }
        configuration.interceptors = [refresh, limit]
        orders = Agent(configuration)
        self.number = number
        refreshes = counter
    }

    /// Reads the page five times, then the worker's orders ten times.
    func run() async throws -> Report {
        var report = Report(worker: number)
        for _ in 0..<5 {
            report.calls += 1
            let response = try await pages.send(Request<String>("prices"))
            report.hits += response.cache?.isHit == true ? 1 : 0
        }
        for _ in 0..<10 {
            report.calls += 1
            report.refused += try await readOrders() ? 0 : 1
        }
        report.refreshes = await refreshes.count
        return report
    }

    /// Returns false if the rate limit refuses the request.
    private func readOrders() async throws -> Bool {
        do {
            _ = try await orders.send(Request<String>("orders/\(number)"))
            return true
        } catch {
            if error.code != .slotTimeout {
                throw error
            }
            return false
        }
    }
}

actor Counter {
    private(set) var count = 0

    func add() {
        count += 1
    }
}

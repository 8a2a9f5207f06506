import NetKit
import NetKitRedis

/// The rows of run.sh with processes that share a cache on a Redis server:
///
///     bench-shared hit ORIGIN-PORT REDIS-PORT COUNT             prints p50_us=MEDIAN p99_us=TIME, of cache hits
///     bench-shared expired ORIGIN-PORT REDIS-PORT KEYS RUN N    is process N of those that request expired keys together
///
/// others/clients.py does the same with the libraries for Python.
@main
struct Main {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count >= 5, let count = Int(words[4]) else { fatalError("wrong arguments") }
        // The Python libraries wait for the server without a limit. A limit of 50 ms would be exceeded on a busy machine.
        let redis = try RedisClient("redis://127.0.0.1:\(words[3])", prefix: "bench", timeLimit: .seconds(10))
        let caching = Caching(RedisCacheStore(redis), rules: .http(HTTPCachePolicy()))
        var configuration = Agent.Configuration(baseURL: "http://127.0.0.1:\(words[2])")
        if words[1] == "hit" {
            configuration.interceptors = [caching]
            try await measureHits(Agent(configuration), count)
        } else {
            configuration.interceptors = [SharedFlight(redis, caching), caching]
            try await requestExpiredKeys(Agent(configuration), count, run: words[5], process: words[6])
        }
    }

    private static func measureHits(_ agent: Agent, _ count: Int) async throws {
        var times: [Duration] = []
        times.reserveCapacity(count)
        // The first tenth, and at least the first request, is the warm-up.
        for number in -(count / 10 + 1)..<count {
            let start = ContinuousClock.now
            let response = try await agent.send(Request<Bytes>("hit"))
            let time = ContinuousClock.now - start
            guard response.value.count == 1024 else { fatalError("a wrong body") }
            if number >= 0 {
                guard response.source == .cache else { fatalError("a response is not from the cache") }
                times.append(time)
            }
        }
        times.sort()
        print("p50_us=\(microseconds(times[count / 2])) p99_us=\(microseconds(times[count * 99 / 100]))")
    }

    private static func microseconds(_ time: Duration) -> Double {
        Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6
    }

    private static func requestExpiredKeys(_ agent: Agent, _ keys: Int, run: String, process: String) async throws {
        for key in 0..<keys {
            let path = "expired/\(run)-\(key)"
            if process == "0" {
                _ = try await agent.send(Request<Bytes>(path))
            }
            // The origin responds to all processes together, after the stored response has expired.
            _ = try await agent.send(Request<Bytes>("barrier/\(run)-\(key)/\(process)"))
            guard try await agent.send(Request<Bytes>(path)).value.count == 1024 else { fatalError("a wrong body") }
        }
    }
}

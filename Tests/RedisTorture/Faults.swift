#if Redis
@preconcurrency import Glibc
import NetKit
import NetKitRedis

/// A transport that responds immediately. The path determines the body, so that a wrong one is noticed, and the time of
/// a request is what its interceptors add.
final class InstantOrigin: Transport {
    private let headers: Headers

    init(_ control: String) {
        headers = ["Content-Type": "application/octet-stream", "Cache-Control": control]
    }

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        Response(status: 200, headers: headers, bytes: Self.body(of: request.url))
    }

    func shutdown() async {}

    /// Up to 20,000 bytes.
    static func body(of url: String) -> Bytes {
        var generator = Generator(url.utf8.reduce(0) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
        let count = Int.random(in: 0..<2500, using: &generator)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 8)
        for _ in 0..<count {
            withUnsafeBytes(of: generator.next()) { bytes += $0 }
        }
        return Bytes(bytes)
    }
}

/// Agents that send requests all the time, each with a client of its own, as another process would have.
final class Load: Sendable {
    struct Counts: Sendable {
        var requests = 0
        var hits = 0
        var wrong = 0
        var failed = 0
        var firstFailure = ""
        /// Times in milliseconds: of requests for keys that only one agent uses, and of those that agents share.
        var own: [Double] = []
        var common: [Double] = []
    }

    static let timeLimit = 50
    private let counts = Guarded(Counts())
    private let hasEnded = Guarded(false)
    private let agents: [Agent]

    init(_ server: RedisServer, port: UInt16, count: Int) throws {
        agents = try (0..<count).map { index in
            let client = try RedisClient(
                server.url(port: port), prefix: "faults", trust: server.trust,
                timeLimit: .milliseconds(Self.timeLimit), sealKey: [UInt8](repeating: 7, count: 32))
            let hashKey = Bytes([UInt8](repeating: 1, count: 32))
            let caching = Caching(RedisCacheStore(client), rules: .http(HTTPCachePolicy()), hashKey: hashKey)
            var configuration = Agent.Configuration(baseURL: "http://origin")
            // A limit that never delays a request as long as it counts.
            configuration.interceptors = [
                SharedFlight(client, caching, lockTime: .seconds(10)), caching,
                SharedRateLimit(1_000_000, per: .seconds(1), redis: client),
            ]
            return Agent(configuration, transport: InstantOrigin("max-age=1"))
        }
    }

    /// Sends requests until ``end()`` is called.
    func run(_ generator: Generator) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, agent) in agents.enumerated() {
                for task in 0..<2 {
                    var generator = generator
                    let seed = generator.next() &+ UInt64(index * 2 + task)
                    group.addTask { await self.send(agent, index, Generator(seed)) }
                }
            }
        }
    }

    private func send(_ agent: Agent, _ index: Int, _ generator: Generator) async {
        var generator = generator
        while !hasEnded.with({ $0 }) {
            let isOwn = Int.random(in: 0..<5, using: &generator) > 0
            let path = "/\(isOwn ? "\(index)" : "common")/\(Int.random(in: 0..<40, using: &generator))"
            let expected = InstantOrigin.body(of: "http://origin\(path)")
            let start = milliseconds()
            let result = await Task { try await agent.send(Request<Bytes>(path)) }.result
            let time = milliseconds() - start
            counts.with { counts in
                counts.requests += 1
                switch result {
                case .success(let response):
                    counts.hits += response.source == .cache ? 1 : 0
                    counts.wrong += response.value == expected ? 0 : 1
                case .failure(let error):
                    counts.failed += 1
                    counts.firstFailure = counts.firstFailure.isEmpty ? "\(error)" : counts.firstFailure
                }
                if isOwn {
                    counts.own.append(time)
                } else {
                    counts.common.append(time)
                }
            }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    func end() { hasEnded.with { $0 = true } }

    /// Returns the counts since the last call.
    func take() -> Counts {
        counts.with { counts in
            defer { counts = Counts() }
            return counts
        }
    }

    /// Waits until this number of requests, or hits, has been added. Returns false after 60 s.
    func wait(requests: Int = 0, hits: Int = 0) -> Bool {
        let (start, before) = (milliseconds(), counts.with { ($0.requests, $0.hits) })
        while milliseconds() - start < 60_000 {
            let now = counts.with { ($0.requests, $0.hits) }
            if now.0 - before.0 >= requests, now.1 - before.1 >= hits {
                return true
            }
            usleep(1000)
        }
        return false
    }
}

extension Torture {
    /// Requests continue while the server has faults.
    func testFaults(_ server: RedisServer) async throws {
        let relay = try Relay(to: server.port)
        let load = try Load(server, port: relay.port, count: 4)
        let generator = generator("faults")
        let running = Task { await load.run(generator) }
        let result = try await onThread { () -> String? in
            defer { load.end() }
            do {
                try breakServer(server, relay, load)
                return nil
            } catch {
                return "\(error)"
            }
        }
        await running.value
        relay.stop()
        problems.add(result)
    }

    private func breakServer(_ server: RedisServer, _ relay: Relay, _ load: Load) throws {
        var generator = generator("breaks")
        let (rounds, cuts) = (max(3, requests / 4000), max(60, requests / 100))
        try phase("no fault", load, rounds) { _ in load.wait(requests: 200, hits: 50) }
        if !isSample {
            try phase("killed, and started again empty", load, rounds) { _ in
                server.crash()
                let hasContinued = load.wait(requests: 100)
                try server.start()
                return load.wait(hits: 50) && hasContinued
            }
            try phase("stopped and continued", load, rounds) { round in
                server.send(SIGSTOP)
                let hasContinued = load.wait(requests: [50, 200, 800][round % 3])
                server.send(SIGCONT)
                return load.wait(hits: 50) && hasContinued
            }
            try phase("no memory", load, rounds) { _ in
                try Control(server).run("CONFIG", "SET", "maxmemory", "1")
                let hasContinued = load.wait(requests: 200)
                try Control(server).run("CONFIG", "SET", "maxmemory", "0")
                return load.wait(hits: 50) && hasContinued
            }
        }
        try phase("connection cut", load, cuts) { _ in
            let isOfServer = Bool.random(using: &generator)
            relay.cut(isOfServer: isOfServer, after: Int.random(in: 0..<30_000, using: &generator))
            while !relay.isCut {
                guard load.wait(requests: 1) else { return false }
            }
            return load.wait(requests: 10)
        }
    }

    /// Repeats a fault, and reports what happened to the requests meanwhile.
    private func phase(_ name: String, _ load: Load, _ rounds: Int, _ body: (Int) throws -> Bool) throws {
        _ = load.take()
        var stuck = 0
        for round in 0..<rounds where try !body(round) {
            stuck += 1
        }
        let counts = load.take()
        let late = counts.own.count { $0 > Double(Load.timeLimit + 20) }
        report(
            "\(name), \(rounds) times",
            """
            \(counts.requests) requests, \(counts.hits) hits, \(counts.wrong) wrong bodies, \(counts.failed) failed\
            \(counts.firstFailure.isEmpty ? "" : " (\(counts.firstFailure))"), \(stuck) times without recovery; added \
            time \(times(counts.own)), \(late) above \(Load.timeLimit + 20) ms; with keys of several processes \
            \(times(counts.common))
            """, broken: counts.wrong + counts.failed + stuck)
    }

    private func times(_ times: [Double]) -> String {
        let sorted = times.sorted()
        guard let last = sorted.last else { return "none" }
        return "\(sorted[sorted.count * 99 / 100].rounded1) ms (p99), \(last.rounded1) ms (maximum)"
    }
}
#endif

#if Redis
@preconcurrency import Glibc
import NetKit
import NetKitRedis

extension Torture {
    /// Flips one bit of a field of an entry.
    private static let flip = """
        local value = redis.call('HGET', KEYS[1], ARGV[1])
        if not value or #value == 0 then return 0 end
        local place = ARGV[2] % (#value * 8)
        local at = math.floor(place / 8)
        local byte = bit.bxor(string.byte(value, at + 1), bit.lshift(1, place % 8))
        redis.call('HSET', KEYS[1], ARGV[1], string.sub(value, 1, at) .. string.char(byte) .. string.sub(value, at + 2))
        return 1
        """

    /// Flips bits of stored entries. Each lookup after a flip must find nothing, so that the origin's body is returned.
    func testFlips(_ server: RedisServer) async throws {
        let flips = isSample ? 2000 : requests * 10
        let start = milliseconds()
        let results = try await withThrowingTaskGroup(of: (flips: Int, wrong: Int, accepted: Int).self) { group in
            for index in 0..<4 {
                group.addTask { try await flipBits(server, index, flips / 4) }
            }
            return try await group.reduce(into: (flips: 0, wrong: 0, accepted: 0)) { sum, part in
                sum = (sum.flips + part.flips, sum.wrong + part.wrong, sum.accepted + part.accepted)
            }
        }
        report(
            "bit flips",
            """
            \(results.flips) in sealed and unsealed entries, \(((milliseconds() - start) / 1000).rounded1) s: \
            \(results.wrong) wrong bodies, \(results.accepted) damaged entries used
            """, broken: results.wrong + results.accepted + (results.flips < flips / 4 * 4 ? 1 : 0))
    }

    private func flipBits(
        _ server: RedisServer, _ index: Int, _ count: Int
    ) async throws -> (flips: Int, wrong: Int, accepted: Int) {
        var generator = generator("flips \(index)")
        let control = try Control(server)
        let script = try control.run("SCRIPT", "LOAD", Self.flip)[0]
        let client = try RedisClient(
            server.url(), prefix: "flips\(index)", trust: server.trust, timeLimit: .seconds(60),
            sealKey: index % 2 == 0 ? nil : [UInt8](repeating: 7, count: 32))
        let hashKey = Bytes([UInt8](repeating: 1, count: 32))
        var policy = CachePolicy(maximumAge: .seconds(3600))
        policy.writesAsynchronously = false
        policy.tags = ["one", "two"]
        var configuration = Agent.Configuration(baseURL: "http://origin")
        configuration.interceptors = [
            Caching(RedisCacheStore(client), rules: .application(policy), hashKey: hashKey)
        ]
        let agent = Agent(configuration, transport: InstantOrigin("no-store"))
        // The names of keys are hashes, so a key is found when its entry is stored.
        let paths = (0..<16).map { "/\($0)" }
        var keys: [String] = []
        for path in paths {
            _ = try await agent.send(Request<Bytes>(path))
            keys += try control.run("KEYS", "{flips\(index)}:e*").filter { !keys.contains($0) }
        }
        guard keys.count == paths.count else { throw Failure("\(keys.count) entries of \(paths.count) were stored") }
        let bodies = paths.map { InstantOrigin.body(of: "http://origin\($0)") }
        var result = (flips: 0, wrong: 0, accepted: 0)
        while result.flips < count {
            let chosen = Int.random(in: 0..<paths.count, using: &generator)
            // The body of an entry has most of its bits, so the other fields are chosen more often than their size.
            let field = ["h", "t", "b", "b"][Int.random(in: 0..<4, using: &generator)]
            let place = "\(Int.random(in: 0..<(1 << 24), using: &generator))"
            guard try control.run("EVALSHA", script, "1", keys[chosen], field, place) == ["1"] else {
                throw Failure("the entry \(keys[chosen]) was not stored again")
            }
            result.flips += 1
            let response = try await agent.send(Request<Bytes>(paths[chosen]))
            result.wrong += response.value == bodies[chosen] ? 0 : 1
            result.accepted += response.source == .cache ? 1 : 0
        }
        return result
    }
}
#endif

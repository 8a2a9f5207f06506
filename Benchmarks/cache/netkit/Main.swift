import CMeasure
import NetKit
import NetKitTesting

/// `agent.send()` of a request with a hit in the memory cache, or with a response of the stub and no cache:
/// `bench-cache COUNT agent|stub` prints the line that run.sh reads.
@main
struct Main {
    static func main() async throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
        let isCached = CommandLine.arguments.dropFirst(2).first != "stub"
        let stub = StubTransport()
        stub.register("*", with: .bytes(Bytes([UInt8](repeating: 7, count: 1024))))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        var policy = CachePolicy(maximumAge: .seconds(3600))
        policy.writesAsynchronously = false
        if isCached {
            configuration.interceptors = [Caching(MemoryCacheStore(), rules: .application(policy))]
        }
        let agent = Agent(configuration, transport: stub)
        _ = await run(1000 + count / 10, agent)
        let start = bench_usage_now()
        let failures = await run(count, agent)
        let end = bench_usage_now()
        guard failures == 0, !isCached || stub.requests.count <= 8 else {
            fatalError("\(failures) answers were not from the cache")
        }
        print("cpu=\((end.cpu_s - start.cpu_s) * 1e6 / Double(count)) wall_s=\(end.wall_s - start.wall_s) rss_kb=0")
    }

    private static let paths = (0..<8).map { "/entries/\($0)" }

    private static func run(_ count: Int, _ agent: Agent) async -> Int {
        let paths = paths
        var failures = 0
        for number in 0..<count {
            let answer = try? await agent.send(Request<Bytes>(paths[number % paths.count]))
            if answer?.bytes.count != 1024 {
                failures += 1
            }
        }
        return failures
    }
}

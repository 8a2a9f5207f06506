import NetKit
import Workload

/// NetKit's `agent.send`, awaited on the agent's own executor (`--mode loop`) or on the global one (`--mode global`).
@main
struct Main {
    static func main() async throws {
        let workload = Workload()
        var configuration = Agent.Configuration()
        configuration.maxInFlight = workload.inFlight
        configuration.maxConnectionsPerHost = workload.inFlight
        configuration.maxStreams = workload.inFlight
        // More than the default in the largest runs.
        configuration.limits.maxBodyBytes = workload.bodyByteCount + 1
        // Its peers send no User-Agent either.
        configuration.userAgent = nil
        if let file = workload.authorities {
            configuration.trust.roots = .file(file)
        }
        let agent = Agent(configuration)
        let loop: Workload.Loop = { await send($0, workload, through: agent) }
        if workload.mode == "loop" {
            await withTaskExecutorPreference(agent.executor) {
                await workload.measure(peer: "swift-loop", loop: loop)
            }
        } else {
            await workload.measure(peer: "swift", loop: loop)
        }
        await agent.shutdown()
    }

    private static func send(_ requestCount: Int, _ workload: Workload, through agent: Agent) async -> Int {
        var failureCount = 0
        for _ in 0..<requestCount {
            do {
                var request = Request<Bytes>(workload.url)
                // The same request on the wire as the peers over libcurl.
                request.acceptsCodings = workload.asksCodings
                let response = try await agent.send(request)
                if response.status != 200 || response.value.count != workload.bodyByteCount {
                    failureCount += 1
                }
            } catch {
                failureCount += 1
            }
        }
        return failureCount
    }
}

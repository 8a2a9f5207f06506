@_spi(Measuring) import NetKit
import Workload

/// Measures the layer between a caller and the transport. `--mode` selects the peer:
/// - `bare`: the transport alone
/// - `empty`: an agent without interceptors
/// - `four`: an agent with four interceptors that do nothing
/// - `ready`: an agent with four of NetKit's interceptors
/// - `group`, `batch`: a thousand concurrent requests, or the number after a colon (`batch:10`), in a task group or as
///   a `Batch`
///
/// Several modes, separated by commas (`bare,empty`), take turns, each over its own connections.
@main
struct Main {
    static func main() async throws {
        let workload = Workload()
        let modes = workload.mode.split(separator: ",").map(String.init)
        let agents = modes.map { agent($0, workload) }
        let peers = zip(modes, agents).map { (name: $0, loop: loop($0, workload, through: $1)) }
        if let only = peers.first, peers.count == 1 {
            await workload.measure(peer: only.name, loop: only.loop)
        } else {
            await workload.measure(inTurns: peers)
        }
        for agent in agents {
            await agent.shutdown()
        }
    }

    private static func agent(_ mode: String, _ workload: Workload) -> Agent {
        var configuration = Agent.Configuration()
        configuration.maxInFlight = isTogether(mode) ? 64 : workload.inFlight
        configuration.maxConnectionsPerHost = configuration.maxInFlight
        // The bare transport sends no User-Agent either.
        configuration.userAgent = nil
        configuration.interceptors = interceptors(mode)
        return Agent(configuration)
    }

    private static func isTogether(_ mode: String) -> Bool {
        mode.hasPrefix("group") || mode.hasPrefix("batch")
    }

    private static func loop(_ mode: String, _ workload: Workload, through agent: Agent) -> Workload.Loop {
        if isTogether(mode) {
            let size = mode.split(separator: ":").dropFirst().first.flatMap { Int($0) } ?? 1_000
            return { await sendTogether($0, workload, size: size, isBatch: mode.hasPrefix("batch"), through: agent) }
        }
        if mode == "bare" {
            let transport = agent.bareTransport
            return { await send($0, workload, over: transport) }
        }
        return { await send($0, workload, through: agent) }
    }

    private static func interceptors(_ mode: String) -> [any Interceptor] {
        switch mode {
        case "four": [Passing(), Passing(), Passing(), Passing()]
        case "ready":
            [
                Retry(), CircuitBreaker(), RateLimit(1_000_000, per: .milliseconds(1)),
                CredentialRefresh("token") {
                    $0.headers["X-Token"] = $1
                } refresh: { _ in
                    "token"
                },
            ]
        default: []
        }
    }

    private static func send(_ requestCount: Int, _ workload: Workload, through agent: Agent) async -> Int {
        var failureCount = 0
        for _ in 0..<requestCount {
            do throws(NetError) {
                let response = try await agent.send(Request<Bytes>(workload.url))
                if response.status != 200 || response.value.count != workload.bodyByteCount {
                    failureCount += 1
                }
            } catch {
                failureCount += 1
            }
        }
        return failureCount
    }

    private static func sendTogether(
        _ requestCount: Int, _ workload: Workload, size: Int, isBatch: Bool, through agent: Agent
    ) async -> Int {
        var failureCount = 0
        var left = requestCount
        while left > 0 {
            let requests = Array(repeating: Request<Bytes>(workload.url), count: min(left, size))
            left -= requests.count
            do {
                let responses =
                    isBatch
                    ? try await agent.send(Batch(requests)).outcomes : try await inGroup(requests, through: agent)
                failureCount += responses.count { $0.status != 200 || $0.value.count != workload.bodyByteCount }
            } catch {
                failureCount += requests.count
            }
        }
        return failureCount
    }

    /// What an app would write without `Batch`: sends all requests concurrently, and returns the responses in order.
    private static func inGroup(
        _ requests: [Request<Bytes>], through agent: Agent
    ) async throws -> [Response<Bytes>] {
        try await withThrowingTaskGroup(of: (Int, Response<Bytes>).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, try await agent.send(request)) }
            }
            var responses = [Response<Bytes>?](repeating: nil, count: requests.count)
            for try await (index, response) in group {
                responses[index] = response
            }
            return responses.compactMap(\.self)
        }
    }

    private static func send(_ requestCount: Int, _ workload: Workload, over transport: any Transport) async -> Int {
        var failureCount = 0
        for _ in 0..<requestCount {
            do throws(NetError) {
                // An agent always sets these two before it calls a transport.
                var request = Request<Bytes>(workload.url)
                request.limits = Limits()
                request.redirects = .follow
                let response = try await transport.send(request)
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

/// Calls `next` and does nothing else.
private struct Passing: Interceptor {
    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        try await next(call)
    }
}

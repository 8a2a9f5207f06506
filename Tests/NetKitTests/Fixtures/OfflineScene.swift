import NetKit
import NetKitTesting

/// The environment of an offline queue: simulated reachability, a directory, a stub, and the outcomes of the requests.
struct OfflineScene {
    let stub = StubTransport()
    let path = StubPath(.notReachable)
    let time = StubTime()
    let reachability: Reachability
    let folder: TemporaryFolder
    let told = Collected<String>()

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.answer("*", with: .text("done"))
    }

    func queue(maxCount: Int = 100) throws -> OfflineQueue {
        try OfflineQueue(
            folder: folder.path, reachability: reachability, maxCount: maxCount, time: time.source
        ) { [told] outcome in
            switch outcome {
            case .answered(let kept, let response): told.append("\(kept.id) answered \(response.status)")
            case .failed(let kept, let error): told.append("\(kept.id) failed \(error.code)")
            case .expired(let kept): told.append("\(kept.id) expired")
            }
        }
    }

    func agent(
        _ queue: OfflineQueue, behind: [any Interceptor] = [],
        configured change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://a.example")
        configuration.interceptors = [queue] + behind
        configuration.reachability = reachability
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    func put(_ place: String) -> Request<Bytes> {
        Request<Bytes>(place, method: .put, body: .text("x"))
    }

    /// Makes the network reachable and sends the queued requests until this many outcomes are reported.
    func drain(_ queue: OfflineQueue, by agent: Agent, until count: Int) async {
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        while told.values.count < count {
            await Task.yield()
        }
        draining.cancel()
        await draining.value
    }
}

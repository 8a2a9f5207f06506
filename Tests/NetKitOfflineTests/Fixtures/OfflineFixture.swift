import NetKit
import NetKitOffline
import NetKitTesting

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The environment of an offline queue: simulated reachability, a directory, a stub, and the outcomes of the requests.
struct OfflineFixture {
    let stub = StubTransport()
    let path = StubPath(.notReachable)
    let time = StubTime()
    let reachability: Reachability
    let folder: TemporaryFolder
    let notifications = Collected<String>()

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.register("*", with: .text("done"))
    }

    func queue(maxCount: Int = 100) throws(NetError) -> OfflineQueue {
        try OfflineQueue(
            folder: folder.path, reachability: reachability, maxCount: maxCount, time: time.source
        ) { [notifications] outcome in
            switch outcome {
            case .answered(let request, let response): notifications.append("\(request.id) answered \(response.status)")
            case .failed(let request, let error): notifications.append("\(request.id) failed \(error.code)")
            case .expired(let request): notifications.append("\(request.id) expired")
            }
        }
    }

    /// Opens the queue of a directory whose earlier queue no variable holds any more. A call releases its queue a moment
    /// after its result is known, so the directory may still be locked at first.
    func reopenedQueue() async throws -> OfflineQueue {
        while true {
            do throws(NetError) {
                return try queue()
            } catch {
                guard error.nativeCode == Int(EWOULDBLOCK) else { throw error }
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    func agent(
        _ queue: OfflineQueue, behind: [any Interceptor] = [],
        configured change: (inout Agent.Configuration) -> Void = { _ in }
    ) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://a.example")
        configuration.interceptors = [queue] + behind
        change(&configuration)
        return Agent(configuration, transport: stub)
    }

    func put(_ url: String) -> Request<Bytes> {
        Request<Bytes>(url, method: .put, body: .text("x"))
    }

    /// Makes the network reachable and sends the queued requests until this many outcomes are reported.
    func drain(_ queue: OfflineQueue, by agent: Agent, until count: Int) async {
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        while notifications.values.count < count {
            await Task.yield()
        }
        draining.cancel()
        await draining.value
    }
}

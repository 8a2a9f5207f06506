import NetKit
import NetKitOffline
import NetKitTesting
import Testing

/// An offline queue that waits for the network.
@Suite(.timeLimit(.minutes(5)))
struct QueueWaitingTests {
    private let fixture: OfflineFixture
    private let gate = StubGate()

    init() throws {
        fixture = try OfflineFixture()
        // The gate keeps a wait from advancing the simulated clock, which would make requests expire.
        fixture.time.hold(by: gate)
    }

    private func wait(until isTrue: () -> Bool) async {
        while !isTrue() {
            await Task.yield()
        }
    }

    @Test func requestCancelledWhileWaitingForAPathIsNotSent() async throws {
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        #expect(await ending(of: fixture.put("/1"), from: agent) == .failed(.queued))
        #expect(await ending(of: fixture.put("/2"), from: agent) == .failed(.queued))
        let draining = Task { await agent.drain(queue) }
        await wait { !fixture.time.waits.isEmpty }
        #expect(queue.remove(1))
        fixture.path.set(.viaWiFiOrWired)
        await wait { !fixture.notifications.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(fixture.notifications.values == ["2 answered 200"] && fixture.stub.requests.map(\.path) == ["/2"])
    }

    @Test(arguments: ["1e300", "9.3e18"])
    func hugeDateIsTreatedAsUnlimited(moment: String) async throws {
        let text = #"{"expiresAt":\#(moment),"fields":[],"id":1,"keptAt":1,"method":"PUT","url":"http://a.example/1"}"#
        try fixture.folder.write(Array(text.utf8), to: "000000000001.json")
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        let draining = Task { await agent.drain(queue) }
        await wait { !fixture.time.waits.isEmpty }
        fixture.path.set(.viaWiFiOrWired)
        await wait { !fixture.notifications.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(fixture.notifications.values == ["1 answered 200"])
    }

    @Test func localNetworkHostNeedsNoInternetPath() async throws {
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        #expect(await ending(of: fixture.put("http://10.0.0.7/1"), from: agent) == .failed(.queued))
        fixture.path.set(PathState(.viaWiFiOrWired), of: "10.0.0.7")
        let draining = Task { await agent.drain(queue) }
        await wait { !fixture.notifications.values.isEmpty || !fixture.time.waits.isEmpty }
        draining.cancel()
        await draining.value
        #expect(fixture.notifications.values == ["1 answered 200"] && fixture.time.waits == [])
    }

    @Test func changeThatDoesNotFitDoesNotOvertakeTheQueue() async throws {
        let queue = try fixture.queue(maxCount: 1)
        let agent = fixture.agent(queue)
        #expect(await ending(of: fixture.put("/1"), from: agent) == .failed(.queued))
        fixture.path.set(.viaWiFiOrWired)
        #expect(await ending(of: fixture.put("/1"), from: agent) == .failed(.tooLarge))
        #expect(await ending(of: Request<Bytes>("http://a.example/read"), from: agent) == .answered)
        #expect(fixture.stub.requests.map(\.path) == ["/read"])
    }

    /// Cancels each call that passes.
    private struct Cancelling: Interceptor {
        func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await next(call)
        }
    }

    @Test func requestCancelledBeforeItIsWrittenIsNotQueued() async throws {
        let queue = try fixture.queue()
        var configuration = Agent.Configuration()
        configuration.interceptors = [Cancelling(), queue]
        let agent = Agent(configuration, transport: fixture.stub)
        let request = fixture.put("/1")
        #expect(await Task { await ending(of: request, from: agent) }.value == .failed(.cancelled))
        #expect(queue.requests.isEmpty && fixture.folder.names == [])
    }

    @Test func localServerFailureDoesNotAffectReachability() async throws {
        let queue = try fixture.queue()
        let agent = fixture.agent(queue)
        fixture.stub.register("/", with: .failure(.refused))
        #expect(await ending(of: fixture.put("http://localhost:8080/"), from: agent) == .failed(.refused))
        #expect(await ending(of: fixture.put("http://a.example/"), from: agent) == .failed(.queued))
        #expect(queue.requests.map(\.url) == ["http://a.example/"])
    }
}

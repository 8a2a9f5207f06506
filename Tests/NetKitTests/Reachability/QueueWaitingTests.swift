import NetKit
import NetKitTesting
import Testing

/// An offline queue that waits for the network.
@Suite(.timeLimit(.minutes(5)))
struct QueueWaitingTests {
    private let scene: OfflineScene
    private let gate = StubGate()

    init() throws {
        scene = try OfflineScene()
        // The simulated clock must not advance by the wait, or requests would expire.
        scene.time.hold(by: gate)
    }

    private func wait(until isTrue: () -> Bool) async {
        while !isTrue() {
            await Task.yield()
        }
    }

    @Test func whatIsGivenUpWhileTheWayIsWaitedForIsNotSent() async throws {
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        #expect(await ending(of: scene.put("/1"), from: agent) == .failed(.queued))
        #expect(await ending(of: scene.put("/2"), from: agent) == .failed(.queued))
        let draining = Task { await agent.drain(queue) }
        await wait { !scene.time.waits.isEmpty }
        #expect(queue.remove(1))
        scene.path.set(.viaWiFiOrWired)
        await wait { !scene.told.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(scene.told.values == ["2 answered 200"] && scene.stub.requests.map(\.path) == ["/2"])
    }

    @Test(arguments: ["1e300", "9.3e18"])
    func aMomentBeyondAllTimeIsAsGoodAsForEver(moment: String) async throws {
        let text = #"{"expiresAt":\#(moment),"fields":[],"id":1,"keptAt":1,"method":"PUT","url":"http://a.example/1"}"#
        try scene.folder.write(Array(text.utf8), to: "000000000001.json")
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        let draining = Task { await agent.drain(queue) }
        await wait { !scene.time.waits.isEmpty }
        scene.path.set(.viaWiFiOrWired)
        await wait { !scene.told.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(scene.told.values == ["1 answered 200"])
    }

    @Test func aHostOnTheLocalNetworkNeedsNoWayToTheInternet() async throws {
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        #expect(await ending(of: scene.put("http://10.0.0.7/1"), from: agent) == .failed(.queued))
        scene.path.set(PathState(.viaWiFiOrWired), of: "10.0.0.7")
        let draining = Task { await agent.drain(queue) }
        await wait { !scene.told.values.isEmpty || !scene.time.waits.isEmpty }
        draining.cancel()
        await draining.value
        #expect(scene.told.values == ["1 answered 200"] && scene.time.waits == [])
    }

    @Test func aChangeThatFindsNoRoomDoesNotOvertakeWhatIsKept() async throws {
        let queue = try scene.queue(maxCount: 1)
        let agent = scene.agent(queue)
        #expect(await ending(of: scene.put("/1"), from: agent) == .failed(.queued))
        scene.path.set(.viaWiFiOrWired)
        #expect(await ending(of: scene.put("/1"), from: agent) == .failed(.tooLarge))
        #expect(await ending(of: Request<Bytes>("http://a.example/read"), from: agent) == .answered)
        #expect(scene.stub.requests.map(\.path) == ["/read"])
    }

    /// Cancels each call that passes.
    private struct Cancelling: Interceptor {
        func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await next(call)
        }
    }

    @Test func whatIsCancelledBeforeItIsWrittenDownIsNotKept() async throws {
        let queue = try scene.queue()
        var configuration = Agent.Configuration()
        configuration.interceptors = [Cancelling(), queue]
        let agent = Agent(configuration, transport: scene.stub)
        let request = scene.put("/1")
        #expect(await Task { await ending(of: request, from: agent) }.value == .failed(.cancelled))
        #expect(queue.requests.isEmpty && scene.folder.names == [])
    }

    @Test func aServerOfThisMachineThatIsDownSaysNothingOfTheWay() async throws {
        let queue = try scene.queue()
        let agent = scene.agent(queue)
        scene.stub.answer("/", with: .failure(.refused))
        #expect(await ending(of: scene.put("http://localhost:8080/"), from: agent) == .failed(.refused))
        #expect(await ending(of: scene.put("http://a.example/"), from: agent) == .failed(.queued))
        #expect(queue.requests.map(\.url) == ["http://a.example/"])
    }
}

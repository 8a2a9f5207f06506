import NetKit
import NetKitTesting
import Testing

/// What an offline queue does while it waits for a way.
@Suite(.timeLimit(.minutes(5)))
struct QueueWaitingTests {
    private let stub = StubTransport()
    private let path = StubPath(.notReachable)
    private let time = StubTime()
    private let gate = StubGate()
    private let reachability: Reachability
    private let folder: TemporaryFolder
    private let told = Collected<String>()

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.answer("*", with: .text("done"))
        // A wait for the way takes up nobody's lifetime.
        time.hold(by: gate)
    }

    private func queue(maxCount: Int = 100) throws -> OfflineQueue {
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

    private func agent(_ queue: OfflineQueue) -> Agent {
        var configuration = Agent.Configuration()
        configuration.interceptors = [queue]
        return Agent(configuration, transport: stub)
    }

    private func put(_ place: String, at host: String = "a.example") -> Request<Bytes> {
        Request<Bytes>("http://\(host)\(place)", method: .put, body: .text("x"))
    }

    private func wait(until isTrue: () -> Bool) async {
        while !isTrue() {
            await Task.yield()
        }
    }

    @Test func whatIsGivenUpWhileTheWayIsWaitedForIsNotSent() async throws {
        let queue = try queue()
        let agent = agent(queue)
        #expect(await ending(of: put("/1"), from: agent) == .failed(.queued))
        #expect(await ending(of: put("/2"), from: agent) == .failed(.queued))
        let draining = Task { await agent.drain(queue) }
        await wait { !time.waits.isEmpty }
        #expect(queue.remove(1))
        path.set(.viaWiFiOrWired)
        await wait { !told.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(told.values == ["2 answered 200"] && stub.requests.map(\.path) == ["/2"])
    }

    @Test(arguments: ["1e300", "9.3e18"])
    func aMomentBeyondAllTimeIsAsGoodAsForEver(moment: String) async throws {
        let text = #"{"expiresAt":\#(moment),"fields":[],"id":1,"keptAt":1,"method":"PUT","url":"http://a.example/1"}"#
        try folder.write(Array(text.utf8), to: "000000000001.json")
        let queue = try queue()
        let agent = agent(queue)
        let draining = Task { await agent.drain(queue) }
        await wait { !time.waits.isEmpty }
        path.set(.viaWiFiOrWired)
        await wait { !told.values.isEmpty }
        draining.cancel()
        await draining.value
        #expect(told.values == ["1 answered 200"])
    }

    @Test func aHostOnTheLocalNetworkNeedsNoWayToTheInternet() async throws {
        let queue = try queue()
        let agent = agent(queue)
        #expect(await ending(of: put("/1", at: "10.0.0.7"), from: agent) == .failed(.queued))
        path.set(PathState(.viaWiFiOrWired), of: "10.0.0.7")
        let draining = Task { await agent.drain(queue) }
        await wait { !told.values.isEmpty || !time.waits.isEmpty }
        draining.cancel()
        await draining.value
        #expect(told.values == ["1 answered 200"] && time.waits == [])
    }

    @Test func aChangeThatFindsNoRoomDoesNotOvertakeWhatIsKept() async throws {
        let queue = try queue(maxCount: 1)
        let agent = agent(queue)
        #expect(await ending(of: put("/1"), from: agent) == .failed(.queued))
        path.set(.viaWiFiOrWired)
        #expect(await ending(of: put("/1"), from: agent) == .failed(.tooLarge))
        #expect(await ending(of: Request<Bytes>("http://a.example/read"), from: agent) == .answered)
        #expect(stub.requests.map(\.path) == ["/read"])
    }

    /// Cancels the call that comes by.
    private struct Cancelling: Interceptor {
        func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await next(call)
        }
    }

    @Test func whatIsCancelledBeforeItIsWrittenDownIsNotKept() async throws {
        let queue = try queue()
        var configuration = Agent.Configuration()
        configuration.interceptors = [Cancelling(), queue]
        let agent = Agent(configuration, transport: stub)
        let request = put("/1")
        #expect(await Task { await ending(of: request, from: agent) }.value == .failed(.cancelled))
        #expect(queue.requests.isEmpty && folder.names == [])
    }

    @Test func aServerOfThisMachineThatIsDownSaysNothingOfTheWay() async throws {
        let queue = try queue()
        let agent = agent(queue)
        stub.answer("/", with: .failure(.refused))
        #expect(await ending(of: put("/", at: "localhost:8080"), from: agent) == .failed(.refused))
        #expect(await ending(of: put("/", at: "a.example"), from: agent) == .failed(.queued))
        #expect(queue.requests.map(\.url) == ["http://a.example/"])
    }
}

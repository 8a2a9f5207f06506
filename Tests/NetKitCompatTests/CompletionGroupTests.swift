import NetKit
import NetKitCompat
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CompletionGroupTests {
    @Test func completionGroupIsEmptyAfterItsRequestsAreReported() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let other = StubGate()
        stub.register("/other", with: .text("x").held(by: other))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let group = CompletionGroup()
        var request = Request<String>("/")
        request.completionGroup = group
        let notifications = Counter()
        agent.start(request, on: .executor(globalConcurrentExecutor)) { _ in notifications.increment() }
        agent.start(Batch([request, request]), on: .executor(globalConcurrentExecutor), options: StartOptions()) { _ in
            notifications.increment()
        }
        let outside = agent.start(Request<String>("/other"), on: .executor(globalConcurrentExecutor))
        try await gate.waitForArrivals(3)
        let waiting = Task { await group.wait() }
        gate.open()
        await waiting.value
        #expect(group.count == 0 && notifications.value >= 1)
        #expect(agent.inFlightCount >= 1)
        other.open()
        _ = try await outside.value
    }

    @Test func manyTasksCanAwaitACompletionGroupAndCancelledOnesStopWaiting() async throws {
        let group = CompletionGroup()
        group.enter()
        let cancelled = Task { await group.wait() }
        cancelled.cancel()
        await cancelled.value
        #expect(group.count == 1)
        let waiting = (0..<50).map { _ in Task { await group.wait() } }
        let busy = (0..<50).map { _ in
            Task {
                group.enter()
                await Task.yield()
                group.leave()
            }
        }
        for task in busy { await task.value }
        group.leave()
        for task in waiting { await task.value }
        #expect(group.count == 0)
        await group.wait()
    }

    @Test func streamLeavesTheGroupAtTheEndOfItsBody() async throws {
        let stub = StubTransport()
        stub.register("/", with: .text("x"))
        stub.register("/bad", with: .failure(.reset))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let group = CompletionGroup()
        var request = Request<Bytes>("/")
        request.completionGroup = group
        let stream = try await agent.stream(request)
        #expect(group.count == 1)
        _ = try await stream.collect(upTo: 10)
        #expect(group.count == 0)
        request.url = "/bad"
        await #expect(throws: NetError.self) { try await agent.stream(request) }
        await group.wait()
        #expect(group.count == 0)
    }
}

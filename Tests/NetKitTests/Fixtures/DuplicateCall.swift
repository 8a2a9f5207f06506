import NetKit
import NetKitTesting
import Testing

/// A call whose owner is cancelled while a duplicate waits for its result. Retry sends it again for the duplicate.
struct DuplicateCall {
    private let repeats = RequestDeduplication(.join)
    private let first = StubGate()
    private let second = StubGate()
    private let agent: Agent

    /// - Parameter change: adds what the test observes. Its interceptors come after those of the fixture.
    init(_ change: (inout Agent.Configuration) -> Void) {
        let stub = StubTransport()
        stub.register("*", with: .status(503).held(by: first), .text("x").held(by: second))
        var retry = Retry()
        retry.baseDelay = .zero
        var configuration = Agent.Configuration()
        change(&configuration)
        configuration.interceptors = [repeats, retry] + configuration.interceptors
        agent = Agent(configuration, transport: stub)
    }

    /// Sends the request, and a duplicate that joins it.
    ///
    /// - Parameter whileTriedAgain: runs when the owner is cancelled and the second attempt is in flight.
    func run(_ request: Request<Bytes>, whileTriedAgain check: () -> Void = {}) async throws {
        let leaving = Task { await ending(of: request, from: agent) }
        try await first.waitForArrivals(1)
        let staying = Task { await ending(of: Request<Bytes>(request.url), from: agent) }
        while repeats.waitingCount < 2 {
            await Task.yield()
        }
        leaving.cancel()
        #expect(await leaving.value == .failed(.cancelled))
        first.open()
        try await second.waitForArrivals(1)
        check()
        second.open()
        #expect(await staying.value == .answered)
    }
}

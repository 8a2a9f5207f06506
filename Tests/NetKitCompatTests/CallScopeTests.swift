import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Scopes that cancel their tasks.
@Suite(.timeLimit(.minutes(5)))
struct CallScopeTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent

    init() {
        agent = Agent(.init(baseURL: "http://stub/v1"), transport: stub)
        stub.register("*", with: .text("x").held(by: gate))
    }

    private func codes(_ handles: [CallHandle<Response<String>>]) async -> [NetError.Code?] {
        gate.open()
        var codes: [NetError.Code?] = []
        for handle in handles {
            codes.append(failureCode(of: await handle.result))
        }
        return codes
    }

    @Test func releasedScopeCancelsItsTasks() async throws {
        func begin() async throws -> [CallHandle<Response<String>>] {
            let scope = CallScope()
            let options = StartOptions(scope: scope)
            let handles = (0..<3).map { agent.start(Request<String>("\($0)"), options: options) }
            try await gate.waitForArrivals(3)
            #expect(scope.count == 3)
            return handles
        }
        let handles = try await begin() + [agent.start(Request<String>("other"))]
        #expect(await codes(handles) == [.cancelled, .cancelled, .cancelled, nil])
    }

    @Test func scopeRemovesFinishedTasks() async throws {
        let scope = CallScope()
        let handle = agent.start(Request<String>("a"), options: StartOptions(scope: scope))
        #expect(await codes([handle]) == [nil])
        #expect(scope.count == 0)
        scope.cancelAll()
        #expect(!handle.isCancelled)
    }

    @Test func scopeCanBeReleasedInACompletion() async {
        final class Screen: Sendable {
            let scope = CallScope()
        }
        func begin() -> CallHandle<Response<String>> {
            let screen = Screen()
            return agent.start(Request<String>("a"), options: StartOptions(scope: screen.scope)) { _ in
                withExtendedLifetime(screen) {}
            }
        }
        let handle = await MainActor.run { begin() }
        #expect(await codes([handle]) == [nil])
    }

    @Test func releasedScopeCancelsItsBatches() async throws {
        var scope: CallScope? = CallScope()
        let handle = agent.start(Batch([Request<String>("a")]), options: .init(scope: scope))
        try await gate.waitForArrivals(1)
        scope = nil
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
    }
}

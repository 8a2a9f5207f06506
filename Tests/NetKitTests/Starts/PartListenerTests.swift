import NetKit
import NetKitTesting
import Testing

/// Listeners that follow the requests of a batch or chain, and control the task that they listen to.
@Suite(.timeLimit(.minutes(5)))
struct PartListenerTests {
    private let stub = StubTransport()
    private let log = Collected<String>()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    /// Records the requests of a task.
    private struct Follower: TaskListener {
        let name: String
        let log: Collected<String>

        func willStart(_ task: NetKit.RequestTask) { log.append("\(name) starts with \(task.partCount) parts") }
        func partListener(of task: NetKit.RequestTask) -> (any TaskListener)? { Follower(name: "part", log: log) }
        func deliver<Value: Sendable>(
            _ outcome: Result<Value, NetError>, of task: NetKit.RequestTask
        ) -> Result<Value, NetError> {
            if case .success = outcome {
                log.append("\(name) succeeds")
            } else {
                log.append("\(name) fails")
            }
            return outcome
        }
        func cleared(_ task: NetKit.RequestTask) { log.append("\(name) ends") }
    }

    /// Controls the task at its start.
    private struct Starter: TaskListener {
        let control: @Sendable (CallHandle<Void>?) -> Void

        func willStart(_ task: NetKit.RequestTask) { control(task.handle) }
    }

    private var options: StartOptions { StartOptions(listeners: [Follower(name: "whole", log: log)]) }

    private static func part(_ outcome: String) -> [String] {
        ["part starts with 0 parts", "part \(outcome)", "part ends"]
    }

    @Test func eachRequestOfABatchHasItsListener() async throws {
        stub.register("/2", with: .failure(.reset))
        stub.register("*", with: .text("x"))
        let batch = Batch([Request<String>("/1"), Request<String>("/2")]).limited(to: 1)
        _ = await agent.start(batch, on: .here, options: options).result
        #expect(
            log.values == ["whole starts with 2 parts"] + Self.part("succeeds") + Self.part("fails")
                + ["whole fails", "whole ends"])
    }

    @Test func eachStepOfAChainAndEachMemberOfItsBatchHasItsListener() async throws {
        stub.register("*", with: .text("x"))
        var tagged = Request<String>("/3")
        tagged.tag = 3
        let batch = Batch([Request<String>("/2"), tagged]).limited(to: 1)
        let chain = Chain(Request<String>("/1")).then { _ in batch }
        _ = try await agent.start(chain, on: .here, options: options).value
        let parts = Array(repeating: Self.part("succeeds"), count: 3).flatMap(\.self)
        #expect(log.values == ["whole starts with 0 parts"] + parts + ["whole succeeds", "whole ends"])
    }

    @Test(arguments: [false, true])
    func preparedCallsOfABatchAreParts(isStartedEarlier: Bool) async throws {
        stub.register("*", with: .text("x"))
        let call = agent.prepare(Request<String>("/"), on: .here)
        if isStartedEarlier {
            _ = try await call.start().value
        }
        _ = try await agent.start(Batch([call]), on: .here, options: options).value
        #expect(
            log.values == ["whole starts with 1 parts"] + Self.part("succeeds") + ["whole succeeds", "whole ends"])
    }

    @Test func listenerCancelsItsTaskBeforeAnythingIsSent() async throws {
        stub.register("*", with: .text("x"))
        let listener = Starter { $0?.cancel() }
        let handle = agent.start(Request<String>("/"), on: .here, options: .init(listeners: [listener]))
        let error = await #expect(throws: NetError.self) { try await handle.value }
        #expect(error?.code == .cancelled && stub.requests.isEmpty)
        #expect(handle.task.handle == nil)
    }

    @Test(arguments: [Pausing.holding, .releasingConnection])
    func listenerPausesItsTaskAtTheStart(pausing: Pausing) async throws {
        stub.register("*", with: .text("x"))
        let listener = Starter { $0?.pause() }
        let handle = agent.start(
            Request<String>("/"), on: .here, options: .init(listeners: [listener], pausing: pausing))
        let control = try #require(handle.task.handle)
        #expect(control.task.isPaused && stub.requests.isEmpty)
        control.resume()
        #expect(try await handle.value.value == "x")
        try await control.value
    }
}

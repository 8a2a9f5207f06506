import NetKit
import NetKitTesting
import Testing

/// Every progress sequence ends, also for a call that fails before it sends anything.
@Suite(.timeLimit(.minutes(2)))
struct ProgressEndTests {
    typealias Asking = @Sendable (Agent, Request<Bytes>) async throws -> Void

    /// The ways to send a request that may fail before anything is sent.
    static let ways: [(name: String, ask: Asking)] = [
        ("send", { _ = try await $0.send($1) }),
        ("stream", { _ = try await $0.stream($1) }),
        ("save", { _ = try await $0.save($1, to: "/tmp/nk-never") }),
        ("download", { _ = try await $0.download($1, to: "/tmp/nk-never") }),
        ("open", { _ = try await $0.open($1) }),
        ("start", { _ = try await $0.start($1, on: .here).value }),
        (
            "start that lets go",
            { agent, request in
                var options = StartOptions()
                options.pausing = .lettingGo
                _ = try await agent.start(request, on: .here, options: options).value
            }
        ),
        ("answers", { for try await _ in $0.answers(to: $1) {} }),
    ]

    /// Returns the progress that was reported while the request failed.
    private func told(_ agent: Agent, tag: Int? = nil, _ ask: Asking) async -> [TransferProgress] {
        let told = Collected<TransferProgress>()
        let (handler, updates) = TransferProgress.stream()
        var request = Request<Bytes>("/x")
        if let tag { request.tag = tag }
        request.progress = {
            told.append($0)
            handler($0)
        }
        await #expect(throws: NetError.self) { try await ask(agent, request) }
        for await _ in updates {}  // ends
        return told.values
    }

    private func expectOneEnd(_ told: [TransferProgress], _ name: String) {
        #expect(told.filter(\.isOver).count == 1 && told.last?.isOver == true, "\(name): \(told)")
    }

    @Test func aCallThatCannotBeMadeHasOneEnd() async {
        for (name, ask) in Self.ways {
            for isWatched in [false, true] {
                let agent = Agent(.init(baseURL: "https://api.example.com:99999/v1"))
                let events = isWatched ? agent.events : nil
                expectOneEnd(await told(agent, ask), name)
                withExtendedLifetime(events) {}
            }
        }
    }

    @Test func aCallThatAnInvalidAgentRefusesHasOneEnd() async {
        for (name, ask) in Self.ways {
            let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
            await agent.invalidate()
            expectOneEnd(await told(agent, ask), name)
        }
    }

    @Test func aCallWhoseFieldsCannotBeComputedHasOneEnd() async {
        struct Boom: Error {}
        for (name, ask) in Self.ways {
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.computedHeaders = { _ in throw Boom() }
            expectOneEnd(await told(Agent(configuration, transport: StubTransport()), ask), name)
        }
    }

    @Test func aFileWithoutANameHasOneEnd() async {
        let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
        expectOneEnd(await told(agent) { _ = try await $0.save($1, to: "") }, "save")
        expectOneEnd(await told(agent) { _ = try await $0.download($1, to: "") }, "download")
    }

    @Test func aListedCallThatIsCancelledBeforeItBeginsHasOneEnd() async {
        let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
        for (name, ask) in Self.ways {
            let told = await told(agent, tag: 1) { agent, request in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await ask(agent, request) }
                    group.cancelAll()
                    try await group.next()
                }
            }
            expectOneEnd(told, name)
        }
    }

    @Test func storedAnswersAreNoEndOfAnAnswersProgress() async throws {
        let scene = CacheScene()
        scene.stub.answer("/", with: .text("1"), .text("2"))
        var request = Request<String>("/").cached(.app(50))
        _ = try await scene.agent.send(request)
        let ends = Collected<Int>()
        let answers = Counter()
        request.progress = { if $0.isOver { ends.append(answers.value) } }
        for try await _ in scene.agent.answers(to: request) {
            answers.increment()
        }
        #expect(ends.values == [1])
        #expect(answers.value == 2)
    }
}

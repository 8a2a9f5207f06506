import NetKit
import NetKitTesting
import Testing

/// Every progress sequence ends, also for a call that fails before it sends anything.
@Suite(.timeLimit(.minutes(2)))
struct ProgressEndTests {
    typealias Asking = @Sendable (Agent, Request<Bytes>) async throws -> Void

    /// The ways to send a request that may fail before anything is sent.
    static let cases: [(name: String, ask: Asking)] = [
        ("send", { _ = try await $0.send($1) }),
        ("stream", { _ = try await $0.stream($1) }),
        ("save", { _ = try await $0.download($1, to: "/tmp/nk-never", options: .init(isResumable: false)) }),
        ("download", { _ = try await $0.download($1, to: "/tmp/nk-never") }),
        ("open", { _ = try await $0.open($1) }),
        ("start", { _ = try await $0.start($1, on: .here).value }),
        (
            "start that lets go",
            { agent, request in
                var options = StartOptions()
                options.pausing = .releasingConnection
                _ = try await agent.start(request, on: .here, options: options).value
            }
        ),
        ("answers", { for try await _ in $0.answers(to: $1) {} }),
    ]

    /// Returns the progress that was reported while the request failed.
    private func reportedProgress(_ agent: Agent, tag: Int? = nil, _ ask: Asking) async -> [TransferProgress] {
        let reportedProgress = Collected<TransferProgress>()
        let (handler, updates) = TransferProgress.stream()
        var request = Request<Bytes>("/x")
        if let tag { request.tag = tag }
        request.progress = {
            reportedProgress.append($0)
            handler($0)
        }
        await #expect(throws: NetError.self) { try await ask(agent, request) }
        for await _ in updates {}  // returns only if the sequence ends
        return reportedProgress.values
    }

    private func expectOneEnd(_ reportedProgress: [TransferProgress], _ name: String) {
        #expect(
            reportedProgress.filter(\.isOver).count == 1 && reportedProgress.last?.isOver == true,
            "\(name): \(reportedProgress)")
    }

    @Test func invalidCallReportsItsEndOnce() async {
        for (name, ask) in Self.cases {
            for isWatched in [false, true] {
                let agent = Agent(.init(baseURL: "https://api.example.com:99999/v1"))
                let events = isWatched ? agent.activity() : nil
                expectOneEnd(await reportedProgress(agent, ask), name)
                withExtendedLifetime(events) {}
            }
        }
    }

    @Test func callRefusedByAnInvalidatedAgentReportsItsEndOnce() async {
        for (name, ask) in Self.cases {
            let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
            await agent.invalidate()
            expectOneEnd(await reportedProgress(agent, ask), name)
        }
    }

    @Test func callWithFailingComputedFieldsReportsItsEndOnce() async {
        struct Boom: Error {}
        for (name, ask) in Self.cases {
            var configuration = Agent.Configuration(baseURL: "http://stub")
            configuration.computedHeaders = { _ in throw Boom() }
            expectOneEnd(await reportedProgress(Agent(configuration, transport: StubTransport()), ask), name)
        }
    }

    @Test func fileWithoutANameReportsItsEndOnce() async {
        let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
        expectOneEnd(
            await reportedProgress(agent) { _ = try await $0.download($1, to: "", options: .init(isResumable: false)) },
            "save")
        expectOneEnd(await reportedProgress(agent) { _ = try await $0.download($1, to: "") }, "download")
    }

    @Test func listedCallCancelledBeforeItBeginsReportsItsEndOnce() async {
        let agent = Agent(.init(baseURL: "http://stub"), transport: StubTransport())
        for (name, ask) in Self.cases {
            let reportedProgress = await reportedProgress(agent, tag: 1) { agent, request in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await ask(agent, request) }
                    group.cancelAll()
                    try await group.next()
                }
            }
            expectOneEnd(reportedProgress, name)
        }
    }

    @Test func cachedResponseDoesNotEndTheProgressOfCacheThenNetwork() async throws {
        let fixture = CacheFixture()
        fixture.stub.register("/", with: .text("1"), .text("2"))
        var request = Request<String>("/").cached(.app(5000))
        _ = try await fixture.agent.send(request)
        let ends = Collected<Int>()
        let answers = Counter()
        request.progress = { if $0.isOver { ends.append(answers.value) } }
        for try await _ in fixture.agent.answers(to: request) {
            answers.increment()
        }
        #expect(ends.values == [1])
        #expect(answers.value == 2)
    }
}

import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Request tasks that wait for others.
@Suite(.timeLimit(.minutes(5)))
struct TaskDependencyTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent
    private let log = Collected<String>()

    init() {
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("*", with: .text("x"))
        stub.register("/first", with: .text("1").held(by: gate))
    }

    private func start(
        _ path: String, after earlier: TaskDependency..., from other: Agent? = nil, tag: Int = 0
    ) -> CallHandle<Response<String>> {
        var request = Request<String>(path)
        request.tag = tag
        let log = log
        return (other ?? agent).start(request, on: .here, options: .init(after: earlier)) { result in
            log.append("\(path) \(failureCode(of: result).map { "\($0)" } ?? "told")")
        }
    }

    @Test func dependentTaskIsSentAfterItsDependenciesAreReported() async throws {
        let first = start("/first")
        let second = start("/second", after: first.succeeded)
        let third = start("/third", after: second.succeeded, first.ended)
        try await gate.waitForArrivals(1)
        #expect(stub.requests.map(\.path) == ["/first"])
        #expect(agent.requestTasks().map(\.state) == [.running, .waiting, .waiting])
        gate.open()
        #expect(failureCode(of: await third.result) == nil)
        #expect(stub.requests.map(\.path) == ["/first", "/second", "/third"])
        #expect(log.values == ["/first told", "/second told", "/third told"])
        // A task does not wait for a task that has ended.
        #expect(failureCode(of: await start("/fourth", after: first.succeeded).result) == nil)
    }

    @Test(arguments: [
        "http://ann:hunter2@stub/bad?token=abc#part", "http://ann:hunter2@st ub/bad?token=abc",
        "ftp://ann:hunter2@stub/bad?token=abc", "http://ann:hunter2@stub/bad?\u{301}token=abc",
    ])
    func errorContainsNoSecretsOfTheFailedURL(url: String) async throws {
        stub.register("*", with: .failure(.reset))
        let bad = start(url)
        guard case .failure(let error) = await start("/second", after: bad.succeeded).result else {
            Issue.record("it succeeded")
            return
        }
        let part = try #require(error.failedMember)
        #expect(error.code == .earlierFailed && part.name?.hasSuffix("/bad") == true)
        for text in [error.description, part.description, part.name ?? ""] {
            #expect(!text.contains("hunter2") && !text.contains("abc"))
        }
    }

    @Test func failedDependencyPreventsSendingAndIsNamed() async throws {
        stub.register("/bad", with: .failure(.reset))
        let bad = start("/bad", tag: 7)
        let second = start("/second", after: bad.succeeded)
        let third = start("/third", after: second.succeeded)
        guard case .failure(let error) = await second.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(error.code == .earlierFailed)
        #expect(error.failedMember?.tag == 7 && error.failedMember?.error.code == .reset)
        #expect(error.failedMember?.index == Int(bad.id) && error.failedMember?.name == "/bad")
        #expect(error.message.contains("\(bad.id) \"/bad\" (tag 7): reset"))
        #expect(failureCode(of: await third.result) == .earlierFailed)
        #expect(stub.requests.map(\.path) == ["/bad"])
        #expect(log.values == ["/bad reset", "/second earlierFailed", "/third earlierFailed"])
    }

    @Test func failureIsIgnoredWhenOnlyTheEndMatters() async throws {
        stub.register("/bad", with: .failure(.reset))
        let second = start("/second", after: start("/bad").ended)
        #expect(failureCode(of: await second.result) == nil)
        #expect(stub.requests.map(\.path) == ["/bad", "/second"])
    }

    @Test func cancelledDependencyIsAReportedFailure() async throws {
        let first = start("/first")
        let strict = start("/strict", after: first.succeeded)
        let lenient = start("/lenient", after: first.ended)
        try await gate.waitForArrivals(1)
        first.cancel()
        #expect(failureCode(of: await strict.result) == .earlierFailed)
        #expect(failureCode(of: await lenient.result) == nil)
        #expect(log.values.sorted() == ["/lenient told", "/strict earlierFailed"])
    }

    @Test func waitingTaskIsCancelledImmediately() async throws {
        let first = start("/first")
        let second = start("/second", after: first.succeeded)
        try await gate.waitForArrivals(1)
        second.cancel()
        #expect(failureCode(of: await second.result) == .cancelled)
        gate.open()
        #expect(failureCode(of: await first.result) == nil)
        #expect(stub.requests.map(\.path) == ["/first"])
    }

    @Test func waitingTaskCanBePaused() async throws {
        let first = start("/first")
        let second = start("/second", after: first.succeeded)
        second.pause()
        gate.open()
        #expect(failureCode(of: await first.result) == nil)
        #expect(second.state == .waiting)
        #expect(stub.requests.count == 1)
        second.resume()
        #expect(failureCode(of: await second.result) == nil)
    }

    @Test func batchesChainsAndOtherAgentsCanBeDependencies() async throws {
        let other = Agent(.init(baseURL: "http://stub"), transport: stub)
        let batch = agent.start(
            Batch([Request<String>("/first"), Request<String>("/a")]), on: .here)
        let next = start("/next", after: batch.succeeded, from: other)
        let last = agent.start(
            Batch([Request<String>("/z")]), on: .here, options: .init(after: [next.succeeded]))
        try await gate.waitForArrivals(1)
        gate.open()
        #expect(failureCode(of: await last.result) == nil)
        #expect(stub.requests.map(\.path).suffix(2) == ["/next", "/z"])
    }

    @Test func cycleIsAnErrorThatNamesIt() async throws {
        let calls = (0..<3).map { agent.prepare(Request<String>("/\($0)"), on: .here) }
        try calls[1].come(after: calls[0].handle.succeeded)
        try calls[2].come(after: calls[1].handle.succeeded)
        let error = #expect(throws: NetError.self) { try calls[0].come(after: calls[2].handle.ended) }
        #expect(error?.code == .usage)
        let (a, b, c) = (calls[0].id, calls[1].id, calls[2].id)
        #expect(error?.message == "requests wait for each other in a cycle: \(a) after \(c) after \(b) after \(a)")
        let itself = #expect(throws: NetError.self) { try calls[0].come(after: calls[0].handle.ended) }
        #expect(itself?.code == .usage)
        // The refused dependency was not added.
        for call in calls.reversed() {
            call.start()
        }
        for call in calls {
            #expect(failureCode(of: await call.handle.result) == nil)
        }
        #expect(stub.requests.map(\.path) == ["/0", "/1", "/2"])
    }

    @Test func taskThatClosesACycleFails() async throws {
        let first = agent.prepare(
            Request<String>("/0"), on: .here)
        let second = agent.prepare(Request<String>("/1"), on: .here, options: .init(after: [first.handle.ended]))
        second.start()
        // Closes a cycle: the first task waits for this one, which waits for the second, which waits for the first.
        let closing = agent.prepare(Request<String>("/2"), on: .here, options: .init(after: [second.handle.ended]))
        try first.come(after: closing.handle.ended)
        closing.start()
        #expect(failureCode(of: await closing.handle.result) == .usage)
        first.start()
        #expect(failureCode(of: await second.handle.result) == nil)
        #expect(stub.requests.map(\.path) == ["/0", "/1"])
    }

    @Test func taskReleasedBeforeItStartsDoesNotBlockOthers() async throws {
        var first: PreparedCall<String>? = agent.prepare(Request<String>("/0"), on: .here)
        let ended = try #require(first?.handle.ended)
        let handle = try #require(first?.handle)
        let second = start("/second", after: ended)
        first = nil
        #expect(failureCode(of: await second.result) == nil)
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(stub.requests.map(\.path) == ["/second"])
    }

    @Test func thousandDependentTasksAreSentInOrder() async throws {
        var last: CallHandle<Response<String>>?
        for number in 0..<1000 {
            let earlier = last.map { [$0.succeeded] } ?? []
            last = agent.start(Request<String>("/\(number)"), on: .here, options: .init(after: earlier))
        }
        #expect(failureCode(of: try #require(await last?.result)) == nil)
        #expect(stub.requests.map(\.path) == (0..<1000).map { "/\($0)" })
    }
}

@testable import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Request tasks that duplicate one in flight.
@Suite(.timeLimit(.minutes(5)))
struct RequestTaskDeduplicationTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    init() {
        stub.register("*", with: .text("x").held(by: gate))
    }

    private func agent(_ policy: DuplicatePolicy) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [RequestDeduplication(policy)]
        return Agent(configuration, transport: stub)
    }

    private struct List: RequestConvertible {
        var filter: String
        var path = "/list"

        func request() async throws(NetError) -> Request<String> { Request("\(path)?filter=\(filter)") }
    }

    private struct Other: RequestConvertible {
        func request() async throws(NetError) -> Request<String> { Request("/list") }
    }

    @Test func firstTaskIsNeverIgnored() async throws {
        // In HZYNetwork the first request stays, and the later ones are dropped (H1).
        let agent = agent(.ignore)
        let first = agent.start(List(filter: "a"))
        let second = agent.start(List(filter: "b"))
        let error = netError(of: await second.result)
        #expect(error?.code == .ignored)
        #expect(error?.runningID == first.id)
        gate.open()
        #expect(try await first.value.value == "x")
        // When the first one has ended, the next one is not a duplicate.
        #expect(try await agent.start(List(filter: "c")).value.value == "x")
        #expect(stub.requests.map(\.query) == ["filter=a", "filter=c"])
    }

    @Test func onlyTheFirstOfConcurrentDuplicatesIsSent() async throws {
        gate.open()
        let agent = agent(.ignore)
        for _ in 0..<200 {
            let handles = (0..<4).map { agent.start(List(filter: "\($0)"), on: .executor(agent.executor)) }
            #expect(failureCode(of: await handles[0].result) == nil)
            for handle in handles.dropFirst() {
                let error = netError(of: await handle.result)
                // A duplicate is ignored while the first one is in flight. If the first one has ended, it is sent.
                #expect(error == nil || error?.code == .ignored)
                #expect(error == nil || handles.contains { $0.id == error?.runningID && $0.id < handle.id })
            }
        }
    }

    @Test func ignoredDuplicateEndsAsAReportedFailure() async throws {
        let agent = agent(.ignore)
        let log = Collected<String>()
        let first = agent.start(List(filter: "a"))
        let accessory = RecordingAccessory("1", log)
        _ = await agent.start(List(filter: "b"), options: .init(accessories: [accessory])) { _ in
            Issue.record("an ignored start succeeds")
        } failure: { error in
            log.append("\(error.code)")
        }.result
        #expect(
            log.values.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
                == ["1 will start", "1 will stop", "ignored", "1 did stop"])
        gate.open()
        _ = await first.result
    }

    @Test func newerTaskOfTheSameTypeCancelsOlderOnes() async throws {
        let agent = agent(.cancelPrevious)
        let handles = (0..<5).map { agent.start(List(filter: "\($0)", path: "/\($0)")) }
        let other = agent.start(Other())
        for handle in handles.dropLast() {
            #expect(failureCode(of: await handle.result) == .cancelled)
        }
        gate.open()
        #expect(try await handles[4].value.value == "x")
        #expect(try await other.value.value == "x")
    }

    private struct Keyed: RequestConvertible {
        var key: String

        func request() async throws(NetError) -> Request<String> {
            var request = Request<String>("/list")
            request.duplicateKey = key
            return request
        }
    }

    @Test func newerTaskWithAnotherKeyCancelsNothing() async throws {
        let agent = agent(.cancelPrevious)
        let first = agent.start(Keyed(key: "a"))
        try await gate.waitForArrivals(1)
        let others = ["b", "c"].map { agent.start(Keyed(key: $0)) }
        try await gate.waitForArrivals(3)
        let newer = agent.start(Keyed(key: "a"))
        #expect(failureCode(of: await first.result) == .cancelled)
        gate.open()
        for handle in others + [newer] {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    @Test func pathsOfDifferentServicesAreNotDuplicates() async throws {
        let agent = agent(.cancelPrevious)
        func request(_ change: (inout Request<String>) -> Void) -> Request<String> {
            var request = Request<String>("list")
            change(&request)
            return request
        }
        let services = ["http://a", "http://b"].map { Service($0, .init(baseURLs: [.release: $0])) }
        let handles = [
            agent.start(request { $0.service = services[0] }), agent.start(request { $0.service = services[1] }),
            agent.start(request { $0.baseURL = "http://c" }), agent.start(request { $0.baseURL = "http://d" }),
        ]
        try await gate.waitForArrivals(4)
        let newer = agent.start(request { $0.service = services[1] })
        #expect(failureCode(of: await handles[1].result) == .cancelled)
        gate.open()
        for handle in [handles[0], handles[2], handles[3], newer] {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    @Test func keyOfTheCallerIdentifiesDuplicates() async throws {
        let agent = agent(.allow)
        func request(_ path: String, _ key: String?, _ policy: DuplicatePolicy) -> Request<String> {
            var request = Request<String>(path)
            request.duplicateKey = key
            request.duplicates = policy
            return request
        }
        let first = agent.start(request("/a", "k", .ignore))
        let same = agent.start(request("/b", "k", .ignore))
        let others = [agent.start(request("/a", "l", .ignore)), agent.start(request("/a", nil, .allow))]
        #expect(netError(of: await same.result)?.runningID == first.id)
        let newer = agent.start(request("/c", "k", .cancelPrevious))
        #expect(failureCode(of: await first.result) == .cancelled)
        gate.open()
        for handle in others + [newer] {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    @Test func plainRequestsAreDuplicatesByMethodAndURLWithoutTheQuery() async throws {
        let agent = agent(.ignore)
        let first = agent.start(Request<String>("/a?1"))
        let others = [agent.start(Request<String>("/b?1")), agent.start(Request<String>("/a?1", method: .post))]
        #expect(netError(of: await agent.start(Request<String>("/a?2")).result)?.runningID == first.id)
        gate.open()
        for handle in others + [first] {
            #expect(failureCode(of: await handle.result) == nil)
        }
    }

    @Test func joinedTasksEndIndependentlyAndTheTransferEndsWithTheLast() async throws {
        let agent = agent(.join)
        let handles = (0..<3).map { _ in agent.start(List(filter: "a")) }
        let other = agent.start(List(filter: "b"))
        try await gate.waitForArrivals(2)
        handles[0].cancel()
        #expect(failureCode(of: await handles[0].result) == .cancelled)
        other.cancel()
        #expect(failureCode(of: await other.result) == .cancelled)
        gate.open()
        #expect(try await handles[1].value.value == "x")
        #expect(try await handles[2].value.value == "x")
        await agent.shutdown()
        #expect(stub.requests.count == 2)
    }

    @Test func taskThatWaitsForADuplicateCanBeCancelled() async throws {
        let agent = agent(.ignore)
        let pausing = AccessoryBlocks(willStart: { agent.handle(of: $0.id)?.pause() })
        let first = agent.start(List(filter: "a"), options: .init(accessories: [pausing]))
        let second = agent.start(List(filter: "b"))
        second.cancel()
        #expect(failureCode(of: await second.result) == .cancelled)
        first.cancelTask()
        #expect(failureCode(of: await first.result) == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test(arguments: [DuplicatePolicy.ignore, .cancelPrevious])
    func dependentDuplicateCountsAsTheLaterTask(policy: DuplicatePolicy) async throws {
        gate.open()
        let agent = agent(policy)
        let calls = (0..<3).map { _ in agent.prepare(Request<String>("/a"), on: .here) }
        try calls[0].come(after: calls[1].handle.ended)
        try calls[1].come(after: calls[2].handle.succeeded)
        for call in calls {
            call.start()
        }
        for call in calls {
            #expect(failureCode(of: await call.handle.result) == nil)
        }
        #expect(stub.requests.count == 3)
    }

    @Test(arguments: [false, true])
    func cancellingAPausedTaskDoesNotBlockJoinedTasks(isPart: Bool) async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let repeats = RequestDeduplication(.join)
        let agent = Agent(configured: { $0.interceptors = [repeats] })
        let request = Request<Bytes>(server.url("/"))
        let first: any Pausable = isPart ? agent.start(Batch([request]), on: .here) : agent.start(request, on: .here)
        try await server.waitForStalled(1)
        let second = agent.start(request, on: .here)
        while repeats.waitingCount < 2 {
            await Task.yield()
        }
        first.pause()
        first.cancelTask()
        while repeats.waitingCount > 1 {
            await Task.yield()
        }
        server.releaseStalled()
        #expect(failureCode(of: await second.result) == nil)
        #expect(server.requestCount == 1)
    }

    @Test func parametersExcludedFromTheCacheKeyDoNotPreventJoining() async throws {
        let repeats = RequestDeduplication(.join)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [repeats]
        let agent = Agent(configuration, transport: stub)
        let handles = (1...3).map { number in
            var request = Request<String>("/", parameters: ["q": number < 3 ? "a" : "b", "time": .init(number)])
            request.cacheKeyParameters = { .object($0.fields.filter { $0.name != "time" }) }
            return agent.start(request)
        }
        while repeats.waitingCount < 3 {
            await Task.yield()
        }
        gate.open()
        for handle in handles {
            #expect(try await handle.value.value == "x")
        }
        #expect(stub.requests.count == 2)
    }

    @Test func batchReportsASupersededMemberUnlessItWasCancelled() async throws {
        let agent = agent(.cancelPrevious)
        let reported = Collected<NetError.Code?>()
        let handle = agent.start(Batch([Request<String>("/a"), Request<String>("/b")]), on: .here) { result in
            reported.append(failureCode(of: result))
        }
        try await gate.waitForArrivals(2)
        async let second = agent.send(Request<String>("/a"))
        try await gate.waitForArrivals(3)  // The third request has replaced the first one.
        gate.open()
        _ = try await second
        let error = netError(of: await handle.result)
        #expect(error?.code == .cancelled && error?.failedMember?.index == 0)
        #expect(!handle.isCancelled && reported.values == [.cancelled])
    }

    @Test func chainReportsASupersededStepUnlessItWasCancelled() async throws {
        let agent = agent(.cancelPrevious)
        let reported = Collected<NetError.Code?>()
        let chain = Chain(Request<String>("/a")).then { _ in Request<String>("/b") }
        let handle = agent.start(chain, on: .here) { reported.append(failureCode(of: $0)) }
        try await gate.waitForArrivals(1)
        async let second = agent.send(Request<String>("/a"))
        try await gate.waitForArrivals(2)
        gate.open()
        _ = try await second
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(!handle.isCancelled && reported.values == [.cancelled])
    }

    @Test func batchCancelledByItsOwnerEndsSilently() async throws {
        let agent = agent(.cancelPrevious)
        let reported = Counter()
        let handle = agent.start(Batch([Request<String>("/a"), Request<String>("/b")]), on: .here) { _ in
            reported.increment()
        }
        try await gate.waitForArrivals(2)
        handle.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
        #expect(reported.value == 0)
    }

    @Test func duplicateCandidatesAreFoundByKeyTypeOrURL() throws {
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var keyed = Request<String>("/elsewhere")
        keyed.duplicateKey = "k"
        let starts = [
            agent.start(Request<String>("/list?a")), agent.start(Request<String>("/list", method: .post)),
            agent.start(Request<String>("/other")), agent.start(keyed), agent.start(List(filter: "a")),
            agent.start(Request<String>("/list?b#c")), agent.start(List(filter: "b")), agent.start(Other()),
        ]
        keyed.url = "/anywhere"
        let last = agent.start(keyed)
        let found = (starts + [last]).map { agent.registry.earlier(than: $0.control).map(\.id) }
        // A task's type is known immediately. Its URL and key are known only when its request has been created.
        #expect(found[..<6] == [[], [], [], [], [], [starts[0].id]])
        #expect(found[6].contains(starts[4].id) && found[8] == [starts[3].id])
        gate.open()
    }
}

private protocol Pausable {
    func pause()
    func cancelTask()
}

extension CallHandle: Pausable {
    fileprivate func cancelTask() { cancel() }
}

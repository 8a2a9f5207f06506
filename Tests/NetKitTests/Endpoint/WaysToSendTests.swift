import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Every way to send a value applies everything that the value determines: the content of the request, its
/// interceptors, its listeners, its checks and its cache rules.
@Suite(.timeLimit(.minutes(5)))
struct WaysToSendTests {
    private let stub = StubTransport()
    private let record = CallRecord()
    private let agent: Agent
    private let folder: TemporaryFolder

    init() throws {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(MemoryCacheStore())]
        agent = Agent(configuration, transport: stub)
        folder = try TemporaryFolder()
    }

    private func run(_ way: Way, _ kind: SourceKind) async throws {
        try await way.run(kind, record, by: agent, in: folder)
    }

    @Test(arguments: Way.allCases, SourceKind.allCases)
    func everyWaySendsParametersAndHeadersThroughTheInterceptors(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        let received = try #require(stub.requests.first)
        let url = way.isPaged ? "http://stub/cities?page=1&q=1" : "http://stub/cities?q=1"
        #expect(received.request.url == url)
        #expect(received.headers["X-Own"] == "1")
        #expect(record.interceptions.values.contains(url))
    }

    @Test(arguments: Way.allCases, SourceKind.allCases)
    func everyWayListsTheTaskByItsTag(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        #expect(!record.listedTags.values.isEmpty && record.listedTags.values.allSatisfy { $0.contains(7) })
        #expect(!agent.requestTasks().map(\.tag).contains(7))
    }

    @Test(arguments: Way.allCases, SourceKind.allCases)
    func everyWayNotifiesTheAccessoriesOnce(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        #expect(
            record.accessories.values.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
                == ["own will start", "own will stop", "own did stop"])
    }

    @Test(arguments: Way.allCases, SourceKind.allCases)
    func everyWayReportsItsProgressToTheEnd(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        #expect(record.progress.values.last?.isOver == true)
        #expect(record.progress.values.count { $0.isOver } == 1)
    }

    @Test(arguments: Way.allCases.filter(\.hasValue), SourceKind.allCases)
    func everyWayWithAValueCallsTheSuccessHooks(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        #expect(record.hooks.values == ["preprocessed one", "filtered one"])
    }

    @Test(arguments: Way.allCases, SourceKind.allCases)
    func everyWayRefusesAStatusAndCallsTheFailureHooks(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: .text("missing", status: 404))
        let error = await #expect(throws: NetError.self) { try await run(way, kind) }
        let cause = error?.failedMember?.error ?? error
        #expect(cause?.code == .status && cause?.response?.status == 404)
        #expect(record.hooks.values == ["preprocessed status", "filtered status"])
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: Way.allCases.filter(\.usesStoredResponse), SourceKind.allCases)
    func everyWayUsesAStoredResponse(way: Way, kind: SourceKind) async throws {
        stub.register("/cities", with: way.reply)
        try await run(way, kind)
        try await run(way, kind)
        #expect(stub.requests.count == 1)
    }

    @Test func everyPublicFunctionThatSendsHasARow() throws {
        let known = Set(Way.allCases.flatMap(\.functions) + PublicFunctions.exempt.keys)
        let found = try PublicFunctions.sending()
        #expect(found.subtracting(known).sorted() == [], "these functions have no row in Way")
        #expect(known.subtracting(found).sorted() == [], "these rows have no function")
    }
}

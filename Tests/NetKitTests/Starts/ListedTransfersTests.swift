import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Streams, saves and downloads with a tag or accessories are listed and observed like sends.
@Suite(.timeLimit(.minutes(5)))
struct ListedTransfersTests {
    private let stub = StubTransport()
    private let gate = StubGate()
    private let agent: Agent
    private let log = Collected<String>()

    init() {
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("/", with: StubReply(body: [.text("one"), .wait(gate), .text("two")]))
        stub.register("/bad", with: .failure(.reset))
    }

    private func request(_ path: String = "/") -> Request<Bytes> {
        var request = Request<Bytes>(path)
        request.tag = 7
        request.accessories = [RecordingAccessory("own", log)]
        return request
    }

    private static let whole = ["own will start elsewhere", "own will stop elsewhere", "own did stop elsewhere"]

    @Test func aStreamIsListedUntilTheEndOfItsBody() async throws {
        let stream = try await agent.stream(request())
        #expect(agent.requestTasks().map(\.tag) == [7] && agent.requestTasks().map(\.state) == [.running])
        #expect(log.values == ["own will start elsewhere"])
        gate.open()
        #expect(try await stream.collect(upTo: 100).text == "onetwo")
        #expect(agent.requestTasks().isEmpty)
        #expect(log.values == Self.whole)
    }

    @Test func aStreamIsCancelledByItsTag() async throws {
        let stream = try await agent.stream(request())
        #expect(agent.cancel(tag: 7) == 1)
        let error = await #expect(throws: NetError.self) { try await stream.collect(upTo: 100) }
        #expect(error?.code == .cancelled)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func streamBeingReadIsCancelledByItsTag() async throws {
        let stream = try await agent.stream(request())
        let reader = Task { try await stream.collect(upTo: 100) }
        try await gate.waitForArrivals(1)
        #expect(agent.cancel(tag: 7) == 1)
        #expect((await reader.result.failed as? NetError)?.code == .cancelled)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func aStreamOverTheEngineIsCancelledByItsTag() async throws {
        let server = try LoopbackServer()
        server.script("/f", Reply(patternLength: 100_000, cutAfter: 50_000, ending: .stall))
        let agent = Agent()
        var request = request()
        request.url = server.url("/f")
        let stream = try await agent.stream(request)
        let reader = Task { try await stream.collect(upTo: 1_000_000) }
        try await server.waitForStalled(1)
        #expect(agent.cancel(tag: 7) == 1)
        #expect((await reader.result.failed as? NetError)?.code == .cancelled)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func releasedStreamIsNoLongerListed() async throws {
        do {
            _ = try await agent.stream(request())
        }
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func failedStreamIsNoLongerListed() async throws {
        let error = await #expect(throws: NetError.self) { try await agent.stream(request("/bad")) }
        #expect(error?.code == .reset)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func aStreamIsCancelledBeforeItsHead() async throws {
        stub.register("/held", with: .text("x").held(by: gate))
        let task = Task { [agent] in try await agent.stream(request("/held")) }
        try await gate.waitForArrivals(1)
        #expect(agent.requestTasks().map(\.url) == ["/held"])
        task.cancel()
        #expect(await task.result.failed as? NetError != nil)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func aSaveIsListedAndCancelled() async throws {
        let folder = try TemporaryFolder()
        let task = Task { [agent] in
            try await agent.download(request(), to: folder.file("f"), options: .init(isResumable: false))
        }
        try await gate.waitForArrivals(1)
        #expect(agent.requestTasks().map(\.tag) == [7])
        #expect(agent.cancel(tag: 7) == 1)
        #expect((await task.result.failed as? NetError)?.code == .cancelled)
        #expect(log.values == Self.whole && folder.names == [])
        gate.open()
        log.removeAll()
        #expect(
            try await agent.download(request(), to: folder.file("f"), options: .init(isResumable: false)).value
                .byteCount == 6)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func aDownloadIsListed() async throws {
        let server = try LoopbackServer()
        server.script("/f", .stalled)
        let agent = Agent()
        let folder = try TemporaryFolder()
        var request = request()
        request.url = server.url("/f")
        let download = agent.start(Download(request, to: folder.file("f")), on: .here)
        try await server.waitForStalled(1)
        #expect(agent.requestTasks().map(\.tag) == [7])
        server.releaseStalled()
        #expect(try await download.value.value.byteCount == 4)
        #expect(log.values == Self.whole && agent.requestTasks().isEmpty)
    }

    @Test func untaggedTransfersAreNotListed() async throws {
        let stream = try await agent.stream(Request<Bytes>("/"))
        #expect(agent.requestTasks().isEmpty)
        gate.open()
        #expect(try await stream.collect(upTo: 100).count == 6)
    }
}

extension Result {
    fileprivate var failed: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

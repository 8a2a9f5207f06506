import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Adoption of transfers in flight, and of files from an earlier process.
@Suite(.timeLimit(.minutes(5)))
struct TaskAdoptionTests {
    @Test func requestTaskIsAdoptedByItsID() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let id = agent.start(Request<String>("/"), on: .executor(globalConcurrentExecutor)).id
        try await gate.waitForArrivals(1)
        let found = try await agent.adoptable()
        #expect(found.requestTasks.map(\.id) == [id] && found.partialDownloads.isEmpty)
        let adopted = try #require(agent.handle(of: id))
        #expect(adopted.task.url == "/" && adopted.task.state == .running)
        gate.open()
        try await adopted.value
        #expect(adopted.task.state == .stopped)
        try await adopted.value
        #expect(!adopted.cancel())
        #expect(!adopted.isCancelled)
        #expect(agent.handle(of: id) == nil && agent.handle(of: 0) == nil)
    }

    @Test func adoptedTaskCanBeCancelled() async throws {
        let stub = StubTransport()
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let handle = agent.start(Request<String>("/"), on: .executor(globalConcurrentExecutor))
        try await gate.waitForArrivals(1)
        let adopted = try #require(agent.handle(of: handle.id))
        let waiting = Task { await failureCode { () async throws(NetError) in try await adopted.value } }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        adopted.pause()
        #expect(handle.task.isPaused)
        adopted.resume()
        adopted.setPriority(.high)
        adopted.cancel()
        #expect(handle.isCancelled)
        #expect(await failureCode { () async throws(NetError) in _ = try await handle.value } == .cancelled)
        #expect(await failureCode { () async throws(NetError) in try await adopted.value } == .cancelled)
    }

    @Test func transfersOfOtherTasksAreFound() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let url = server.url("/")
        let sent = Task { try await agent.send(Request<Bytes>(url)) }
        try await server.waitForStalled(1)
        let found = try await agent.adoptable()
        #expect(found.transfers.map(\.url) == [url] && found.requestTasks.isEmpty)
        server.releaseStalled()
        _ = try await sent.value
    }

    @Test func downloadsOfAPreviousProcessResumeWithNewHandlers() async throws {
        let server = try LoopbackServer()
        let folder = try TemporaryFolder()
        let tag = ["ETag: \"v1\""]
        server.script("/file", Reply(headers: tag, patternLength: 20_000, cutAfter: 9_000, ending: .close))
        let request = Request<Bytes>(server.url("/file"))
        let earlier = await failureCode { () async throws(NetError) in
            _ = try await Agent().download(request, to: folder.file("file"))
        }
        #expect(earlier == .cutShort)
        let agent = Agent()
        let found = try await agent.adoptable(downloadsIn: [folder.path])
        #expect(found.partialDownloads.map(\.path) == [folder.file("file")])
        server.script("/file", Reply(headers: tag, patternLength: 20_000, answersRanges: true))
        let refused = try await agent.adoptDownloads(in: folder.path) { _ in nil }
        #expect(refused.isEmpty)
        let adopted = try await agent.adoptDownloads(in: folder.path) { partial in
            var request = Request<Bytes>(partial.url)
            request.headers["X-Adopted"] = "yes"
            return request
        }
        #expect(adopted.count == 1)
        let response = try await adopted[0].download.value
        #expect(response.status == 206 && response.value.resumedBytes > 0)
        #expect(folder.contents(of: "file") == pattern(20_000))
        #expect(server.received(1).values(named: "X-Adopted") == ["yes"])
        #expect(try await agent.adoptable(downloadsIn: [folder.path]).partialDownloads.isEmpty)
    }
}

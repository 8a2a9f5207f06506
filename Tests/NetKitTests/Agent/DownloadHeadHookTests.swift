import NetKit
import Testing

/// Actions of a hook at the response head of a download.
@Suite(.timeLimit(.minutes(5)))
struct DownloadHeadHookTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let asked = Collected<Int>()

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.script("/", .text("the body"))
        server.script("/missing", Reply(status: 404, body: Array("no such thing".utf8)))
        server.script("/moved", .redirect(to: "/"))
    }

    private func request(_ answer: HeadAnswer, at path: String = "/") -> Request<Bytes> {
        var request = Request<Bytes>(server.url(path))
        request.transferHooks.head = { [asked] _, head in
            asked.append(head.status)
            return answer
        }
        return request
    }

    @Test(arguments: [HeadAnswer.allow, .stream])
    func whatIsAllowedGoesOnAsAsked(answer: HeadAnswer) async throws {
        let response = try await Agent().download(request(answer, at: "/moved"), to: folder.file("file"))
        #expect(response.value.path == folder.file("file") && response.value.byteCount == 8)
        #expect(folder.contents(of: "file") == Array("the body".utf8) && folder.names == ["file"])
        #expect(asked.values == [200])
    }

    @Test func cancellingEndsItBeforeItsBodyAndLeavesNoFile() async throws {
        server.script("/stalls", Reply(patternLength: 100_000, cutAfter: 1_000, ending: .stall))
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request(.cancel, at: "/stalls"), to: folder.file("file"))
        }
        #expect(error?.code == .cancelled && error?.message.contains("hook") == true)
        #expect(error?.response?.status == 200)
        #expect(folder.contents(of: "file") == nil)
    }

    @Test func theHookMaySendItElsewhereAndWinsOverTheDestinations() async throws {
        let agent = Agent(configured: { [folder] in $0.downloadDestination = { _ in folder.file("agents") } })
        let there = folder.file("hooks")
        let response = try await agent.download(request(.download(to: there)), to: folder.file("file"))
        #expect(response.value.path == there && folder.names == ["hooks"])
        _ = try await agent.download(request(.allow), to: folder.file("file"))
        #expect(folder.names == ["agents", "hooks"])
        let error = await #expect(throws: NetError.self) {
            try await agent.download(request(.download(to: "")), to: folder.file("file"))
        }
        #expect(error?.code == .usage)
    }

    @Test func whatTheHookThrowsEndsIt() async throws {
        struct Cause: Error {}
        var request = Request<Bytes>(server.url("/"))
        request.transferHooks.head = { _, _ in throw Cause() }
        let asking = request
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(asking, to: folder.file("file"))
        }
        #expect(error?.code == .stoppedByCaller && error?.underlying is Cause && error?.response?.status == 200)
    }

    @Test func anErrorPageIsNotAskedFor() async throws {
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request(.cancel, at: "/missing"), to: folder.file("file"))
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.bytes.text == "no such thing")
        #expect(asked.values.isEmpty)
    }

    @Test func theAgentsHookIsAskedOfAStartedDownloadAndItsAnswerIsTold() async throws {
        let agent = Agent(configured: { [asked] in
            $0.transferHooks.head = { request, head in
                asked.append(head.status)
                return request.url.hasSuffix("/") ? .allow : .cancel
            }
        })
        let events = agent.events
        let download = agent.startDownload(Request<Bytes>(server.url("/")), to: folder.file("file"))
        _ = try await download.response
        var decided: [HeadAnswer] = []
        for await case .call(let event) in events {
            if case .headDecided(let answer) = event.change { decided.append(answer) }
            if case .stopped = event.change { break }
        }
        #expect(decided == [.allow] && asked.values == [200])
    }

    @Test func cancellingTheTaskWhileTheHookThinksEndsIt() async throws {
        let arrived = Gate()
        var request = Request<Bytes>(server.url("/"))
        request.transferHooks.head = { _, _ in
            arrived.open()
            try await Task.sleep(for: .seconds(3600))
            return .allow
        }
        let asking = request
        let task = Task { [folder] in try await Agent().download(asking, to: folder.file("file")) }
        try await arrived.opened()
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}

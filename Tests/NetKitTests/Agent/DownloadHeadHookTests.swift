import NetKit
import Testing

/// Actions of a hook at the response head of a download.
@Suite(.timeLimit(.minutes(5)))
struct DownloadHeadHookTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let statuses = Collected<Int>()

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.script("/", .text("the body"))
        server.script("/missing", Reply(status: 404, body: Array("no such thing".utf8)))
        server.script("/moved", .redirect(to: "/"))
    }

    private func request(_ answer: ResponseDisposition, at path: String = "/") -> Request<Bytes> {
        var request = Request<Bytes>(server.url(path))
        request.interceptors.append(
            TransferHooks(head: { [statuses] _, head in
                statuses.append(head.status)
                return answer
            }))
        return request
    }

    @Test(arguments: [ResponseDisposition.allow, .stream])
    func allowedDownloadContinuesUnchanged(answer: ResponseDisposition) async throws {
        let response = try await Agent().download(request(answer, at: "/moved"), to: folder.file("file"))
        #expect(response.value.path == folder.file("file") && response.value.byteCount == 8)
        #expect(folder.contents(of: "file") == Array("the body".utf8) && folder.names == ["file"])
        #expect(statuses.values == [200])
    }

    @Test func cancellingInTheHookEndsTheDownloadBeforeItsBody() async throws {
        server.script("/stalls", Reply(patternLength: 100_000, cutAfter: 1_000, ending: .stall))
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request(.cancel, at: "/stalls"), to: folder.file("file"))
        }
        #expect(error?.code == .cancelled && error?.message.contains("hook") == true)
        #expect(error?.response?.status == 200)
        #expect(folder.contents(of: "file") == nil)
    }

    @Test func headHookOverridesTheDestination() async throws {
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

    @Test func errorThrownByTheHookEndsTheDownload() async throws {
        struct Cause: Error {}
        var request = Request<Bytes>(server.url("/"))
        request.interceptors.append(TransferHooks(head: { _, _ in throw Cause() }))
        let asking = request
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(asking, to: folder.file("file"))
        }
        #expect(error?.code == .stoppedByCaller && error?.underlying is Cause && error?.response?.status == 200)
    }

    @Test func headHookIsNotCalledForAnErrorStatus() async throws {
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request(.cancel, at: "/missing"), to: folder.file("file"))
        }
        #expect(error?.code == .status && error?.response?.bytes.text == "no such thing")
        #expect(statuses.values.isEmpty)
    }

    @Test func agentHookDecidesAboutAStartedDownloadAndIsReported() async throws {
        let agent = Agent(configured: { [statuses] in
            $0.interceptors.append(
                TransferHooks(head: { request, head in
                    statuses.append(head.status)
                    return request.url.hasSuffix("/") ? .allow : .cancel
                }))
        })
        let events = agent.activity()
        let download = Download(Request<Bytes>(server.url("/")), to: folder.file("file"))
        _ = try await agent.start(download, on: .here).value
        var decided: [ResponseDisposition] = []
        for await case .call(let event) in events {
            if case .headDecided(let answer) = event.change { decided.append(answer) }
            if case .stopped = event.change { break }
        }
        #expect(decided == [.allow] && statuses.values == [200])
    }

    @Test func cancellingTheTaskDuringTheHookEndsTheDownload() async throws {
        let arrived = Gate()
        var request = Request<Bytes>(server.url("/"))
        request.interceptors.append(
            TransferHooks(head: { _, _ in
                arrived.open()
                try await Task.sleep(for: .seconds(3600))
                return .allow
            }))
        let asking = request
        let task = Task { [folder] in try await Agent().download(asking, to: folder.file("file")) }
        try await arrived.opened()
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}

import NetKit
import NetKitTesting
import Testing

/// Actions of a hook at a response head.
@Suite(.timeLimit(.minutes(5)))
struct HeadHookTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.script("/", .text("the body"))
        server.script("/large", Reply(patternLength: 3_000_000))
    }

    private func request(_ answer: ResponseDisposition, at path: String = "/") -> Request<Bytes> {
        var request = Request<Bytes>(server.url(path))
        request.interceptors.append(TransferHooks(head: { _, _ in answer }))
        return request
    }

    @Test func allowingContinuesUnchanged() async throws {
        let statuses = Collected<Int>()
        var request = Request<String>(server.url("/"))
        request.interceptors.append(
            TransferHooks(head: { request, head in
                statuses.append(head.status)
                return head.headers["Content-Type"] == nil || request.method != .get ? .cancel : .allow
            }))
        #expect(try await Agent().send(request).value == "the body")
        #expect(statuses.values == [200])
        let file = folder.file("saved")
        #expect(
            try await Agent().download(self.request(.allow), to: file, options: .init(isResumable: false)).value
                .byteCount == 8)
        #expect(folder.contents(of: "saved") == Array("the body".utf8))
        let stream = try await Agent().stream(self.request(.allow))
        #expect(try await stream.collect(upTo: 100).text == "the body")
    }

    @Test func cancellingEndsTheTransferBeforeItsBody() async throws {
        server.script("/stalls", Reply(patternLength: 100_000, cutAfter: 1_000, ending: .stall))
        let error = try await expectFailure(.cancelled, of: request(.cancel, at: "/stalls"))
        #expect(error.response?.status == 200 && error.response?.bytes.isEmpty == true)
    }

    @Test func aResponseBecomesADownload() async throws {
        let file = folder.file("large")
        let answer = try await Agent().open(request(.download(to: file), at: "/large"))
        guard case .file(let saved) = answer.body else {
            Issue.record("the body is no file")
            return
        }
        #expect(saved.path == file && saved.byteCount == 3_000_000 && answer.status == 200)
        #expect(folder.contents(of: "large") == pattern(3_000_000))
        #expect(folder.names == ["large"])
        let response = try await Agent().send(request(.download(to: folder.file("sent"))))
        #expect(response.bytes.isEmpty && response.status == 200)
        #expect(folder.contents(of: "sent") == Array("the body".utf8))
        let stream = try await Agent().stream(request(.download(to: folder.file("streamed"))))
        #expect(stream.status == 200)
        #expect(try await stream.collect(upTo: 0).isEmpty)
        #expect(folder.contents(of: "streamed") == Array("the body".utf8))
    }

    @Test func brokenDownloadLeavesNoFile() async throws {
        server.script("/cut", Reply(patternLength: 100_000, cutAfter: 50_000, ending: .close))
        try await expectFailure(.cutShort, of: request(.download(to: folder.file("cut")), at: "/cut"))
        #expect(folder.names == [])
        try await expectFailure(.file, of: request(.download(to: folder.file("none/file"))))
        try await expectFailure(.usage, of: request(.download(to: "")))
    }

    @Test func aResponseBecomesAStream() async throws {
        let agent = Agent()
        let answer = try await agent.open(request(.stream, at: "/large"))
        guard case .stream(let stream) = answer.body else {
            Issue.record("the body is no stream")
            return
        }
        #expect(agent.inFlightCount == 1)
        var bytes = 0
        for try await piece in stream {
            bytes += piece.count
        }
        #expect(bytes == 3_000_000)
        #expect(agent.inFlightCount == 0)
        #expect(try await agent.send(request(.stream)).bytes.text == "the body")
    }

    @Test func openingWithoutAHookReturnsABodyInMemory() async throws {
        let answer = try await Agent().open(Request<Bytes>(server.url("/")))
        guard case .bytes(let bytes) = answer.body else {
            Issue.record("the body is not in memory")
            return
        }
        #expect(bytes.text == "the body")
    }

    @Test func limitsAndExpectationsApplyToAllowedResponses() async throws {
        var small = request(.allow, at: "/large")
        small.limits = Limits()
        small.limits.maxBodyBytes = 1_000
        try await expectFailure(.bodyTooLarge, of: small)
        var shaped = Request<[Int]>(server.url("/"))
        shaped.interceptors.append(TransferHooks(head: { _, _ in .allow }))
        try await expectFailure(.contentType, of: shaped)
    }

    @Test func errorThrownByTheHookEndsTheCall() async throws {
        struct Cause: Error {}
        var request = Request<Bytes>(server.url("/"))
        request.interceptors.append(TransferHooks(head: { _, _ in throw Cause() }))
        let error = try await expectFailure(.stoppedByCaller, of: request)
        #expect(error.underlying is Cause && error.response?.status == 200)
    }

    @Test func headHookIsNotCalledForFollowedRedirects() async throws {
        server.script("/a", .redirect(to: "/"))
        let statuses = Collected<Int>()
        var request = Request<Bytes>(server.url("/a"))
        request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
        request.interceptors.append(
            TransferHooks(head: { _, head in
                statuses.append(head.status)
                return .allow
            }))
        let agent = Agent()
        let events = agent.activity()
        #expect(try await agent.send(request).bytes.text == "the body")
        #expect(statuses.values == [200])
        var decided: [ResponseDisposition] = []
        for await case .call(let event) in events {
            if case .headDecided(let answer) = event.change { decided.append(answer) }
            if case .stopped = event.change { break }
        }
        #expect(decided == [.allow])
    }

    @Test func slowHookDoesNotBlockOtherRequests() async throws {
        let gate = Gate()
        var slow = Request<Bytes>(server.url("/"))
        slow.interceptors.append(
            TransferHooks(head: { _, _ in
                try await gate.opened()
                return .allow
            }))
        let agent = Agent()
        let held = slow
        let waiting = Task { try await agent.send(held) }
        for _ in 0..<20 {
            #expect(try await agent.send(Request<Bytes>(server.url("/"))).bytes.text == "the body")
        }
        gate.open()
        #expect(try await waiting.value.bytes.text == "the body")
    }
}

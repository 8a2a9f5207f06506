import NetKit
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TransferHooksTests {
    private struct Cause: Error {}

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .redirect(to: "/c", status: 307))
        server.script("/c", .text("there"))
        return server
    }

    private func hooked(
        _ path: String, on server: LoopbackServer, _ change: (inout TransferHooks) -> Void
    ) -> Request<Bytes> {
        var request = Request<Bytes>(server.url(path))
        var hooks = TransferHooks()
        change(&hooks)
        request.interceptors.append(hooks)
        return request
    }

    // MARK: Redirects

    @Test func aRedirectIsFollowedStepByStep() async throws {
        let server = try server()
        let steps = Collected<RedirectStep>()
        let request = hooked("/a", on: server) { hooks in
            hooks.redirect = { step in
                steps.append(step)
                return .follow
            }
        }
        let response = try await Agent().send(request)
        #expect(response.bytes.text == "there" && response.url == server.url("/c"))
        #expect(response.metrics.map(\.status) == [302, 307, 200])
        #expect(steps.values.map(\.head.status) == [302, 307])
        #expect(steps.values.map(\.count) == [0, 1])
        #expect(steps.values.map(\.next.url) == [server.url("/b"), server.url("/c")])
        #expect(steps.values.map(\.request.url) == [server.url("/a"), server.url("/b")])
        steps.removeAll()  // breaks the cycle: each step holds a request, whose hook holds `steps`
    }

    @Test func hookCanReturnTheRedirect() async throws {
        let server = try server()
        let request = hooked("/a", on: server) { $0.redirect = { _ in .deliver } }
        let response = try await Agent().send(request)
        #expect(response.status == 302 && response.headers["Location"] == "/b")
        #expect(server.requestCount == 1)
    }

    @Test func invalidLocationFailsWithAServerError() async throws {
        let server = try LoopbackServer()
        server.script("/a", Reply(status: 302, headers: ["Location: http://127.0.0.1:99999/"]))
        for hooks in [false, true] {
            var request = Request<Bytes>(server.url("/a"))
            if hooks {
                request.interceptors.append(TransferHooks(redirect: { _ in .follow }))
            }
            let error = try await expectFailure(.badRedirect, of: request)
            #expect(error.response?.status == 302)
        }
    }

    @Test func dotSegmentsOfALocationAreKeptWhenConfigured() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/x/../b"))
        server.script("/x/../b", .redirect(to: "/y/./c", status: 307))
        server.script("/y/./c", .text("there"))
        for isHooked in [false, true] {
            server.forgetRequests()
            var request = hooked("/a", on: server) { hooks in
                if isHooked {
                    hooks.redirect = { _ in .follow }
                }
            }
            request.keepsDotSegments = true
            let agent = Agent(configured: { $0.baseURL = server.url("/") })
            let events = agent.activity()
            #expect(try await agent.send(request).bytes.text == "there")
            var locations: [String] = []
            for await case .call(let call) in events {
                if case .redirected(_, let location) = call.change { locations.append(location) }
                if case .stopped = call.change { break }
            }
            #expect(locations == [server.url("/x/../b"), server.url("/y/./c")])
        }
    }

    @Test func hookCanSendAnotherRequest() async throws {
        let server = try server()
        let request = hooked("/a", on: server) { hooks in
            hooks.redirect = { step in
                var next = step.next
                next.url = next.url.replacing("/b", with: "/c")
                next.headers["X-Sent"] = "by a hook"
                return .send(next)
            }
        }
        let response = try await Agent().send(request)
        #expect(response.bytes.text == "there")
        #expect(server.received(1).values(named: "X-Sent") == ["by a hook"])
    }

    @Test func hookCanFailTheCall() async throws {
        let server = try server()
        let request = hooked("/a", on: server) { $0.redirect = { _ in .fail(Cause()) } }
        let error = try await expectFailure(.redirectRefused, of: request)
        #expect(error.underlying is Cause && error.response?.status == 302)
        let throwing = hooked("/a", on: server) { $0.redirect = { _ in throw Cause() } }
        #expect(try await expectFailure(.stoppedByCaller, of: throwing).underlying is Cause)
        let own = hooked("/a", on: server) { $0.redirect = { _ in throw NetError(.usage, "not there") } }
        try await expectFailure(.usage, of: own)
        #expect(server.requestCount == 3)
    }

    @Test func requestHookOverridesTheAgentHook() async throws {
        let server = try server()
        let agent = Agent(configured: { $0.interceptors.append(TransferHooks(redirect: { _ in .deliver })) })
        #expect(try await agent.send(Request<Bytes>(server.url("/a"))).status == 302)
        let own = hooked("/a", on: server) { $0.redirect = { _ in .follow } }
        #expect(try await agent.send(own).status == 200)
    }

    @Test func redirectHookIsCalledForStreams() async throws {
        let server = try server()
        let count = Counter()
        let request = hooked("/a", on: server) { hooks in
            hooks.redirect = { _ in
                count.increment()
                return .follow
            }
        }
        let stream = try await Agent().stream(request)
        #expect(stream.earlierHeads.map(\.status) == [302, 307])
        #expect(try await stream.collect(upTo: 100).text == "there")
        #expect(stream.metrics.map(\.status) == [302, 307, 200])
        #expect(count.value == 2)
    }

    @Test func redirectHookIsCalledForSavesAndDownloads() async throws {
        let server = try server()
        let folder = try TemporaryFolder()
        let request = hooked("/a", on: server) { $0.redirect = { _ in .follow } }
        _ = try await Agent().download(request, to: folder.file("saved"), options: .init(isResumable: false))
        let response = try await Agent().download(request, to: folder.file("downloaded"))
        #expect(response.status == 200)
        #expect(folder.contents(of: "saved") == Array("there".utf8))
        #expect(folder.contents(of: "downloaded") == Array("there".utf8))
    }

    @Test func redirectRulesApplyWithAHook() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer()
        other.script("/", .text("other"))
        server.script("/", .redirect(to: other.url("/"), status: 303))
        server.script("/loop", .redirect(to: "/loop"))
        server.script("/odd", .redirect(to: "ftp://127.0.0.1/"))
        var request = hooked("/", on: server) { $0.redirect = { _ in .follow } }
        request.method = .post
        request.body = .text("body")
        request.headers["Authorization"] = "Bearer secret"
        request.credentials = .basic(user: "me", password: "secret")
        _ = try await Agent().send(request)
        #expect(other.received().requestLine == "GET / HTTP/1.1")
        #expect(other.received().values(named: "Authorization").isEmpty && other.received().body.isEmpty)
        let loop = hooked("/loop", on: server) { $0.redirect = { _ in .follow } }
        try await expectFailure(.tooManyRedirects, of: loop)
        #expect(server.requestCount == 1 + 21)
        let odd = hooked("/odd", on: server) { $0.redirect = { _ in .follow } }
        try await expectFailure(.redirectRefused, of: odd)
    }

    // MARK: Single-use bodies

    @Test func singleUseBodyIsRecreatedForARedirect() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b", status: 307))
        server.script("/b", .text("there"))
        var request = Request<Bytes>(server.url("/a"), method: .post)
        request.body = .once(length: 4, Pieces([[1, 2], [3, 4]] as [[UInt8]]))
        try await expectFailure(.notRewindable, of: request)
        let hookCalls = Collected<Int>()
        request.body = .once(length: 4, Pieces([[1, 2], [3, 4]] as [[UInt8]]))
        request.interceptors.append(
            TransferHooks(newBody: { _, number in
                hookCalls.append(number)
                return Body([1, 2, 3, 4])
            }))
        server.forgetRequests()
        let agent = Agent()
        let events = agent.activity()
        #expect(try await agent.send(request).status == 200)
        #expect(hookCalls.values == [2])
        #expect(server.received(1).body == [1, 2, 3, 4])
        var renewed: [Int] = []
        for await case .call(let event) in events {
            if case .bodyRenewed(let number) = event.change { renewed.append(number) }
            if case .stopped = event.change { break }
        }
        #expect(renewed == [2])
    }

    @Test func retryRecreatesTheBody() async throws {
        let stub = StubTransport()
        stub.register("/", with: .status(503), .text("x"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Retry(time: StubTime().source)]
        configuration.interceptors.append(
            TransferHooks(newBody: { _, _ in Body.stream { Pieces([[7]] as [[UInt8]]) } }))
        var request = Request<Bytes>("/", method: .put)
        request.body = .once(Pieces([[7]] as [[UInt8]]))
        _ = try await Agent(configuration, transport: stub).send(request)
        #expect(stub.requests.map { Array($0.body) } == [[7], [7]])
    }

    @Test func failingBodyHookEndsTheCall() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b", status: 307))
        var request = Request<Bytes>(server.url("/a"), method: .post)
        request.body = .once(length: 1, Pieces([[1]] as [[UInt8]]))
        request.interceptors.append(TransferHooks(newBody: { _, _ in throw Cause() }))
        #expect(try await expectFailure(.bodySource, of: request).underlying is Cause)
    }

    // MARK: Metrics

    private struct EndRecorder: Observer {
        let reported: Collected<String>

        func observe(_ event: Event) {
            switch event.change {
            case .metricsCollected: reported.append("collected")
            case .stopping: reported.append("stopping")
            case .stopped: reported.append("stopped")
            default: break
            }
        }
    }

    @Test func metricsAreReportedWhenACallEnds() async throws {
        let server = try server()
        let reported = Collected<Metrics>()
        let request = hooked("/a", on: server) { $0.metrics = { _, metrics in reported.append(metrics) } }
        _ = try await Agent().send(request)
        #expect(reported.values.map { $0.map(\.status) } == [[302, 307, 200]])
    }

    @Test func metricsHookFinishesBeforeTheCallEnds() async throws {
        let server = try server()
        let reported = Collected<String>()
        var request = hooked("/c", on: server) { hooks in
            hooks.metrics = { request, metrics in
                for _ in 0..<100 {
                    await Task.yield()
                }
                reported.append("\(request.method) \(metrics.count)")
            }
        }
        request.observers = [EndRecorder(reported: reported)]
        _ = try await Agent().send(request)
        #expect(reported.values == ["collected", "GET 1", "stopping", "stopped"])
        reported.removeAll()
        for try await _ in try await Agent().stream(request) {}
        #expect(reported.values == ["collected", "GET 1", "stopping", "stopped"])
        reported.removeAll()
        var failing = request.decoded(by: .nothing)
        failing.acceptedStatuses = 400..<500
        _ = try? await Agent().send(failing)
        #expect(reported.values == ["collected", "GET 1", "stopping", "stopped"])
    }

    @Test func hookCanSendRequestsWithTheSameAgent() async throws {
        let server = try server()
        let agent = Agent()
        let reported = Collected<Int>()
        let url = server.url("/c")
        let request = hooked("/c", on: server) { hooks in
            hooks.metrics = { [weak agent] _, _ in
                reported.append((try? await agent?.send(Request<Bytes>(url)).status) ?? 0)
            }
        }
        _ = try await agent.send(request)
        #expect(reported.values == [200] && server.requestCount == 2)
    }

    @Test func releasedStreamReportsItsMetrics() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let gate = Gate()
        let request = hooked("/", on: server) { $0.metrics = { _, _ in gate.open() } }
        do {
            var pieces = try await Agent().stream(request).makeAsyncIterator()
            _ = try await pieces.next()
        }
        try await gate.opened()
    }
}

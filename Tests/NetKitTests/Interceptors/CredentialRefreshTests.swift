import NetKit
import NetKitCompat
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CredentialRefreshTests {
    private struct Refused: Error {}

    private let refreshes = Counter()

    /// Creates a service that accepts only the token "new".
    private func service(_ answer: @escaping @Sendable () -> StubReply = { .status(401) }) -> StubTransport {
        StubTransport { received in
            switch received.path {
            case "/refresh": .text("new")
            default: received.headers["X-Token"] == "new" ? .text("welcome") : answer()
            }
        }
    }

    private func agent(
        _ transport: any Transport, rule: AuthFailureClassifier = .status(401),
        refresh: @escaping @Sendable (String?) async throws -> String
    ) -> (Agent, CredentialRefresh<String>) {
        let refreshes = refreshes
        let interceptor = CredentialRefresh("old", rule: rule) { request, token in
            request.headers["X-Token"] = token
        } refresh: { old in
            refreshes.increment()
            return try await refresh(old)
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [interceptor]
        return (Agent(configuration, transport: transport), interceptor)
    }

    /// Sends this many concurrent calls and counts their outcomes.
    private func endings(of count: Int, from agent: Agent) async -> [Ending: Int] {
        await withTaskGroup(of: Ending.self) { group in
            for _ in 0..<count {
                group.addTask { await ending(of: Request<String>("/"), from: agent) }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    @Test func twoHundredCallsWithAnOldTokenMakeOneRefreshAndAllSucceed() async throws {
        let stub = service()
        let (agent, refresh) = agent(stub) { _ in "new" }
        #expect(await endings(of: 200, from: agent) == [.answered: 200])
        #expect(refreshes.value == 1)
        #expect(refresh.token == "new")
        #expect(try await agent.send(Request<String>("/")).value == "welcome")
        #expect(refreshes.value == 1)
    }

    @Test func tokenOfTextIsSentAsABearerToken() async throws {
        let stub = StubTransport { received in
            received.request.credentials == .bearer("new") ? .text("welcome") : .status(401)
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [CredentialRefresh("old") { $0 == "old" ? "new" : "wrong" }]
        #expect(try await Agent(configuration, transport: stub).send(Request<String>("/")).value == "welcome")
        #expect(stub.requests.map(\.request.credentials) == [.bearer("old"), .bearer("new")])
    }

    @Test func concurrentCallsMakeOneRefresh() async throws {
        let gate = StubGate()
        let stub = service { StubReply.status(401).held(by: gate) }
        let (agent, _) = agent(stub) { _ in "new" }
        async let ended = endings(of: 200, from: agent)
        try await gate.waitForArrivals(200)
        gate.open()
        #expect(await ended == [.answered: 200])
        #expect(refreshes.value == 1)
        #expect(stub.requests.count == 400)
    }

    @Test func failedRefreshFailsEachInFlightCallOnce() async throws {
        let gate = StubGate()
        let stub = service { StubReply.status(401).held(by: gate) }
        let (agent, refresh) = agent(stub) { _ in throw Refused() }
        async let ended = endings(of: 200, from: agent)
        try await gate.waitForArrivals(200)
        gate.open()
        #expect(await ended == [.failed(.authentication): 200])
        #expect(refreshes.value == 1)
        #expect(stub.requests.count == 200)
        #expect(refresh.token == "old")
    }

    @Test func nextCallAfterAFailedRefreshStartsANewRefresh() async throws {
        let attempts = Counter()
        let (agent, _) = agent(service()) { _ in
            if attempts.increment() == 1 {
                throw Refused()
            }
            return "new"
        }
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>("/")) }
        #expect(error?.code == .authentication)
        #expect(error?.underlying is Refused)
        #expect(try await agent.send(Request<String>("/")).value == "welcome")
        #expect(refreshes.value == 2)
    }

    @Test func callRejectedWithTheNewTokenIsNotRefreshedAgain() async throws {
        let stub = StubTransport { _ in .status(401) }
        let (agent, _) = agent(stub) { _ in "useless" }
        #expect(try await agent.send(Request<Bytes>("/")).status == 401)
        #expect(refreshes.value == 1)
        #expect(stub.requests.map { $0.headers["X-Token"] } == ["old", "useless"])
    }

    @Test func aCallThatStartsDuringARefreshWaitsForIt() async throws {
        let gate = StubGate()
        let stub = StubTransport { received in
            if received.path == "/refresh" {
                return StubReply.text("new").held(by: gate)
            }
            return received.headers["X-Token"] == "new" ? .text("welcome") : .status(401)
        }
        let accounts = Agent(.init(baseURL: "http://stub"), transport: stub)
        let (agent, _) = agent(stub) { _ in try await accounts.send(Request<String>("refresh")).value }
        async let first = agent.send(Request<String>("/first")).value
        try await gate.waitForArrivals(1)
        async let second = agent.send(Request<String>("/second")).value
        gate.open()
        #expect(try await [first, second] == ["welcome", "welcome"])
        #expect(stub.requests.count { $0.path == "/second" } == 1)
        #expect(refreshes.value == 1)
    }

    @Test func refreshCanUseTheAgentThatWaitsForIt() async throws {
        let agents = Collected<Agent>()
        defer { agents.removeAll() }  // Breaks the cycle: the agent holds the closure, which holds the agent.
        let stub = StubTransport { received in
            if received.path == "/refresh" {
                return received.headers["X-Token"] == nil ? .text("new") : .status(500)
            }
            return received.headers["X-Token"] == "new" ? .text("welcome") : .status(401)
        }
        let (agent, _) = agent(stub) { _ in
            try await agents.values[0].send(Request<String>("refresh")).value
        }
        agents.append(agent)
        #expect(try await agent.send(Request<String>("/")).value == "welcome")
        #expect(refreshes.value == 1)
    }

    @Test func rejectedRefreshRequestDoesNotWaitForItself() async throws {
        let agents = Collected<Agent>()
        defer { agents.removeAll() }  // Breaks the cycle: the agent holds the closure, which holds the agent.
        let stub = StubTransport { _ in .status(401) }
        let (agent, _) = agent(stub) { _ in
            try await agents.values[0].send(Request<String>("refresh")).value
        }
        agents.append(agent)
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>("/")) }
        #expect(error?.code == .authentication)
        #expect((error?.underlying as? NetError)?.code == .status)
        #expect(refreshes.value == 1)
    }

    @Test func requestCanBypassTheRefreshFromAnyTask() async throws {
        let stub = service()
        let (agent, _) = agent(stub) { _ in "new" }
        var request = Request<Bytes>("/")
        request.bypassesCredentialRefresh = true
        #expect(try await agent.send(request).status == 401)
        #expect(refreshes.value == 0)
        #expect(stub.requests.first?.headers["X-Token"] == nil)
    }

    @Test func cancellingAWaitingCallDoesNotCancelTheRefresh() async throws {
        let gate = StubGate()
        let stub = service()
        let (agent, _) = agent(stub) { _ in
            try await Agent(transport: StubTransport { _ in StubReply.text("new").held(by: gate) })
                .send(Request<String>("http://accounts/")).value
        }
        let first = Task { await ending(of: Request<String>("/"), from: agent) }
        try await gate.waitForArrivals(1)
        let second = Task { await ending(of: Request<String>("/"), from: agent) }
        first.cancel()
        #expect(await first.value == .failed(.cancelled))
        gate.open()
        #expect(await second.value == .answered)
        #expect(refreshes.value == 1)
    }

    /// The refresh runs although the request cannot be resent. Otherwise an app that sends only such bodies would be
    /// refused every time.
    @Test func oneShotBodyIsNotResentAndTheNextRequestUsesTheNewToken() async throws {
        let stub = service()
        let (agent, _) = agent(stub) { _ in "new" }
        func request() -> Request<Bytes> { Request("/", method: .post, body: .once(Pieces([Bytes([1])]))) }
        #expect(try await agent.send(request()).status == 401)
        #expect(stub.requests.count == 1)
        #expect(try await agent.send(request()).status == 200)
        #expect(stub.requests.map { $0.headers["X-Token"] } == ["old", "new"])
        #expect(refreshes.value == 1)
    }

    @Test func replacedCredentialsApplyImmediately() async throws {
        let stub = service()
        let (agent, refresh) = agent(stub) { _ in throw Refused() }
        refresh.replace("new")
        #expect(try await agent.send(Request<String>("/")).value == "welcome")
        refresh.replace(nil)
        #expect(await ending(of: Request<String>("/"), from: agent) == .failed(.authentication))
        #expect(stub.requests.map { $0.headers["X-Token"] } == ["new", nil])
    }

    @Test func streamsAreOpenedAgainWithTheNewToken() async throws {
        let stub = service { .json(#"{"id": "expired_access_token"}"#) }
        let (agent, _) = agent(stub, rule: .identifiers) { _ in "new" }
        let stream = try await agent.stream(Request<Bytes>("/"))
        #expect(try await stream.collect(upTo: 100).text == "welcome")
        #expect(refreshes.value == 1)
    }

    // MARK: Meaning of responses

    @Test(arguments: [200, 400])
    func bodyIdentifierReportsAnExpiredToken(status: Int) async throws {
        let stub = service { .json(#" {"data": {"id": 1}, "id": "expired_access_token"}"#, status: status) }
        let (agent, _) = agent(stub, rule: .identifiers) { _ in "new" }
        #expect(try await agent.send(Request<String>("/")).value == "welcome")
        #expect(refreshes.value == 1)
    }

    @Test(arguments: ["illegal_access_token", "no_permission_for_this_api"])
    func rejectingIdentifierEmitsAnEventWithTheRequestToContinue(identifier: String) async throws {
        let stub = service { .json(#"{"id": "\#(identifier)"}"#) }
        let (bare, refresh) = agent(stub, rule: .identifiers) { _ in "new" }
        let events = Collected<Event>()
        var configuration = bare.configuration
        configuration.observers = [Watcher(events: events)]
        let agent = Agent(configuration, transport: stub)
        var request = Request<String>("/page")
        request.headers["X-Own"] = "1"
        #expect(await ending(of: request, from: agent) == .failed(.authentication))
        #expect(refreshes.value == 0)
        let refused = events.values.filter { event in
            if case .credentialsRefused(identifier) = event.change { true } else { false }
        }
        let event = try #require(refused.first)
        #expect(refused.count == 1)
        #expect(event.request.url == "http://stub/page")
        #expect(event.request.headers["X-Own"] == "1")
        refresh.replace("new")
        #expect(try await agent.send(event.request.decoded(by: .text)).value == "welcome")
    }

    @Test(arguments: [
        #"{"id": 5}"#, #"{"id": "other"}"#, #"{"data": {"id": "expired_access_token"}}"#, #"["expired_access_token"]"#,
        #"{"id": "expired_access_token""#, "", "expired_access_token", #""expired_access_token""#,
    ])
    func otherBodiesDoNotReportAuthFailure(body: String) async throws {
        let stub = service { .json(body) }
        let (agent, _) = agent(stub, rule: .identifiers) { _ in "new" }
        #expect(try await agent.send(Request<String>("/")).value == body)
        #expect(refreshes.value == 0)
    }

    @Test(arguments: ["other", nil])
    func tokenReplacedDuringARefreshIsPreserved(other: String?) async throws {
        let gate = StubGate()
        let stub = StubTransport { received in
            switch received.headers["X-Token"] {
            case "old": .status(401)
            case let token: .text(token ?? "nobody")
            }
        }
        let refreshes = refreshes
        let (agent, refresh) = agent(stub) { _ in
            while !gate.isOpen {
                await Task.yield()
            }
            return "of the one before"
        }
        let call = Task { await Result(of: Request<String>("/"), from: agent) }
        while refreshes.value == 0 {
            await Task.yield()
        }
        refresh.replace(other)
        // The call that waited for the refresh ends immediately.
        let outcome = await call.value
        #expect((try? outcome.get()) == other)
        #expect(failureCode(of: outcome) == (other == nil ? .authentication : nil))
        gate.open()
        #expect(try await agent.send(Request<String>("/")).value == other ?? "nobody")
        await agent.waitUntilIdle()
        #expect(refresh.token == other)
    }

    @Test func supersededRefreshDoesNotEndTheNextOne() async throws {
        let gates = [StubGate(), StubGate()]
        let stub = StubTransport { received in
            received.headers["X-Token"] == "second" ? .text("welcome") : .status(401)
        }
        let refreshes = refreshes
        let (agent, refresh) = agent(stub) { old in
            let number = old == nil ? 1 : 0
            while !gates[number].isOpen {
                await Task.yield()
            }
            return ["first", "second"][number]
        }
        let first = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        while refreshes.value < 1 {
            await Task.yield()
        }
        refresh.replace(nil)
        #expect(await first.value == .failed(.authentication))
        let second = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        while refreshes.value < 2 {
            await Task.yield()
        }
        gates[0].open()
        gates[1].open()
        #expect(await second.value == .answered)
        #expect(refresh.token == "second" && refreshes.value == 2)
    }

    @Test func bodyTooLongForTheRuleIsDeliveredWhole() async throws {
        let long = #"{"id": "expired_access_token", "x": "\#(String(repeating: "x", count: 64 << 10))"}"#
        let stub = service { .json(long) }
        let (agent, _) = agent(stub, rule: .identifiers) { _ in "new" }
        #expect(try await agent.stream(Request<Bytes>("/")).collect(upTo: 1 << 20).text == long)
        #expect(refreshes.value == 0)
    }

    @Test(arguments: ["text/event-stream", "Multipart/X-Mixed-Replace; boundary=b"])
    func bodyRuleDoesNotDelayAnEndlessStream(type: String) async throws {
        let gate = StubGate()
        let stub = StubTransport()
        var reply = StubReply(headers: ["Content-Type": .init(type)])
        reply.body = [.text("first"), .wait(gate), .text("second")]
        stub.register("*", with: .status(401), reply)
        let (agent, _) = agent(stub, rule: .identifiers) { _ in "new" }
        let stream = try await agent.stream(Request<Bytes>("/"))
        var pieces = stream.makeAsyncIterator()
        #expect(try await pieces.next() == Bytes(Array("first".utf8)))
        gate.open()
        #expect(try await pieces.next() == Bytes(Array("second".utf8)))
        #expect(refreshes.value == 1)
    }

    @Test func ruleCanReadAHeaderFieldOrANestedBodyMember() async throws {
        let head = AuthFailureClassifier { $0.headers["X-State"] == "over" ? .expired : .accepted }
        let (first, _) = agent(service { StubReply(headers: ["X-State": "over"]) }, rule: head) { _ in "new" }
        #expect(try await first.send(Request<String>("/")).value == "welcome")
        let deep = AuthFailureClassifier.field(["error", "code"], expired: ["over"])
        let (second, _) = agent(service { .json(#"{"error": {"code": "over"}}"#) }, rule: deep) { _ in "new" }
        #expect(try await second.send(Request<String>("/")).value == "welcome")
    }
}

extension Result where Success == String, Failure == NetError {
    /// Sends the request. The result is its text or its error.
    fileprivate init(of request: Request<String>, from agent: Agent) async {
        do throws(NetError) {
            self = .success(try await agent.send(request).value)
        } catch {
            self = .failure(error)
        }
    }
}

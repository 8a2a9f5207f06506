import NetKit
import NetKitCompat
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RequestDeduplicationTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    private func agent(_ repeats: RequestDeduplication) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [repeats]
        return Agent(configuration, transport: stub)
    }

    private func waiting(_ count: Int, for repeats: RequestDeduplication) async {
        while repeats.waitingCount < count {
            await Task.yield()
        }
    }

    @Test func tenThousandDuplicatesMakeOneTransfer() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10_000 {
                group.addTask { try await agent.send(Request<String>("/")).value }
            }
            await waiting(10_000, for: repeats)
            gate.open()
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(values == ["x": 10_000])
        #expect(stub.requests.count == 1)
        #expect(repeats.waitingCount == 0)
    }

    @Test func bodyStreamedByAHookReachesAllMembers() async throws {
        stub.register("/", with: StubReply(body: [.text("one, "), .text("two")]).held(by: gate))
        let repeats = RequestDeduplication(.join)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [repeats]
        configuration.interceptors.append(TransferHooks(head: { _, _ in .stream }))
        let agent = Agent(configuration, transport: stub)
        async let first = agent.send(Request<String>("/")).value
        async let second = agent.send(Request<String>("/")).value
        await waiting(2, for: repeats)
        gate.open()
        #expect(try await [first, second] == ["one, two", "one, two"])
        #expect(try await agent.send(Request<String>("/")).value == "one, two")
        #expect(stub.requests.count == 2)
    }

    @Test func cancelledMemberReceivesNoEventAfterItsEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000, cutAfter: 200_000, ending: .stall))
        let repeats = RequestDeduplication(.join)
        var configuration = Agent.Configuration()
        configuration.interceptors = [repeats]
        let agent = Agent(configuration)
        let reported = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { reported.append($0) }
        let first = Task { [request] in await ending(of: request, from: agent) }
        await waiting(1, for: repeats)
        let second = Task { await ending(of: Request<Bytes>(server.url("/")), from: agent) }
        await waiting(2, for: repeats)
        try await server.waitForStalled(1)
        first.cancel()
        #expect(await first.value == .failed(.cancelled))
        server.releaseStalled()
        _ = await second.value
        #expect(reported.values.filter(\.isOver).count == 1)
        #expect(reported.values.last?.isOver == true)
    }

    @Test func failureReachesAllMembers() async throws {
        stub.register("/", with: StubReply.failure(.reset).held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        async let first = ending(of: Request<Bytes>("/"), from: agent)
        async let second = ending(of: Request<Bytes>("/"), from: agent)
        await waiting(2, for: repeats)
        gate.open()
        #expect(await [first, second] == [.failed(.reset), .failed(.reset)])
        #expect(stub.requests.count == 1)
    }

    @Test func cancellingOneMemberLeavesTheOthersRunning() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let first = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        await waiting(1, for: repeats)
        let second = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        await waiting(2, for: repeats)
        first.cancel()
        #expect(await first.value == .failed(.cancelled))
        gate.open()
        #expect(await second.value == .answered)
        #expect(stub.requests.count == 1)
    }

    @Test func cancellingTheLastMemberEndsTheTransfer() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let tasks = (0..<3).map { _ in Task { await ending(of: Request<Bytes>("/"), from: agent) } }
        await waiting(3, for: repeats)
        for task in tasks {
            task.cancel()
            #expect(await task.value == .failed(.cancelled))
        }
        // Returns when nothing is in flight.
        await agent.shutdown()
        #expect(repeats.waitingCount == 0)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "OTHER", "get"])
    func unsafeMethodIsJoinedOnlyOnRequest(method: String) async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let request = Request<String>("/", method: Method(rawValue: method), body: .text("7"))
        var asking = request
        asking.duplicates = .join
        let joining = asking
        async let each = agent.send(Batch([request, request, request]))
        try await gate.waitForArrivals(3)
        async let joined = agent.send(Batch([joining, joining, joining]))
        await waiting(3, for: repeats)
        gate.open()
        _ = try await (each, joined)
        #expect(stub.requests.count == 4)
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
    func safeMethodsAreJoined(method: String) async throws {
        stub.register("/", with: .text("").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let request = Request<Void>("/", method: Method(rawValue: method))
        async let joined = agent.send(Batch([request, request, request]))
        await waiting(3, for: repeats)
        gate.open()
        _ = try await joined
        #expect(stub.requests.count == 1)
    }

    private enum Region: ComparedRequestOption { static let defaultValue = "ch" }
    private enum Label: RequestOption { static let defaultValue = 0 }

    @Test func differentRequestIsNotJoined() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        var requests: [Request<Bytes>] = [
            Request("/"), Request("/?a"), Request("/", method: .post), Request("/", headers: ["A": "1"]),
            Request("/", headers: ["A": "2"]), Request("/", body: Body([1])), Request("/", body: Body([2])),
            Request("/", body: Body([2], contentType: "a/b")),
        ]
        let others: [(inout Request<Bytes>) -> Void] = [
            { $0.credentials = .bearer("other") }, { $0.caching = .app(5) },
            { $0.caching = .app(5, .networkElseCache) },
            { $0.caching = .app(6) }, { $0.caching = .server() }, { $0 = $0.expecting(["a": .integer]) },
            { $0 = $0.expecting(["b": .integer]) }, { $0.acceptedStatuses = 200..<201 },
            { $0.acceptedTypes = ["text/plain"] }, { $0.service = Service("a") }, { $0.service = Service("a") },
            { $0.interceptors = [RequestDeduplication()] }, { $0.interceptors = [RequestDeduplication()] },
            { $0.interceptors = [MD5Signing(publicKey: "a", privateKey: "b")] },
            { $0.interceptors = [MD5Signing(publicKey: "a", privateKey: "b")] }, { $0.keepsDotSegments = true },
            { $0.interceptors.append(TransferHooks(challenge: { _ in .useDefault })) },
            { $0.bypassesCredentialRefresh = true }, { $0[Region.self] = "de" }, { $0[Region.self] = "fr" },
        ]
        for change in others {
            var request = requests[0]
            change(&request)
            requests.append(request)
        }
        await withTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask { _ = await ending(of: request, from: agent) }
            }
            try? await gate.waitForArrivals(requests.count)
            gate.open()
        }
        #expect(stub.requests.count == requests.count)
    }

    @Test func equivalentRequestsAreJoined() async throws {
        stub.register("/", with: .json(#"{"a": 1}"#).held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent(repeats)
        let (service, own) = (
            Service("a"),
            CredentialRefresh("a") { _, _ in
            } refresh: {
                $0 ?? ""
            }
        )
        let tasks = (0..<3).map { index in
            var request = Request<Bytes>("/").expecting(["a": .integer]).cached(.app(5) { $0.tags = ["b", "c"] })
            request[Label.self] = index
            if index > 0 {
                request[Region.self] = "ch"
            }
            request.service = service
            request.interceptors = [own]
            return Task { [request] in await ending(of: request, from: agent) }
        }
        await waiting(3, for: repeats)
        gate.open()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(stub.requests.count == 1)
    }

    @Test func canonicallyEquivalentTextsAreNotJoined() async throws {
        let gate = gate
        let stub = StubTransport { received in
            .text("\(received.url.utf8.count) \(received.headers["X"]?.utf8.count ?? 0)").held(by: gate)
        }
        let repeats = RequestDeduplication(.join)
        var configuration = Agent.Configuration()
        configuration.interceptors = [repeats]
        let agent = Agent(configuration, transport: stub)
        // `String` treats the two as equal. To a server they are different.
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let tasks = [
            Request<String>("http://a/\(composed)"), Request("http://a/\(decomposed)"),
            Request("http://a/", headers: ["X": .init(composed)]),
            Request("http://a/", headers: ["X": .init(decomposed)]),
        ].map { request in Task { try await agent.send(request).value } }
        await waiting(4, for: repeats)
        gate.open()
        for (task, value) in zip(tasks, ["11 0", "12 0", "9 2", "9 3"]) {
            #expect(try await task.value == value)
        }
    }

    @Test func callsOfTwoAgentsAreNotJoined() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let (one, other) = (agent(repeats), agent(repeats))
        async let first = ending(of: Request<Bytes>("/"), from: one)
        async let second = ending(of: Request<Bytes>("/"), from: other)
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(await [first, second] == [.answered, .answered])
    }

    @Test func callsOfTwoUsersAreNotJoined() async throws {
        let gate = gate
        let stub = StubTransport { received in .text(received.headers["X-Token"] ?? "nobody").held(by: gate) }
        let refresh = CredentialRefresh("a") {
            $0.headers["X-Token"] = $1
        } refresh: {
            $0 ?? ""
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [RequestDeduplication(.join), refresh]
        let agent = Agent(configuration, transport: stub)
        async let first = agent.send(Request<String>("/me")).value
        try await gate.waitForArrivals(1)
        refresh.replace("b")
        async let second = agent.send(Request<String>("/me")).value
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await [first, second] == ["a", "b"])
    }

    @Test(arguments: [false, true])
    func refreshRequestDoesNotJoinACallThatWaitsForIt(isDetached: Bool) async throws {
        let stub = StubTransport { received in
            switch received.headers["X-Token"] {
            case nil: .text("new")
            case "new": .text("welcome")
            default: .status(401)
            }
        }
        let known = Lock<Agent?>(nil)
        let refresh = CredentialRefresh("old") {
            $0.headers["X-Token"] = $1
        } refresh: { _ in
            var request = Request<String>("/session", method: .post)
            guard let agent = known.withLock({ $0 }) else { return "" }
            guard isDetached else { return try await agent.send(request).value }
            request.bypassesCredentialRefresh = true
            return try await Task.detached { [request] in try await agent.send(request).value }.value
        }
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [RequestDeduplication(.join), refresh]
        let agent = Agent(configuration, transport: stub)
        known.withLock { $0 = agent }
        #expect(try await agent.send(Request<String>("/session", method: .post)).value == "welcome")
        #expect(stub.requests.count == 3)
        known.withLock { $0 = nil }
    }

    @Test func customKeyDeterminesDuplicates() async throws {
        stub.register("*", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication()
        let agent = agent(repeats)
        let tasks = (0..<3).map { index in
            var request = Request<Bytes>("/\(index)")
            request.duplicates = .join
            request.duplicateKey = "one"
            return Task { [request] in await ending(of: request, from: agent) }
        }
        await waiting(3, for: repeats)
        gate.open()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: ["Authorization", "X-API-Key", "Cookie", "credentials", "trust"])
    func customKeySharesNoResponseBetweenUsers(difference: String) async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let agent = agent(RequestDeduplication(.join))
        let tasks = ["ann", "bob"].map { user in
            var request = Request<Bytes>("/")
            request.duplicateKey = "profile"
            switch difference {
            case "credentials": request.credentials = .bearer(user)
            case "trust": request.trust = user == "ann" ? TrustPolicy() : .strict
            default: request.headers[difference] = user
            }
            return Task { [request] in await ending(of: request, from: agent) }
        }
        try await gate.waitForArrivals(2)
        gate.open()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(stub.requests.count == 2)
    }

    @Test func newerRequestCancelsTheOlderRegardlessOfParameters() async throws {
        stub.register("/list", with: .text("old").held(by: gate), .text("new"))
        let agent = agent(RequestDeduplication(.cancelPrevious))
        let old = Task { await ending(of: Request<Bytes>("/list?filter=a"), from: agent) }
        try await gate.waitForArrivals(1)
        #expect(try await agent.send(Request<String>("/list?filter=b")).value == "new")
        #expect(await old.value == .failed(.cancelled))
        #expect(try await agent.send(Request<String>("/list")).value == "new")
    }

    @Test func ignoredDuplicateReportsTheIDOfTheRequestInFlight() async throws {
        stub.register("/", with: .text("x").held(by: gate), .text("y"))
        let numbers = Collected<UInt64>()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                numbers.append(call.id)
                return try await next(call)
            }, RequestDeduplication(.ignore),
        ]
        let agent = Agent(configuration, transport: stub)
        let first = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        try await gate.waitForArrivals(1)
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("/?other")) }
        #expect(error?.code == .ignored)
        #expect(error?.nativeCode == numbers.values.first.map { Int($0) })
        gate.open()
        #expect(await first.value == .answered)
        // When the first request has ended, the next one is not a duplicate.
        #expect(try await agent.send(Request<String>("/")).value == "y")
    }

    @Test func duplicatesAreBothSentWithoutAPolicy() async throws {
        stub.register("/", with: .text("x").held(by: gate))
        let agent = agent(RequestDeduplication())
        async let first = ending(of: Request<Bytes>("/"), from: agent)
        async let second = ending(of: Request<Bytes>("/"), from: agent)
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(await [first, second] == [.answered, .answered])
    }

    @Test func streamsAndOneShotBodiesAreNotJoined() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent(RequestDeduplication(.join))
        let first = try await agent.stream(Request<Bytes>("/"))
        let second = try await agent.stream(Request<Bytes>("/"))
        #expect(try await first.collect(upTo: 9) == second.collect(upTo: 9))
        let body = Body.once(Pieces([Bytes([1])]))
        #expect(try await agent.send(Request<Bytes>("/", method: .put, body: body)).status == 200)
        #expect(stub.requests.count == 3)
    }

    @Test func cancellingAMemberBeforeItJoinsCancelsNoOther() async throws {
        stub.register("/list", with: .text("x").held(by: gate))
        let (arrived, hold) = (Gate(), Gate())
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                if call.request.url.hasSuffix("late") {
                    arrived.open()
                    try? await hold.opened()
                }
                return try await next(call)
            }, RequestDeduplication(.cancelPrevious),
        ]
        let agent = Agent(configuration, transport: stub)
        let first = Task { await ending(of: Request<Bytes>("/list"), from: agent) }
        try await gate.waitForArrivals(1)
        let late = Task { await ending(of: Request<Bytes>("/list?late"), from: agent) }
        try await arrived.opened()
        late.cancel()
        hold.open()
        #expect(await late.value == .failed(.cancelled))
        gate.open()
        #expect(await first.value == .answered)
        #expect(stub.requests.count == 1)
    }
}

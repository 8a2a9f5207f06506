import NetKit
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AgentActivityTests {
    private let stub = StubTransport()

    private func agent() -> Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    /// Returns the events, in words, until the call ends or the last expected one arrives.
    private func story(
        _ events: some AsyncSequence<AgentEvent, Never>, until last: String = "stopped"
    ) async -> [String] {
        var words: [String] = []
        for await event in events {
            words.append(event.word)
            if words.last == last {
                break
            }
        }
        return words
    }

    @Test func subscriberReceivesEventsOfALaterCall() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let events = agent.activity()
        _ = try await agent.send(Request<String>("/"))
        #expect(
            await story(events) == [
                "started", "exchange 1", "head 200", "answered 200", "metrics 1", "stopping 200", "stopped",
            ])
    }

    @Test func cacheThenNetworkIsReportedAsOneCall() async throws {
        let fixture = CacheFixture()
        let request = Request<String>("/").cached(.app(5000))
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await fixture.agent.send(request)
        let events = fixture.agent.activity()
        var answers: [String] = []
        for try await response in fixture.agent.answers(to: request) {
            answers.append(response.value)
        }
        let reported = await story(events)
        #expect(answers == ["1", "2"] && reported.filter { $0 == "started" }.count == 1 && reported.first == "started")
        #expect(reported.contains("exchange 1") && reported.contains("stopping 200") && reported.last == "stopped")
    }

    @Test func engineReportsEachHeadAndRedirect() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .text("x"))
        let agent = Agent()
        let events = agent.activity()
        _ = try await agent.send(Request<String>(server.url("/a")))
        var locations: [String] = []
        var words: [String] = []
        for await event in events {
            words.append(event.word)
            if case .call(let call) = event, case .redirected(_, let location) = call.change {
                locations.append(location)
            }
            if words.last == "stopped" { break }
        }
        #expect(
            words == [
                "started", "exchange 1", "head 302", "redirected 302", "head 200", "answered 200", "metrics 2",
                "stopping 200", "stopped",
            ])
        #expect(locations == [server.url("/b")])
    }

    @Test(arguments: [false, true])
    func downloadRedirectsAreReported(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        let folder = try TemporaryFolder()
        server.script("/a", .redirect(to: "b?x=1"))
        server.script("/b", .redirect(to: "/c"))
        server.script("/c", .text("x"))
        let agent = Agent(configured: { configuration in
            if isHooked {
                configuration.interceptors.append(TransferHooks(redirect: { _ in .follow }))
            }
        })
        let events = agent.activity()
        _ = try await agent.download(Request<Bytes>(server.url("/a")), to: folder.file("file"))
        var locations: [String] = []
        var words: [String] = []
        for await case .call(let call) in events {
            words.append(AgentEvent.call(call).word)
            if case .redirected(_, let location) = call.change { locations.append(location) }
            if case .stopped = call.change { break }
        }
        #expect(
            words.filter { $0.hasPrefix("head") || $0.hasPrefix("redirected") } == [
                "head 302", "redirected 302", "head 302", "redirected 302", "head 200",
            ])
        #expect(locations == [server.url("/b?x=1"), server.url("/c")])
    }

    @Test(arguments: [false, true])
    func metricsOfACancelledBodyAreReported(isHooked: Bool) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000, cutAfter: 5_000, ending: .stall))
        let agent = Agent(configured: { configuration in
            if isHooked {
                configuration.interceptors.append(TransferHooks(head: { _, _ in .allow }))
            }
        })
        let events = agent.activity()
        let reading = Task {
            let request = Request<Bytes>(server.url("/"))
            if isHooked {
                _ = try await agent.send(request)
            } else {
                for try await _ in try await agent.stream(request) {}
            }
        }
        var words: [String] = []
        for await event in events {
            words.append(event.word)
            if event.word == (isHooked ? "decided allow" : "head 200") { reading.cancel() }
            if event.word == "stopped" { break }
        }
        #expect(words.suffix(3) == ["metrics 1", "stopping cancelled", "stopped"])
        await #expect(throws: NetError.self) { try await reading.value }
        server.releaseStalled()
    }

    @Test func eachSubscriberReceivesAllEventsSinceItSubscribed() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let first = agent.activity()
        _ = try await agent.send(Request<String>("/"))
        let second = agent.activity()
        _ = try await agent.send(Request<String>("/"))
        #expect(await story(first).count == 7)
        #expect(await story(first).count == 7)
        #expect(await story(second).count == 7)
    }

    @Test func slowSubscriberReceivesItsMissedCountAndDoesNotBlockOthers() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let events = agent.activity(keeping: 3)
        for _ in 0..<10 {
            _ = try await agent.send(Request<String>("/"))
        }
        var reader = events.makeAsyncIterator()
        #expect(await reader.next(isolation: nil)?.word == "missed 67")
        #expect(await reader.next(isolation: nil)?.word == "metrics 1")
        #expect(await reader.next(isolation: nil)?.word == "stopping 200")
        #expect(await reader.next(isolation: nil)?.word == "stopped")
        _ = try await agent.send(Request<String>("/"))
        #expect(await reader.next(isolation: nil)?.word == "missed 4")
    }

    @Test func theEventsEndWithTheAgent() async throws {
        stub.register("/", with: .text("x"))
        func use() async throws -> some AsyncSequence<AgentEvent, Never> {
            let agent = agent()
            let events = agent.activity()
            _ = try await agent.send(Request<String>("/"))
            return events
        }
        var words: [String] = []
        for await event in try await use() {
            words.append(event.word)
        }
        #expect(words.last == "stopped")
    }

    @Test func cancellingASubscriberEndsItsWait() async throws {
        let agent = agent()
        let events = agent.activity()
        let reader = Task { await story(events) }
        reader.cancel()
        #expect(await reader.value == [])
        #expect(agent.inFlightCount == 0)
    }

    @Test func pausingTwiceIsReportedOnce() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let events = agent.activity()
        let handle = agent.start(Request<Bytes>(server.url("/")), on: .executor(globalConcurrentExecutor))
        try await server.waitForStalled(1)
        handle.pause()
        handle.pause()
        handle.resume()
        handle.resume()
        server.releaseStalled()
        _ = try await handle.value
        let words = await story(events).filter { $0 == "suspended" || $0 == "resumed" }
        #expect(words == ["suspended", "resumed"])
    }

    /// The first observer resumes the call when it is notified of the pause.
    @Test func resumeIsReportedAfterThePause() async throws {
        struct Waker: Observer {
            let handle = Lock<CallHandle<Response<String>>?>(nil)

            func observe(_ event: Event) {
                if case .suspended = event.change {
                    handle.withLock { $0 }?.resume()
                }
            }
        }
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let waker = Waker()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [waker]
        let agent = Agent(configuration, transport: stub)
        let events = agent.activity()
        let handle = agent.start(Request<String>("/"), on: .executor(globalConcurrentExecutor))
        waker.handle.withLock { $0 = handle }
        try await gate.waitForArrivals(1)
        handle.pause()
        gate.open()
        #expect(try await handle.value.value == "x")
        let words = await story(events).filter { $0 == "suspended" || $0 == "resumed" }
        #expect(words == ["suspended", "resumed"])
    }

    @Test func transferPausedByIDIsReported() async throws {
        let server = try LoopbackServer()
        server.script("/", .stalled)
        let agent = Agent()
        let events = agent.activity()
        let request = Request<Bytes>(server.url("/"))
        let sent = Task { try await agent.send(request) }
        try await server.waitForStalled(1)
        let transfer = try #require(agent.transfers().first)
        agent.pause(transfer.id)
        agent.pause(transfer.id)
        agent.resume(transfer.id)
        server.releaseStalled()
        _ = try await sent.value
        let words = await story(events).filter { $0 == "suspended" || $0 == "resumed" }
        #expect(words == ["suspended", "resumed"])
    }

    @Test func queueSuspensionIsReportedForTheAgent() async throws {
        let agent = agent()
        var events = agent.activity().makeAsyncIterator()
        agent.suspend()
        agent.resume()
        #expect(await events.next(isolation: nil)?.word == "agent suspended")
        #expect(await events.next(isolation: nil)?.word == "agent resumed")
    }

    @Test func thousandConcurrentCallsAreReportedCompletelyAndInOrder() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let events = agent.activity(keeping: 100_000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 {
                group.addTask { _ = await ending(of: Request<Bytes>("/"), from: agent) }
            }
        }
        var calls: [UInt64: [String]] = [:]
        var over = 0
        for await event in events {
            guard case .call(let call) = event else { continue }
            calls[call.callID, default: []].append(event.word)
            over += event.word == "stopped" ? 1 : 0
            if over == 1_000 { break }
        }
        #expect(calls.count == 1_000)
        #expect(calls.values.allSatisfy { $0.first == "started" && $0.last == "stopped" && $0.count == 7 })
    }

    @Test func storedEventDoesNotRetainItsSubscriber() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent()
        let receivedEvents = Collected<AgentEvent>()
        do {
            let events = agent.activity()
            _ = try await agent.send(Request<String>("/"))
            for await event in events {
                receivedEvents.append(event)
                if event.word == "stopped" { break }
            }
        }
        // The earlier stream has no reader, so it receives no event.
        let fresh = agent.activity(keeping: 1)
        var reader = fresh.makeAsyncIterator()
        agent.suspend()
        #expect(await reader.next(isolation: nil)?.word == "agent suspended")
        #expect(receivedEvents.values.count == 7)
    }
}

extension AgentEvent {
    /// The event in a few words.
    var word: String {
        switch self {
        case .call(let event): event.story
        case .suspended: "agent suspended"
        case .resumed: "agent resumed"
        case .invalidated: "invalidated"
        case .reset: "reset"
        case .saveFailed(let error): "not saved: \(error.code)"
        case .missed(let count): "missed \(count)"
        }
    }
}

import NetKit
import NetKitCompat
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ObserverTests {
    private let stub = StubTransport()
    private let events = Collected<Event>()

    private func agent(_ interceptors: (any Interceptor)...) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        configuration.observers = [Watcher(events: events)]
        return Agent(configuration, transport: stub)
    }

    private var names: [String] { events.values.map(\.story) }

    @Test func callIsReportedFromStartToEnd() async throws {
        stub.register("/", with: .text("x"))
        _ = try await agent().send(Request<String>("/"))
        #expect(names == ["started", "exchange 1", "answered 200", "stopping 200", "stopped"])
        #expect(Set(events.values.map(\.callID)).count == 1)
        #expect(events.values.map(\.elapsed) == events.values.map(\.elapsed).sorted())
        #expect(events.values[0].request.url == "/")
        #expect(events.values[1].request.url == "http://stub/")
    }

    @Test func attemptsAndWaitsAreReported() async throws {
        stub.register("/", with: .status(503), .failure(.reset), .text("x"))
        var retry = Retry(time: StubTime().source)
        retry.hasJitter = false
        _ = try await agent(retry).send(Request<String>("/"))
        #expect(
            names == [
                "started", "exchange 1", "answered 503", "retry 0.2 seconds", "exchange 2", "failed reset",
                "retry 0.4 seconds", "exchange 3", "answered 200", "stopping 200", "stopped",
            ])
    }

    @Test(arguments: [NetError.Code.badURL, .usage, .reset, .decoding, .status, .bodyTooLarge])
    func everyFailureIsReportedOnce(code: NetError.Code) async throws {
        stub.register("/status", with: .status(404))
        stub.register("/json", with: .json("["))
        stub.register("/", with: .failure(.reset))
        let agent = agent()
        switch code {
        case .badURL: _ = await ending(of: Request<Bytes>("http://a b/"), from: agent)
        case .usage:
            _ = await failureCode { () async throws(NetError) in
                _ = try await agent.download(Request<Bytes>("/"), to: "", options: .init(isResumable: false))
            }
        case .decoding: _ = await ending(of: Request<[Int]>("/json"), from: agent)
        case .status: _ = await ending(of: Request<Void>("/status"), from: agent)
        case .bodyTooLarge:
            stub.register("/", with: .failure(code))
            fallthrough
        default: _ = await ending(of: Request<Bytes>("/"), from: agent)
        }
        #expect(names.first == "started")
        #expect(names.suffix(2) == ["stopping \(code)", "stopped"])
        #expect(names.count { $0.hasPrefix("stop") } == 2)
    }

    @Test func aCancelledCallEndsOnce() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        let agent = agent()
        let task = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        #expect(names == ["started", "exchange 1", "failed cancelled", "stopping cancelled", "stopped"])
    }

    @Test func aStreamEndsWithItsBody() async throws {
        stub.register("/", with: StubReply(body: [.text("a"), .text("b")]))
        let stream = try await agent().stream(Request<Bytes>("/"))
        #expect(names == ["started", "exchange 1", "answered 200"])
        #expect(try await stream.collect(upTo: 10).text == "ab")
        #expect(names.suffix(2) == ["stopping 200", "stopped"])
        #expect(names.count == 5)
    }

    @Test func interruptedStreamEndsWithItsError() async throws {
        stub.register("/", with: StubReply(body: [.text("a"), .fail(NetError(.cutShort, "gone"))]))
        let stream = try await agent().stream(Request<Bytes>("/"))
        let code = await failureCode { () async throws(NetError) in _ = try await stream.collect(upTo: 10) }
        #expect(code == .cutShort)
        #expect(names.suffix(2) == ["stopping cutShort", "stopped"])
    }

    @Test func droppedStreamEndsAsCancelled() async throws {
        stub.register("/", with: .text("a"))
        let agent = agent()
        _ = try await agent.stream(Request<Bytes>("/"))
        #expect(names.suffix(2) == ["stopping cancelled", "stopped"])
        #expect(names.count == 5)
    }

    @Test func responseWithoutATransferIsStillACall() async throws {
        let agent = agent(Wrapping { _, _ in ChainResponse(Response(status: 200, "mine")) })
        _ = try await agent.send(Request<String>("/"))
        #expect(names == ["started", "stopping 200", "stopped"])
    }

    @Test func requestObserversReceiveOnlyTheirOwnRequest() async throws {
        stub.register("*", with: .text("x"))
        let own = Collected<Event>()
        var request = Request<String>("/own")
        request.observers = [Watcher(events: own)]
        let agent = agent()
        _ = try await agent.send(Request<String>("/"))
        _ = try await agent.send(request)
        _ = try await Agent(.init(baseURL: "http://stub"), transport: stub).send(request)
        #expect(own.values.count == 10)
        #expect(own.values.allSatisfy { $0.request.observers.isEmpty })
        #expect(Set(own.values.map(\.callID)).count == 2)
        #expect(events.values.count == 10)
    }

    @Test func eachOfAThousandCallsEndsOnce() async throws {
        let gate = StubGate()
        stub.register("*", with: .text("x").held(by: gate))
        let agent = agent()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1000 {
                group.addTask {
                    let task = Task { await ending(of: Request<Bytes>("/\(index)"), from: agent) }
                    if index % 2 == 0 {
                        task.cancel()
                    }
                    _ = await task.value
                }
            }
            try? await gate.waitForArrivals(500)
            gate.open()
        }
        var ends: [UInt64: [String]] = [:]
        for event in events.values where event.story.hasPrefix("stop") {
            ends[event.callID, default: []].append(event.story)
        }
        #expect(ends.count == 1000)
        #expect(ends.values.allSatisfy { $0.count == 2 && $0[0].hasPrefix("stopping") && $0[1] == "stopped" })
    }

    @Test func feedDeliversEveryEventAndEndsWithTheAgent() async throws {
        func use() async throws -> AsyncStream<Event> {
            let feed = EventFeed()
            var configuration = Agent.Configuration()
            configuration.observers = [feed]
            _ = try await Agent(configuration, transport: stub).send(Request<String>("http://stub/"))
            return feed.events
        }
        stub.register("/", with: .text("x"))
        let names = try await use().reduce(into: []) { $0.append($1.story) }
        #expect(
            names == [
                "started", "exchange 1", "head 200", "answered 200", "metrics 1", "stopping 200", "stopped",
            ])
    }

    @Test func indicatorIsVisibleWhileAnyCallIsInFlight() async throws {
        let log = Collected<String>()
        let indicator = LoadingIndicator(show: { log.append("show") }, hide: { log.append("hide") })
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [indicator]
        let agent = Agent(configuration, transport: stub)
        let gate = StubGate()
        stub.register("/", with: .text("x").held(by: gate))
        stub.register("/fails", with: .failure(.reset))
        let first = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        let second = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        try await gate.waitForArrivals(2)
        #expect(await ending(of: Request<Bytes>("/fails"), from: agent) == .failed(.reset))
        #expect(indicator.count == 2)
        #expect(log.values == ["show"])
        first.cancel()
        _ = await first.value
        #expect(log.values == ["show"])
        gate.open()
        _ = await second.value
        #expect(log.values == ["show", "hide"])
        #expect(await ending(of: Request<Bytes>("/fails"), from: agent) == .failed(.reset))
        #expect(log.values == ["show", "hide", "show", "hide"])
    }

    @Test func indicatorEndsHiddenUnderConcurrency() async throws {
        let shown = Collected<Bool>()
        let indicator = LoadingIndicator(show: { shown.append(true) }, hide: { shown.append(false) })
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [indicator]
        let agent = Agent(configuration, transport: stub)
        stub.register("/", with: .text("x"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { _ = await ending(of: Request<Bytes>("/"), from: agent) }
            }
        }
        #expect(indicator.count == 0)
        #expect(shown.values == (0..<shown.values.count).map { $0 % 2 == 0 })
        #expect(shown.values.last == false)
    }
}

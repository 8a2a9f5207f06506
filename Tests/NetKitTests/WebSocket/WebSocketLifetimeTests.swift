import NetKit
import NetKitTesting
import Testing

/// The end of a WebSocket in each of its states, and its limits of memory.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketLifetimeTests {
    private func server(_ steps: [SocketStep]) throws -> MockServer {
        let server = try MockServer()
        try server.register("/chat", with: .webSocket(steps))
        return server
    }

    // MARK: Cancellation

    @Test func cancelledOpeningEndsTheHandshake() async throws {
        let server = try LoopbackServer()
        server.script("/chat", .stalled)
        let agent = Agent()
        let task = Task { () async throws in try await agent.webSocket(server.url("/chat")) }
        try await server.waitForStalled(1)
        task.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        try await server.waitForSilence()
        await agent.waitUntilIdle()
        #expect(agent.requestTasks().isEmpty)
    }

    @Test func cancelledReceivingKeepsTheSocketAndLosesNoMessage() async throws {
        let server = try server([.receive, .text("one"), .echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        let task = Task { () async throws in try await socket.receive() }
        task.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        try await socket.send(.text("go"))
        #expect(try await socket.receive() == .text("one"))
    }

    @Test func cancelledSendingDoesNotSendTheMessage() async throws {
        let stub = StubTransport()
        stub.register("/chat", with: .webSocket([.stopReading]))
        var options = WebSocket.Options()
        options.maxQueuedBytes = 100
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let socket = try await agent.webSocket(Request<Void>("chat"), options: options)
        try await socket.send(.text(String(repeating: "x", count: 100)))
        let task = Task { () async throws in try await socket.send(.text("second")) }
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(stub.sockets.first?.received.count == 1 && socket.isOpen)
    }

    @Test func cancelledClosingEndsTheConnection() async throws {
        let server = try server([.stopReading])
        let agent = Agent(baseURL: server.url)
        let socket = try await agent.webSocket("chat")
        let task = Task { () async throws in try await socket.close() }
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        await agent.waitUntilIdle()
        #expect(!socket.isOpen && agent.transfers().isEmpty)
    }

    @Test func cancelEndsWaitingCalls() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        let task = Task { () async throws in try await socket.receive() }
        socket.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await failureCode { () async throws(NetError) in try await socket.send(.text("x")) } == .cancelled)
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.ping() } == .cancelled)
        try await socket.close()
    }

    @Test func secondReceiverIsRefused() async throws {
        let stub = StubTransport()
        stub.register("/chat", with: .webSocket([.receive, .text("done")]))
        let server = try server([.receive, .text("done")])
        for agent in [Agent(.init(baseURL: "http://stub"), transport: stub), Agent(baseURL: server.url)] {
            let socket = try await agent.webSocket("chat")
            await withTaskGroup(of: Result<WebSocket.Message, NetError>.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(NetError) {
                            return .success(try await socket.receive())
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                let refused = await group.next()
                #expect(refused?.failureCode == .usage)
                try? await socket.send(.text("go"))
                let received = await group.next()
                #expect(received?.message == .text("done"))
            }
        }
    }

    // MARK: The end of the agent and of references

    @Test func releasingTheLastReferenceClosesTheSocket() async throws {
        let stub = StubTransport()
        stub.register("/chat", with: .webSocket())
        let server = try server([.echo])
        let agent = Agent(baseURL: server.url)
        _ = try await agent.webSocket("chat")
        await agent.waitUntilIdle()
        #expect(agent.transfers().isEmpty)
        _ = try await Agent(.init(baseURL: "http://stub"), transport: stub).webSocket("chat")
        try await stub.sockets.first?.waitForEnd()
        #expect(stub.sockets.first?.closeFrame?.code == .goingAway)
    }

    @Test func agentIsDeallocatedWithItsSockets() async throws {
        func open(_ server: MockServer) async throws -> WeakAgent {
            let agent = Agent(baseURL: server.url)
            let socket = try await agent.webSocket("chat")
            try await socket.send(.text("x"))
            #expect(try await socket.receive() == .text("x"))
            return WeakAgent(agent)
        }
        let server = try server([.echo])
        let observer = try await open(server)
        while observer.agent != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func socketOutlivesItsAgent() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        try await socket.send(.text("x"))
        #expect(try await socket.receive() == .text("x"))
        try await socket.close()
    }

    @Test func invalidateClosesOpenSockets() async throws {
        let server = try server([.echo])
        let agent = Agent(baseURL: server.url)
        let socket = try await agent.webSocket("chat")
        await agent.invalidate()
        #expect(try await socket.next() == nil)
        #expect(socket.closeFrame?.code == .goingAway)
        #expect(await failureCode { () async throws(NetError) in _ = try await agent.webSocket("chat") } == .closed)
    }

    @Test func cancellingInvalidateEndsOpenSockets() async throws {
        let server = try server([.stopReading])
        let agent = Agent(baseURL: server.url)
        let socket = try await agent.webSocket("chat")
        await agent.invalidate(cancelling: true)
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.receive() } == .cancelled)
    }

    @Test func tagCancelsTheSocket() async throws {
        let server = try server([.echo])
        let agent = Agent(baseURL: server.url)
        var request = Request<Void>("chat")
        request.tag = 5
        let socket = try await agent.webSocket(request)
        #expect(agent.requestTasks().map(\.tag) == [5] && agent.requestTasks().map(\.id) == [socket.id])
        #expect(agent.cancel(tag: 5) == 1)
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.receive() } == .cancelled)
        await agent.waitUntilIdle()
        #expect(agent.requestTasks().isEmpty)
    }

    // MARK: Observers

    @Test func observersSeeOneCallFromTheHandshakeToTheEnd() async throws {
        let server = try server([.text("x"), .close(.normal)])
        let events = Collected<Event>()
        let agent = Agent(configured: {
            $0.baseURL = server.url
            $0.observers = [Watcher(events: events)]
        })
        let accessories = Collected<String>()
        var request = Request<Void>("chat")
        request.listeners = [RecordingAccessory("own", accessories)]
        let socket = try await agent.webSocket(request)
        // The end may have been reported as well.
        #expect(events.values.map(\.story).prefix(3) == ["started", "exchange 1", "answered 101"])
        while try await socket.next() != nil {}
        await agent.waitUntilIdle()
        #expect(
            events.values.map(\.story)
                == ["started", "exchange 1", "answered 101", "stopping 101", "stopped"])
        #expect(Set(events.values.map(\.callID)) == [socket.id])
        #expect(
            accessories.values.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
                == ["own will start", "own will stop", "own did stop"])
    }

    // MARK: Backpressure

    @Test func sendingWaitsForAServerThatDoesNotRead() async throws {
        let server = try server([.stopReading])
        let agent = Agent(baseURL: server.url)
        var options = WebSocket.Options()
        options.maxQueuedBytes = 100_000
        options.closeTimeout = .milliseconds(1)
        let socket = try await agent.webSocket(Request<Void>("chat"), options: options)
        let sent = Counter()
        let task = Task { () async throws in
            while true {
                try await socket.send(.binary(Bytes(Array(repeating: 1, count: 40_000))))
                sent.increment()
            }
        }
        // The queue is full when a message is waiting although the last one was sent.
        var last = -1
        var quietRounds = 0
        while quietRounds < 1000 {
            try Task.checkCancellation()
            #expect(socket.queuedBytes <= 100_000 + 100)
            let isFull = socket.queuedBytes > 60_000
            quietRounds = isFull && sent.value == last ? quietRounds + 1 : 0
            last = sent.value
            await Task.yield()
        }
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        socket.cancel()
    }

    @Test func receivingPausesForAConsumerThatDoesNotRead() async throws {
        let text = String(repeating: "x", count: 10_000)
        let server = try server(Array(repeating: .text(text), count: 2000) + [.close(.normal)])
        let agent = Agent(baseURL: server.url)
        var options = WebSocket.Options()
        options.maxUnreadBytes = 50_000
        let socket = try await agent.webSocket(Request<Void>("chat"), options: options)
        try await agent.waitUntilPausedOrOver()
        #expect((50_000...61_000).contains(socket.unreadBytes))
        var count = 0
        while let message = try await socket.next() {
            #expect(message.text?.utf8.count == 10_000 && socket.unreadBytes <= 61_000)
            count += 1
        }
        #expect(count == 2000)
    }

    @Test func silentServerEndsTheSocketAtTheLimit() async throws {
        let server = try server([.stopReading])
        var options = WebSocket.Options()
        options.pingInterval = .milliseconds(20)
        options.peerTimeout = .milliseconds(100)
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.receive() } == .peerTimeout)
    }

    @Test func serverThatDoesNotCloseEndsTheCloseAtItsLimit() async throws {
        let server = try server([.stopReading])
        var options = WebSocket.Options()
        options.closeTimeout = .milliseconds(50)
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        #expect(await failureCode { () async throws(NetError) in try await socket.close() } == .peerTimeout)
    }
}

extension Result<WebSocket.Message, NetError> {
    /// The message of a success.
    fileprivate var message: WebSocket.Message? {
        if case .success(let message) = self { message } else { nil }
    }

    /// The code of the error, or `nil` for a success.
    fileprivate var failureCode: NetError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

import NetKit
import NetKitTesting
import Testing

/// A sequence that opens its WebSocket again.
@Suite(.timeLimit(.minutes(5)))
struct ReconnectingWebSocketTests {
    private let delays = Collected<Duration>()

    private func options(maxFailures: Int? = 20) -> WebSocket.ReconnectionOptions {
        var options = WebSocket.ReconnectionOptions()
        options.maxFailures = maxFailures
        options.random = { 1 }
        options.time.sleep = { [delays] in delays.append($0) }
        return options
    }

    @Test func droppedConnectionIsOpenedAgainWithTheResumedRequest() async throws {
        let server = try MockServer()
        try server.register(
            "/feed", with: .webSocket([.receive, .text("one"), .drop]), .status(503),
            .webSocket([.receive, .text("two"), .close(1012)]),
            .webSocket([.receive, .text("three"), .close(.normal)]))
        let last = Collected<String>()
        var options = options()
        options.resume = { request, _ in
            var request = request
            request.headers["Last-Message"] = last.values.last
            return request
        }
        options.opened = { socket in try await socket.send(.text("subscribe")) }
        for try await message in Agent(baseURL: server.url).reconnectingWebSocket("feed", options: options) {
            last.append(message.text ?? "")
        }
        #expect(last.values == ["one", "two", "three"])
        #expect(server.requests.map { $0.headers["Last-Message"] } == [nil, "one", "one", "two"])
        #expect(delays.values == [.seconds(1), .seconds(2), .seconds(1)])
    }

    @Test(arguments: [1008, 1002, 4000] as [UInt16])
    func codeOfAPolicyEndsTheSequence(code: UInt16) async throws {
        let stub = StubTransport()
        stub.register("/feed", with: .webSocket([.text("one"), .close(.init(rawValue: code), reason: "no")]))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var messages = agent.reconnectingWebSocket("feed", options: options()).makeAsyncIterator()
        #expect(try await messages.next() == .text("one"))
        do {
            _ = try await messages.next()
            Issue.record("no failure")
        } catch {
            let error = error as? NetError
            #expect(error?.code == .closedByServer && error?.nativeCode == Int(code))
        }
        #expect(try await messages.next() == nil)
        #expect(stub.requests.count == 1 && delays.values.isEmpty)
    }

    @Test func closureDecidesAboutACode() async throws {
        let stub = StubTransport()
        stub.register("/feed", with: .webSocket([.close(4000)]), .webSocket([.text("one"), .close(.normal)]))
        var options = options()
        options.reconnects = { $0.code == 4000 }
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var received: [WebSocket.Message] = []
        for try await message in agent.reconnectingWebSocket("feed", options: options) {
            received.append(message)
        }
        #expect(received == [.text("one")])
    }

    @Test func failuresInSuccessionAreLimited() async throws {
        let stub = StubTransport()
        stub.register("/feed", with: .failure(.refused))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var messages = agent.reconnectingWebSocket("feed", options: options(maxFailures: 6)).makeAsyncIterator()
        let error = await #expect(throws: NetError.self) { _ = try await messages.next() }
        #expect(error?.code == .refused && stub.requests.count == 7)
        #expect(delays.values == [1, 2, 4, 8, 16, 30].map { .seconds($0) })
    }

    @Test func refusalThatIsNotTemporaryEndsTheSequence() async throws {
        let stub = StubTransport()
        stub.register("/feed", with: .status(403))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        var messages = agent.reconnectingWebSocket("feed", options: options()).makeAsyncIterator()
        let error = await #expect(throws: NetError.self) { _ = try await messages.next() }
        #expect(error?.code == .upgradeRefused && error?.status == 403 && stub.requests.count == 1)
    }

    @Test func cancellationEndsTheSequenceAndClosesTheSocket() async throws {
        let stub = StubTransport()
        stub.register("/feed", with: .webSocket([.text("one"), .echo]))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let isFirst = Gate()
        let options = options()
        let task = Task { () async throws in
            for try await _ in agent.reconnectingWebSocket("feed", options: options) {
                isFirst.open()
            }
        }
        try await isFirst.opened()
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try await stub.sockets.first?.waitForEnd()
        #expect(stub.sockets.first?.closeFrame?.code == .goingAway && stub.sockets.count == 1)
    }
}

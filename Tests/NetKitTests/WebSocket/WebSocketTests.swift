import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// WebSockets over real connections.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketTests {
    private func server(_ steps: [SocketStep], isSecure: Bool = false) throws -> MockServer {
        let server = try MockServer(isSecure: isSecure)
        try server.register("/chat", with: .webSocket(steps))
        return server
    }

    private struct Greeting: Codable, Sendable, Equatable {
        var text: String
        var sentAt: Int
    }

    @Test func textAndBytesAreSentAndReceived() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        #expect(socket.response.status == 101 && socket.isOpen)
        try await socket.send(.text("grüße"))
        try await socket.send(.binary([0, 255]))
        #expect(try await socket.receive() == .text("grüße"))
        #expect(try await socket.receive() == .binary([0, 255]))
        try await socket.close()
        #expect(try await socket.next() == nil)
        #expect(!socket.isOpen && socket.closeFrame?.code == .normal)
    }

    @Test func stringsAreTextsAndBytesAreBinaryMessages() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        let (line, array, data, bytes) = ("line", [UInt8(1)], Data([2]), Bytes([3]))
        try await socket.send("literal")
        try await socket.send(line)
        try await socket.send(array)
        try await socket.send(data)
        try await socket.send(bytes)
        var received: [WebSocket.Message] = []
        for _ in 0..<5 {
            received.append(try await socket.receive())
        }
        #expect(received == [.text("literal"), .text("line"), .binary([1]), .binary([2]), .binary([3])])
        #expect(received.map(\.data) == [nil, nil, Data([1]), Data([2]), Data([3])])
        try await socket.close(code: .normal, reason: "bye")
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.receive() } == .closed)
        #expect(await failureCode { () async throws(NetError) in try await socket.send("late") } == .closed)
    }

    @Test(arguments: ["ws", "http"])
    func schemeOfTheURLIsThatOfWebSocketsOrOfHTTP(scheme: String) async throws {
        let server = try server([.text("one"), .close(.normal)])
        let socket = try await Agent().webSocket("\(scheme)\(server.url.dropFirst(4))/chat")
        var received: [WebSocket.Message] = []
        for try await message in socket.messages {
            received.append(message)
        }
        #expect(received == [.text("one")])
    }

    @Test func loopEndsWhenTheServerClosesInOrder() async throws {
        let server = try server([.text("one"), .text("two"), .close(.goingAway, reason: "restart")])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        var texts: [String?] = []
        for try await message in socket.messages {
            texts.append(message.text)
        }
        #expect(texts == ["one", "two"])
        #expect(socket.closeFrame == .init(.goingAway, reason: "restart"))
    }

    @Test func serverThatClosesWithAnotherCodeEndsTheLoopWithAnError() async throws {
        let server = try server([.text("one"), .close(4001, reason: "expired")])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        #expect(try await socket.receive() == .text("one"))
        let error = await #expect(throws: NetError.self) { _ = try await socket.receive() }
        #expect(error?.code == .closedByServer && error?.nativeCode == 4001)
        #expect(error?.message.contains("expired") == true)
        await #expect(throws: NetError.self) { try await socket.send(.text("late")) }
    }

    @Test func connectionThatEndsWithoutACloseFrameIsAnError() async throws {
        let server = try server([.text("one"), .drop])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        let code = await failureCode { () async throws(NetError) in
            while try await socket.next() != nil {}
        }
        #expect(code == .reset || code == .cutShort)
        #expect(socket.closeFrame == nil)
    }

    @Test func jsonIsSentAndReceivedWithTheSettingsOfTheAgent() async throws {
        let server = try server([.echo])
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.json.keys = .snakeCase
        let socket = try await Agent(configuration).webSocket("chat")
        try await socket.send(json: Greeting(text: "hello", sentAt: 3))
        try await socket.send(json: Greeting(text: "bye", sentAt: 4))
        #expect(try await socket.receive() == .text(#"{"text":"hello","sent_at":3}"#))
        var values = socket.messages(as: Greeting.self).makeAsyncIterator()
        #expect(try await values.next() == Greeting(text: "bye", sentAt: 4))
        try await socket.send(.text("no JSON"))
        let error = await #expect(throws: NetError.self) { _ = try await values.next() }
        #expect(error?.code == .decoding && error?.response?.bytes.text == "no JSON")
        #expect(socket.isOpen)
    }

    @Test func pingWaitsForItsPong() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        let first = try await socket.ping()
        let second = try await socket.ping()
        #expect(first > .zero && second > .zero)
        try await socket.send(.text("after"))
        #expect(try await socket.receive() == .text("after"))
    }

    @Test func serverChoosesASubprotocol() async throws {
        let server = try MockServer()
        try server.register("/chat", with: .webSocket([.echo], headers: ["Sec-WebSocket-Protocol": "two"]))
        let agent = Agent(baseURL: server.url)
        let socket = try await agent.webSocket("chat", protocols: ["one", "two"])
        #expect(socket.subprotocol == "two")
        #expect(server.requests.first?.headers["Sec-WebSocket-Protocol"] == "one, two")
        let code = await failureCode { () async throws(NetError) in
            _ = try await agent.webSocket("chat", protocols: ["three"])
        }
        #expect(code == .badUpgrade)
    }

    @Test func messageThatIsLargerThanTheQueueIsSentInPieces() async throws {
        let server = try server([.echo])
        var options = WebSocket.Options()
        options.maxQueuedBytes = 10_000
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        let long = String(repeating: "ä", count: 500_000)
        let sending = Task { () async throws in try await socket.send(.text(long)) }
        #expect(try await socket.receive() == .text(long))
        try await sending.value
    }

    @Test func concurrentMessagesStayWhole() async throws {
        let server = try server([.echo])
        var options = WebSocket.Options()
        options.maxQueuedBytes = 1000
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        let sent = (0..<20).map { String(repeating: "\($0 % 10)", count: 5000 + $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for text in sent {
                group.addTask { try await socket.send(.text(text)) }
            }
            var received: Set<String> = []
            while received.count < sent.count, let message = try await socket.next() {
                received.insert(message.text ?? "")
            }
            #expect(received == Set(sent))
            try await group.waitForAll()
        }
    }

    @Test func messageAboveTheLimitEndsTheSocket() async throws {
        let server = try server([.text(String(repeating: "x", count: 2000)), .echo])
        var options = WebSocket.Options()
        options.maxMessageBytes = 1000
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        #expect(await failureCode { () async throws(NetError) in _ = try await socket.receive() } == .messageTooLarge)
    }

    @Test func invalidCloseIsRefusedAndTheSocketStaysOpen() async throws {
        let server = try server([.echo])
        let socket = try await Agent(baseURL: server.url).webSocket("chat")
        for code: WebSocket.CloseCode in [0, 999, 1005, 1006, 5000] {
            #expect(await failureCode { () async throws(NetError) in try await socket.close(code: code) } == .usage)
        }
        let reason = String(repeating: "r", count: 124)
        #expect(await failureCode { () async throws(NetError) in try await socket.close(reason: reason) } == .usage)
        try await socket.send(.text("still open"))
        #expect(try await socket.receive() == .text("still open"))
        try await socket.close(code: nil)
        #expect(socket.closeFrame?.code == WebSocket.CloseCode.none)
        try await socket.close()
    }

    @Test func compressedMessagesAreExchanged() async throws {
        let server = try MockServer()
        try server.register("/chat", with: .webSocket([.text("plain")]))
        var options = WebSocket.Options()
        options.compresses = true
        let socket = try await Agent(baseURL: server.url).webSocket(Request<Void>("chat"), options: options)
        #expect(server.requests.first?.headers["Sec-WebSocket-Extensions"]?.contains("permessage-deflate") == true)
        #expect(try await socket.receive() == .text("plain"))
    }
}

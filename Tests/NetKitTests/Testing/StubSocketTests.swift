import NetKit
import NetKitTesting
import Testing

/// A stub plays the server of a WebSocket.
@Suite(.timeLimit(.minutes(5)))
struct StubSocketTests {
    private let stub = StubTransport()
    private let agent: Agent

    init() {
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
    }

    @Test func stubRunsItsStepsAndRecordsMessages() async throws {
        let gate = StubGate()
        stub.register(
            "/chat",
            with: .webSocket(
                [.text("hello"), .receive, .wait(gate), .binary([1]), .close(.goingAway, reason: "bye")],
                headers: ["Sec-WebSocket-Protocol": "v1"]))
        let socket = try await agent.webSocket("chat")
        #expect(socket.subprotocol == "v1" && socket.response.status == 101)
        #expect(try await socket.receive() == .text("hello"))
        try await socket.send(.text("answer"))
        try await gate.waitForArrivals(1)
        gate.open()
        #expect(try await socket.receive() == .binary([1]))
        #expect(try await socket.next() == nil)
        #expect(socket.closeFrame == .init(.goingAway, reason: "bye"))
        #expect(stub.sockets.map(\.received) == [[.text("answer")]])
        #expect(stub.requests.map(\.path) == ["/chat"])
        await agent.waitUntilIdle()
    }

    @Test func stubEchoesAndRecordsTheCloseOfTheClient() async throws {
        stub.register("/chat", with: .webSocket())
        let socket = try await agent.webSocket("chat")
        try await socket.send(.text("one"))
        #expect(try await socket.receive() == .text("one"))
        #expect(try await socket.ping() == .zero)
        try await socket.close(code: 4000, reason: "done")
        #expect(stub.sockets.first?.closeFrame == .init(4000, reason: "done"))
        #expect(try await socket.next() == nil)
        #expect(await failureCode { () async throws(NetError) in try await socket.send(.text("x")) } == .closed)
    }

    @Test func stubFailsTheSocketOrTheHandshake() async throws {
        stub.register(
            "/chat", with: .webSocket([.drop]), .webSocket([.close(4002, reason: "no")]), .status(404),
            .failure(.refused), .text("no socket"))
        var codes: [NetError.Code?] = []
        for _ in 0..<5 {
            codes.append(
                await failureCode { () async throws(NetError) in
                    _ = try await agent.webSocket("chat").receive()
                })
        }
        #expect(codes == [.cutShort, .closedByServer, .upgradeRefused, .refused, .upgradeRefused])
        await stub.shutdown()
    }

    @Test func replyWithASocketIsNoResponseToARequest() async throws {
        stub.register("/chat", with: .webSocket())
        #expect(await failureCode { () async throws(NetError) in _ = try await agent.get("chat") } == .badResponse)
    }

    @Test func mockServerRefusesAGate() throws {
        let server = try MockServer()
        let error = #expect(throws: NetError.self) {
            try server.register("/chat", with: .webSocket([.wait(StubGate())]))
        }
        #expect(error?.code == .usage)
    }

    @Test func otherTransportsCannotOpenASocket() async throws {
        let agent = Agent(.init(baseURL: "http://stub"), transport: ReplayTransport(Recording()))
        #expect(
            await failureCode { () async throws(NetError) in _ = try await agent.webSocket("chat") } == .unsupported)
    }

    @Test func archiveAndRecordingContainTheHandshakeWithoutSecrets() async throws {
        let server = try MockServer()
        try server.register("/chat", with: .webSocket([.close(.normal)]))
        let archive = HARRecorder()
        let recorder = Recorder()
        var configuration = Agent.Configuration(baseURL: server.url)
        configuration.headers = ["Authorization": "Bearer secret-token"]
        configuration.observers = [archive]
        configuration.interceptors = [recorder]
        let agent = Agent(configuration)
        let socket = try await agent.webSocket("chat?token=secret-token")
        #expect(try await socket.next() == nil)
        await agent.waitUntilIdle()
        let text = try archive.archive().text
        #expect(text.contains(#""status" : 101"#) && !text.contains("secret-token"))
        let recorded = recorder.recording.exchanges
        #expect(recorded.map { $0.response?.status } == [101])
    }
}

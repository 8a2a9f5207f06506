import NetKit
import NetKitTesting
import Synchronization

/// A fixture with the stub transport of NetKitTesting.
final class StubFixture: Fixture {
    private static let origin = "http://scene.test"
    private static let originElsewhere = "http://elsewhere.test"

    private struct State: Sendable {
        var gates: [StubGate] = []
        var agents: [Agent] = []
    }

    private let stub = StubTransport()
    private let state = Mutex(State())

    init() {
        stub.register("*", with: .status(200))
    }

    func agent(_ configure: (inout Agent.Configuration) -> Void) -> Agent {
        var configuration = Agent.Configuration()
        configure(&configuration)
        let agent = Agent(configuration, transport: stub)
        state.withLock { $0.agents.append(agent) }
        return agent
    }

    func url(_ path: String) -> String { Self.origin + path }

    func urlOfOtherOrigin(_ path: String) -> String { Self.originElsewhere + path }

    func play(_ path: String, _ replies: [ServerReply]) throws {
        stub.register(Self.origin + path, with: try replies.map(stubbed))
    }

    private func stubbed(_ reply: ServerReply) throws -> StubReply {
        if reply.wire != nil {
            throw UnsupportedByFixture()
        }
        var stubbed = StubReply(status: reply.status, headers: Headers(reply.fields), body: steps(of: reply))
        stubbed.trailers = Headers(reply.trailers)
        stubbed.isCloseDelimited = reply.framing == .close
        stubbed.readsBody = !reply.isEarly
        if case .beforeHead = reply.hold {
            stubbed.gate = gate()
        }
        return stubbed
    }

    private func steps(of reply: ServerReply) -> [StubReply.Step] {
        var marks: [(at: Int, step: StubReply.Step)] = []
        if case .inBody(let count) = reply.hold {
            marks.append((count, .wait(gate())))
        }
        let end = reply.cutAfter ?? reply.body.count
        var steps: [StubReply.Step] = []
        var start = 0
        let pieceBytes = reply.pieceBytes == 0 ? 64 << 10 : reply.pieceBytes
        while start < end || !marks.isEmpty {
            if let mark = marks.first, mark.at == start {
                steps.append(mark.step)
                marks.removeFirst()
                continue
            }
            let stop = min(start + pieceBytes, marks.first?.at ?? end, end)
            steps.append(.bytes(Bytes(Array(reply.body[start..<stop]))))
            start = stop
        }
        if reply.cutAfter != nil {
            steps.append(.fail(NetError(.cutShort, "the body was cut short")))
        }
        return steps
    }

    private func gate() -> StubGate {
        let gate = StubGate()
        state.withLock { $0.gates.append(gate) }
        return gate
    }

    func waitForHeld(_ count: Int) async throws {
        guard let gate = state.withLock({ $0.gates.last }) else { throw UnsupportedByFixture() }
        try await gate.waitForArrivals(count)
    }

    func release() {
        for gate in state.withLock({ $0.gates }) {
            gate.open()
        }
    }

    var requests: [ServerRequest] { requests(at: Self.origin) }

    var requestsElsewhere: [ServerRequest] { requests(at: Self.originElsewhere) }

    private func requests(at origin: String) -> [ServerRequest] {
        stub.requests.filter { $0.url.hasPrefix(origin) }.map { received in
            ServerRequest(
                method: received.method.rawValue, target: received.path + (received.query.map { "?\($0)" } ?? ""),
                fields: received.headers, body: Array(received.body))
        }
    }

    func end() async {
        for agent in state.withLock({ $0.agents }) {
            await agent.shutdown()
        }
    }
}

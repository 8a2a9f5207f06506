import NetKit
import Synchronization

/// A fixture with the engine and the loopback server.
final class WireFixture: Fixture {
    private let server: LoopbackServer
    private let other: LoopbackServer
    private let agents = Mutex<[Agent]>([])

    init() throws {
        server = try LoopbackServer()
        other = try LoopbackServer(host: "127.0.0.2")
        other.script("*", Reply())
    }

    func agent(_ configure: (inout Agent.Configuration) -> Void) -> Agent {
        var configuration = Agent.Configuration()
        configure(&configuration)
        let agent = Agent(configuration)
        agents.withLock { $0.append(agent) }
        return agent
    }

    func url(_ path: String) -> String { server.url(path) }

    func urlOfOtherOrigin(_ path: String) -> String { other.url(path) }

    func play(_ path: String, _ replies: [ServerReply]) throws {
        server.script(path, replies.map(\.onTheWire))
    }

    func waitForHeld(_ count: Int) async throws {
        try await server.waitForStalled(count)
    }

    func release() {
        server.releaseStalled()
    }

    var requests: [ServerRequest] { Self.requests(of: server) }

    var requestsElsewhere: [ServerRequest] { Self.requests(of: other) }

    private static func requests(of server: LoopbackServer) -> [ServerRequest] {
        (0..<server.requestCount).map { ServerRequest(server.received($0)) }
    }

    func end() async {
        for agent in agents.withLock({ $0 }) {
            await agent.shutdown()
        }
    }
}

extension ServerReply {
    /// The response as raw bytes, so that the case alone determines each of them.
    fileprivate var onTheWire: Reply {
        var reply = Reply(isRaw: true)
        if case .raw(let text) = wire {
            reply.body = Array(text.utf8)
            reply.ending = .close
            return reply
        }
        let head = Array(self.head.utf8)
        reply.body = head + (hasNoBody ? [] : framed)
        reply.ending = framing == .close ? .close : .keep
        reply.dripBytes = pieceBytes
        reply.early = isEarly ? .discard : .patient
        switch hold {
        case nil: break
        case .beforeHead: (reply.cutAfter, reply.ending) = (0, .stall)
        case .inBody(let count): (reply.cutAfter, reply.ending) = (UInt64(head.count + count), .stall)
        }
        if let cutAfter {
            (reply.cutAfter, reply.ending) = (UInt64(head.count + cutAfter), .close)
        }
        return reply
    }

    private var head: String {
        var lines = fields.map { "\($0.name): \($0.value)" }
        var length = body.count
        if case .coded(let bytes, let coding) = wire {
            length = bytes.count
            lines.append("Content-Encoding: \(coding)")
        }
        switch framing {
        case .length where !hasNoBody: lines.append("Content-Length: \(length)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        default: break
        }
        var interim = ""
        if case .interim(let heads) = wire {
            interim = heads
        }
        return "\(interim)HTTP/1.1 \(status) Scripted\r\n\(lines.map { "\($0)\r\n" }.joined())\r\n"
    }

    private var framed: [UInt8] {
        if case .coded(let bytes, _) = wire {
            return bytes
        }
        guard framing == .chunked else { return body }
        var bytes: [UInt8] = []
        let chunkBytes = pieceBytes == 0 ? 32 << 10 : pieceBytes
        for start in stride(from: 0, to: body.count, by: chunkBytes) {
            let chunk = body[start..<min(start + chunkBytes, body.count)]
            bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return bytes + Array("0\r\n\(trailers.map { "\($0.name): \($0.value)\r\n" }.joined())\r\n".utf8)
    }
}

extension ServerRequest {
    fileprivate init(_ received: ReceivedRequest) {
        let words = received.requestLine.split(separator: " ").map(String.init)
        method = words.first ?? ""
        target = words.count > 1 ? words[1] : ""
        fields = Headers(received.fields.map { Headers.Field(name: $0.name, value: $0.value) })
        body = fields["Transfer-Encoding"] == nil ? received.body : Self.unchunked(received.body)
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")),
            let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), count > 0
        {
            let chunk = rest[end...].dropFirst(2)
            body += chunk.prefix(count)
            rest = chunk.dropFirst(count + 2)
        }
        return body
    }
}

import NetKit

/// A ``StubReply`` in the form that the C server requires.
struct MockReply: Sendable {
    var status = 200
    /// The lines of the header fields, each with CR LF at its end.
    var fields: [UInt8] = []
    var trailers: [UInt8] = []
    var body: [UInt8] = []
    /// Whether ``body`` is the complete response including its head. If so, the connection is closed after it.
    var isWhole = false
    /// The steps of a WebSocket.
    var socketSteps: [MockSocketStep]?
    /// Whether the connection is reset at the end.
    var isReset = false

    /// Converts a reply. Throws ``NetKit/NetError/Code/usage`` for a reply that cannot be prepared in advance, such as
    /// one with a gate, and ``NetKit/NetError/Code/badHeader`` for a field that cannot be sent.
    init(_ reply: StubReply) throws(NetError) {
        if reply.gate != nil {
            throw Self.gated
        }
        guard reply.failure == nil else {
            isWhole = true
            isReset = true
            return
        }
        if let steps = reply.socketSteps {
            fields = try Self.lines(reply.headers)
            socketSteps = try MockSocketStep.steps(steps)
            return
        }
        guard (200...999).contains(reply.status) else {
            throw NetError(.usage, "\(reply.status) is not a final status")
        }
        status = reply.status
        fields = try Self.lines(reply.headers)
        trailers = try Self.lines(reply.trailers)
        for step in reply.body where !isReset {
            switch step {
            case .bytes(let bytes): body.append(contentsOf: bytes)
            case .wait: throw Self.gated
            case .fail: isReset = true
            }
        }
        if isReset || reply.isCloseDelimited {
            write(reply)
        }
    }

    private static var gated: NetError {
        NetError(.usage, "a mock server's replies cannot wait for a gate; a StubTransport's can")
    }

    private static func lines(_ fields: Headers) throws(NetError) -> [UInt8] {
        var lines: [UInt8] = []
        for field in fields {
            let line = Array("\(field.name): ".utf8) + Array(field.bytes)
            if field.name.isEmpty || line.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
                throw NetError(.badHeader, "the field '\(field.name)' cannot be sent")
            }
            lines += line + Array("\r\n".utf8)
        }
        return lines
    }

    /// Writes the complete response with a head that the server does not create itself: without a length, or with a
    /// length that the body does not have.
    private mutating func write(_ reply: StubReply) {
        var head = Array("HTTP/1.1 \(status) \r\n".utf8) + fields
        if isReset, reply.headers["Content-Length"] == nil {
            head += Array("Content-Length: \(body.count + 1)\r\n".utf8)
        } else if !isReset {
            head += Array("Connection: close\r\n".utf8)
        }
        body = head + Array("\r\n".utf8) + body
        isWhole = true
    }
}

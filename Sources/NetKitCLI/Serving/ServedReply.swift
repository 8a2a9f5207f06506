import NetKit

/// A reply of one of nk's servers.
struct ServedReply {
    /// What happens to the connection after the reply, or after the position at which the reply is cut.
    enum Ending: Sendable {
        case keep, close, reset
        /// The server sends nothing more, and the connection remains open.
        case stall
    }

    enum Body {
        case bytes([UInt8])
        /// A range of a file.
        case file(ServedFile, offset: Int, length: Int)
    }

    var status = 200
    var headers = Headers()
    var body = Body.bytes([])
    /// Whether ``body`` is the complete response including its head.
    var isWhole = false
    /// The position at which the reply is cut.
    enum Cut: Sendable, Equatable {
        /// Before the first byte of the head.
        case beforeHead
        /// After this number of bytes of the body.
        case inBody(after: Int)
    }

    /// The cut, or `nil` if the whole reply is sent.
    var cut: Cut?
    var ending = Ending.keep
    var delay = Duration.zero
    /// The number of bytes of each write, and the interval between writes. If `nil`, the reply is written as fast as
    /// possible.
    var drip: (bytes: Int, interval: Duration)?
    /// Whether the request's body is sent back instead of ``body``.
    var isEcho = false
    /// Whether ``RequestHandler/reply(toBody:of:connection:)`` may replace this reply.
    var awaitsBody = false
    /// The steps of a WebSocket. If not `nil`, a handshake is accepted, and other requests get status 426.
    var socketSteps: [SocketStep]?
    /// The size of the body's chunks. If `nil`, the body is sent with Content-Length and without chunks.
    var chunkBytes: Int?

    /// Returns a plain text reply with a status and a sentence.
    static func page(_ status: Int, _ sentence: String) -> ServedReply {
        var reply = ServedReply(status: status)
        reply.headers["Content-Type"] = "text/plain; charset=utf-8"
        reply.body = .bytes(Array("\(sentence)\n".utf8))
        return reply
    }

    var bodyLength: Int {
        switch body {
        case .bytes(let bytes): bytes.count
        case .file(_, _, let length): length
        }
    }

    /// The fields as lines. Characters that would end a line are removed.
    var lines: String {
        headers.map { "\(Self.clean($0.name)): \(Self.clean($0.value))\r\n" }.joined()
    }

    private static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}

/// A step of a server's WebSocket. After the last one, messages are dropped until the client closes.
struct SocketStep: Sendable, Equatable {
    enum Action: Sendable {
        case text, binary, ping, close
        /// Sends the bytes unchanged.
        case raw
        /// Waits for a message of the client.
        case wait
        /// Sends each message back until the client closes.
        case echo
        /// Ends the connection without a close frame, with FIN or RST.
        case end, reset
    }

    var action: Action
    var bytes: [UInt8] = []
    /// The code of a close frame. 0 is none.
    var code: UInt16 = 0
}

/// Chooses a server's replies.
protocol RequestHandler: Sendable {
    /// Returns the reply to a request head. Called on the server's thread.
    ///
    /// - Parameter request: the request, or `nil` if its head is malformed or larger than 64 KiB.
    func reply(to request: ServedRequest?, connection: Int) -> ServedReply

    /// Returns the reply to a complete request instead of one with ``ServedReply/awaitsBody``, or `nil` to keep that
    /// one. Called on the server's thread.
    ///
    /// - Parameters:
    ///   - body: the body without the framing of chunks, or its beginning if it has more than 64 MiB.
    ///   - length: the number of bytes of the body.
    func reply(toBody body: [UInt8], of length: Int, connection: Int) -> ServedReply?

    /// Called when a request is complete. `bytes` are the first 64 KiB of its head and body, as received. `length` is
    /// the size of its body without the framing of chunks.
    func received(_ bytes: [UInt8], of length: Int, connection: Int)

    /// Called when a reply was sent completely, or up to the position at which it is cut.
    func replied(connection: Int)
}

extension RequestHandler {
    /// Keeps the reply.
    func reply(toBody body: [UInt8], of length: Int, connection: Int) -> ServedReply? { nil }
}

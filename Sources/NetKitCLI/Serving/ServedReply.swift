import NetKit

/// A reply of one of nk's servers.
struct ServedReply {
    /// How the connection ends after the reply or its cut.
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
    /// Whether the body is the complete response with its head.
    var isWhole = false
    /// The position at which the reply is cut.
    enum Cut: Sendable, Equatable {
        /// Before the first byte of the head.
        case atOnce
        /// After this number of bytes of the body.
        case inBody(after: Int)
    }

    /// The cut, or `nil` if the whole reply is sent.
    var cut: Cut?
    var ending = Ending.keep
    var delay = Duration.zero
    /// The number of bytes per write, and the interval between writes.
    var drip: (bytes: Int, interval: Duration)?
    /// The chunk size of the body; `nil` sends it with Content-Length.
    var chunkBytes: Int?

    /// Returns an HTML page with a status and a sentence.
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

/// Chooses a server's replies.
protocol Serving: Sendable {
    /// Returns the reply to a request head. Called on the server's thread.
    ///
    /// - Parameter request: `nil` for a head beyond 64 KiB.
    func reply(to request: ServedRequest?, connection: Int) -> ServedReply

    /// Called when a request is complete. `bytes` are the first 64 KiB of its head and body as received. `length` is
    /// the size of its body without chunk framing.
    func received(_ bytes: [UInt8], of length: Int, connection: Int)

    /// Called when a reply was sent, or sent up to its cut.
    func replied(connection: Int)
}

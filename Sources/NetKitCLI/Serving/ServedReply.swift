import NetKit

/// A reply as a server of nk gives it.
struct ServedReply {
    /// How the connection ends after the reply, or after its cut.
    enum Ending: Sendable {
        case keep, close, reset
        /// It says nothing more, and stays open.
        case stall
    }

    enum Body {
        case bytes([UInt8])
        /// A part of a file.
        case file(ServedFile, offset: Int, length: Int)
    }

    var status = 200
    var headers = Headers()
    var body = Body.bytes([])
    /// The body is the whole reply, its head included.
    var isWhole = false
    /// Where the ending comes.
    enum Cut: Sendable, Equatable {
        /// Before the first byte of the head.
        case atOnce
        /// After so many bytes of the body.
        case inBody(after: Int)
    }

    /// Nil: the reply is sent whole.
    var cut: Cut?
    var ending = Ending.keep
    var delay = Duration.zero
    /// Bytes at a time, and the time between them.
    var drip: (bytes: Int, interval: Duration)?
    /// The body is sent in chunks of this many bytes; nil sends it with its length.
    var chunkBytes: Int?

    /// A page for a person: a status and its sentence.
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

    /// The fields as lines; what could end a line is left out of them.
    var lines: String {
        headers.map { "\(Self.clean($0.name)): \(Self.clean($0.value))\r\n" }.joined()
    }

    private static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}

/// Who answers.
protocol Serving: Sendable {
    /// Chooses the reply to a head. Runs on the server's thread.
    ///
    /// - Parameter request: nil for a head beyond 64 KiB.
    func reply(to request: ServedRequest?, connection: Int) -> ServedReply

    /// A request has come whole; `bytes` are its first 64 KiB, head and body as they came, and `length` is that of its
    /// body, without the framing of chunks.
    func received(_ bytes: [UInt8], of length: Int, connection: Int)

    /// A reply has been sent, as far as it is sent at all.
    func replied(connection: Int)
}

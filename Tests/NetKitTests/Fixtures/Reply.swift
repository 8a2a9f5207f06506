/// A response of the loopback server for one path.
struct Reply: Sendable {
    enum Ending: Sendable {
        case keep, close, reset, stall
    }

    /// Whether the response waits for the request's body.
    enum Early: Sendable {
        case patient, discard, end, stop
    }

    var status: UInt16 = 200
    /// Lines such as "Content-Type: text/plain", without line ends.
    var headers: [String] = []
    var body: [UInt8] = []
    /// The length of a body of repeated letters from a to z, or 0 to send `body`.
    var patternLength: UInt64 = 0
    var isEcho = false
    /// Whether the body is the whole response, including its head.
    var isRaw = false
    var chunkBytes = 0
    /// Whether range requests get 206 or 416. If-Range is compared with `headers`.
    var answersRanges = false
    /// The number of bytes of the whole response after which `ending` happens.
    var cutAfter: UInt64?
    var ending = Ending.keep
    var location: String?
    /// The size of the pieces in which the response is sent, in bytes, or 0.
    var dripBytes = 0
    var dripMilliseconds: UInt32 = 0
    var early = Early.patient
    /// Trailer lines, without line ends.
    var trailers: [String] = []
    /// The user name that Basic authorization requires. Requests without it and the password get 401.
    var user: String?
    var password = ""

    static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Reply {
        Reply(headers: ["Content-Type: \(contentType)"], body: Array(text.utf8))
    }

    static func bytes(_ bytes: [UInt8], contentType: String) -> Reply {
        Reply(headers: ["Content-Type: \(contentType)"], body: bytes)
    }

    static func json(_ text: String) -> Reply {
        .text(text, contentType: "application/json")
    }

    static func raw(_ text: String, ending: Ending = .close) -> Reply {
        Reply(body: Array(text.utf8), isRaw: true, ending: ending)
    }

    static func redirect(to location: String, status: UInt16 = 302) -> Reply {
        Reply(status: status, location: location)
    }

    /// Sends nothing until the server is released.
    static let stalled = Reply(body: Array("late".utf8), cutAfter: 0, ending: .stall)
    static let echo = Reply(isEcho: true)
}

/// A parsed request that the server received.
struct ReceivedRequest: Sendable {
    let requestLine: String
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    init(_ bytes: [UInt8]) {
        let end = bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) } ?? bytes.count
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
        requestLine = lines.first ?? ""
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            return (String(parts[0]), String(value))
        }
        body = Array(bytes.dropFirst(end + 4))
    }

    func values(named name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

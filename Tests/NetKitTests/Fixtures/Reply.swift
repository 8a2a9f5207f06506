/// What the loopback server answers on one path.
struct Reply: Sendable {
    enum Ending: Sendable {
        case keep, close, reset, stall
    }

    /// Whether the reply waits for the request's body.
    enum Early: Sendable {
        case patient, discard, end, stop
    }

    var status: UInt16 = 200
    /// Lines such as "Content-Type: text/plain", without their ends.
    var headers: [String] = []
    var body: [UInt8] = []
    /// When not 0, the body is this many letters from a to z, over and over.
    var patternLength: UInt64 = 0
    var isEcho = false
    /// The body is the whole reply, head included.
    var isRaw = false
    var chunkBytes = 0
    /// Ranges get 206 or 416, where If-Range names what `headers` hold.
    var answersRanges = false
    /// The number of bytes of the whole reply after which the ending comes.
    var cutAfter: UInt64?
    var ending = Ending.keep
    var location: String?
    /// When not 0, the reply goes out in pieces of this many bytes.
    var dripBytes = 0
    var dripMilliseconds: UInt32 = 0
    var early = Early.patient
    /// Lines after the last chunk, without their ends.
    var trailers: [String] = []
    /// Whoever does not show this name and the password gets 401 (Basic).
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

    /// Answers nothing until the server releases it.
    static let stalled = Reply(body: Array("late".utf8), cutAfter: 0, ending: .stall)
    static let echo = Reply(isEcho: true)
}

/// What the server received, taken apart.
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

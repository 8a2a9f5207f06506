import NetKit

/// The head of a request that one of nk's servers has received.
struct ServedRequest: Sendable {
    var method: String
    /// The path and the query as received, without scheme and host.
    var target: String
    var headers: Headers

    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The text after the first '?', or `nil` if there is none.
    var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// Whether the request asks for a WebSocket.
    var opensSocket: Bool { headers["Upgrade"]?.lowercased() == "websocket" }

    /// Parses a head. Returns `nil` if it is malformed, or if it does not end with an empty line because it was too
    /// long.
    init?(head: [UInt8]) {
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)[
            ...]
        guard lines.count >= 3, lines.popLast() == "", lines.popLast() == "" else { return nil }
        let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = Self.originForm(String(words[1]))
        headers = Headers(
            lines.compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                var value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                while let last = value.last, last == " " || last == "\t" { value.removeLast() }
                return Headers.Field(name: String(line[..<colon]), value: String(value))
            })
    }

    /// Returns the target of a request without scheme and host, which a request to a proxy contains (RFC 9112, 3.2.2).
    private static func originForm(_ target: String) -> String {
        let parts = URLParts(target)
        return target.hasPrefix("/") || parts.host == nil ? target : parts.target
    }

    /// Returns a chunked body without the framing of chunks (RFC 9112, 7.1). The bytes may be only the beginning of the
    /// body.
    static func withoutChunks(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var body: [UInt8] = []
        var remaining = bytes
        while let end = remaining.firstIndex(of: UInt8(ascii: "\r")) {
            let digits = remaining[..<end].prefix { $0 != UInt8(ascii: ";") }
            guard let length = Int(String(decoding: digits, as: UTF8.self), radix: 16), length > 0 else { break }
            let chunk = remaining[end...].dropFirst(2).prefix(length)
            body += chunk
            remaining = remaining[chunk.endIndex...].dropFirst(2)
        }
        return body
    }

    /// Returns the segments of a path, percent-decoded, with dot segments resolved and empty segments removed.
    ///
    /// Returns `nil` if no file can have such a path: it has a '%' without two hex digits, an encoded slash or NUL, or
    /// bytes that are not UTF-8.
    static func segments(of path: String) -> [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let bytes = decoded(part), !bytes.contains(0), !bytes.contains(UInt8(ascii: "/")),
                let name = String(validating: bytes, as: UTF8.self)
            else { return nil }
            switch name {
            case ".": continue
            case "..": _ = segments.popLast()
            default: segments.append(name)
            }
        }
        return segments
    }

    private static func decoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var remaining = Array(text.utf8)[...]
        while let byte = remaining.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = remaining.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            remaining = remaining.dropFirst(2)
        }
        return bytes
    }
}

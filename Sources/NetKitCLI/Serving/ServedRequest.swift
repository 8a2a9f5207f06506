import NetKit

/// A request head received by one of nk's servers.
struct ServedRequest: Sendable {
    var method: String
    /// The path and the query as received, without scheme and host.
    var target: String
    var headers: Headers

    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The text after the first '?', or `nil` without one.
    var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// Parses a head that ends with an empty line. `nil` if it does not (it was too long), or if it is malformed.
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

    /// Removes the scheme and the host of a proxy request (RFC 9112, 3.2.2).
    private static func originForm(_ target: String) -> String {
        guard !target.hasPrefix("/"), let mark = target.firstRange(of: "://") else { return target }
        let rest = target[mark.upperBound...].drop { $0 != "/" && $0 != "?" }
        return rest.hasPrefix("/") ? String(rest) : "/" + rest
    }

    /// Decodes the chunks (RFC 9112, 7.1) of a complete body or of its first bytes.
    static func withoutChunks(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var body: [UInt8] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            let digits = rest[..<end].prefix { $0 != UInt8(ascii: ";") }
            guard let length = Int(String(decoding: digits, as: UTF8.self), radix: 16), length > 0 else { break }
            let chunk = rest[end...].dropFirst(2).prefix(length)
            body += chunk
            rest = rest[chunk.endIndex...].dropFirst(2)
        }
        return body
    }

    /// Returns the path's segments, percent-decoded, with dot segments resolved and empty ones removed. `nil` if no
    /// file can have such a name: a '%' without two digits, an encoded slash or NUL, or bytes that are not UTF-8.
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
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

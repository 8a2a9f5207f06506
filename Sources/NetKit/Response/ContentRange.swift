/// The Content-Range field of a partial response (RFC 9110, 14.4).
struct ContentRange {
    let start: Int
    let end: Int
    let total: Int?

    init?(_ field: String?) {
        guard let field, Self.isInBytes(field) else { return nil }
        let halves = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, field.utf8.dropFirst(5).first == UInt8(ascii: " ") else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = Self.number(ends[0]), let end = Self.number(ends[1]), start <= end else {
            return nil
        }
        total = Self.number(halves[1])
        guard total.map({ end < $0 }) ?? (halves[1] == "*") else { return nil }
        self.start = start
        self.end = end
    }

    /// Returns true if the range counts bytes, well-formed or not. Ranges of other units do not describe the body's
    /// bytes.
    static func isInBytes(_ field: String) -> Bool {
        let bytes = field.utf8
        guard bytes.count > 5, let next = bytes.dropFirst(5).first else { return false }
        return field.prefix(5).lowercased() == "bytes" && [0x20, 0x09, 0x3D].contains(next)
    }

    /// Parses digits only: no sign, no blank.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}

extension Response {
    /// Whether the body is a part of the resource: status 206, or another success whose Content-Range covers less than
    /// the whole. Some servers send a part with status 200.
    var isPart: Bool {
        status == 206 || ((200..<300).contains(status) && headers.namesPart)
    }
}

extension Headers {
    /// Whether Content-Range covers fewer bytes than the whole.
    var namesPart: Bool {
        let fields = values(named: "Content-Range").filter(ContentRange.isInBytes)
        guard let field = fields.first else { return false }
        guard fields.count == 1, let range = ContentRange(field), range.start == 0, let total = range.total,
            range.end == total - 1
        else { return true }
        let length = self["Content-Length"].flatMap { Int($0) }
        return self["Content-Encoding"] == nil && length.map { $0 != total } ?? false
    }
}

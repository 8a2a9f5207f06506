import NetKit

/// A multipart body (RFC 2046, 5.1.1), as far as a recording inspects it.
///
/// It is split and joined again, and not parsed. A parser would reject a damaged form, so its secrets would be
/// recorded. It would also drop the bytes between the parts.
struct RecordedForm {
    /// The bytes before, between and after the delimiters. For a part: the remainder of the delimiter line, its fields
    /// and its content.
    let pieces: [[UInt8]]
    private let delimiter: [UInt8]

    /// Returns `nil` for another type, and for a type without a boundary.
    init?(_ bytes: Bytes, _ type: String?) {
        guard let type, type.lowercased().hasPrefix("multipart/"), let boundary = parameter("boundary", of: type) else {
            return nil
        }
        delimiter = Array("--\(boundary)".utf8)
        pieces = Self.split(Array(bytes), by: delimiter)
    }

    /// Returns the body with the contents of parts with these names hidden.
    func hidingSecrets(_ names: Redaction.Names) -> Bytes {
        Bytes(Array(pieces.map { Self.hiding($0, names) }.joined(separator: delimiter)))
    }

    private static func hiding(_ piece: [UInt8], _ names: Redaction.Names) -> [UInt8] {
        let blankLine = Array("\r\n\r\n".utf8)
        guard let end = place(of: blankLine, in: piece, from: 0), isSecret(piece[..<end], names) else { return piece }
        return piece[..<end] + blankLine + Array("\(Redaction.mark)\r\n".utf8)
    }

    private static func isSecret(_ head: ArraySlice<UInt8>, _ names: Redaction.Names) -> Bool {
        let lines = head.split { $0 == 0x0D || $0 == 0x0A }.map { String(decoding: $0, as: UTF8.self) }
        let name = lines.lazy.filter { $0.lowercased().hasPrefix("content-disposition:") }
            .compactMap { parameter("name", of: $0) }.first
        return name.map { names.contains($0, as: .parameter) } ?? false
    }

    private static func split(_ bytes: [UInt8], by delimiter: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        var next = 0
        while let end = place(of: delimiter, in: bytes, from: next) {
            next = end + delimiter.count
            // A delimiter is at the beginning of a line; elsewhere it is content.
            if end == 0 || bytes[..<end].suffix(2) == [0x0D, 0x0A] {
                pieces.append(Array(bytes[start..<end]))
                start = next
            }
        }
        return pieces + [Array(bytes[start...])]
    }

    private static func place(of wanted: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var at = start
        while at + wanted.count <= bytes.count {
            if bytes[at] == wanted[0], bytes[at...].starts(with: wanted) {
                return at
            }
            at += 1
        }
        return nil
    }
}

import NetKit

/// A multipart body (RFC 2046, 5.1.1) whose secrets can be hidden before it is recorded.
///
/// The body is only split at its delimiters and joined again. A parser is not used, because it would reject a damaged
/// form, whose secrets would then be recorded. It would also drop the bytes between the parts.
struct RecordedForm {
    /// The bytes before, between and after the delimiters. The piece of a part consists of the rest of the delimiter's
    /// line, the fields and the content.
    let pieces: [[UInt8]]
    private let delimiter: [UInt8]

    /// Splits a body. Returns `nil` if the type is not multipart, or has no boundary.
    init?(_ bytes: Bytes, _ type: String?) {
        guard let type, type.lowercased().hasPrefix("multipart/"), let boundary = parameter("boundary", of: type) else {
            return nil
        }
        delimiter = Array("--\(boundary)".utf8)
        pieces = Self.split(Array(bytes), by: delimiter)
    }

    /// Returns the body in which the contents of all parts with these names are hidden.
    func hidingSecrets(_ names: Redaction.Names) -> Bytes {
        Bytes(Array(pieces.map { Self.hiding($0, names) }.joined(separator: delimiter)))
    }

    private static func hiding(_ piece: [UInt8], _ names: Redaction.Names) -> [UInt8] {
        let blankLine = Array("\r\n\r\n".utf8)
        guard let end = position(of: blankLine, in: piece, from: 0), isSecret(piece[..<end], names) else {
            return piece
        }
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
        while let end = position(of: delimiter, in: bytes, from: next) {
            next = end + delimiter.count
            // A delimiter must be at the beginning of a line. Elsewhere the same bytes are content.
            if end == 0 || bytes[..<end].suffix(2) == [0x0D, 0x0A] {
                pieces.append(Array(bytes[start..<end]))
                start = next
            }
        }
        return pieces + [Array(bytes[start...])]
    }

    private static func position(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + pattern.count <= bytes.count {
            if bytes[index] == pattern[0], bytes[index...].starts(with: pattern) {
                return index
            }
            index += 1
        }
        return nil
    }
}

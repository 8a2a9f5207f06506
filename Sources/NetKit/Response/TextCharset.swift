/// The charset of a text. It comes from the byte order mark, otherwise from the Content-Type, the document's own
/// declaration, or the caller's default, in this order. Pure.
struct TextCharset: Equatable {
    /// The label as written.
    private(set) var name: String
    /// Whether the text begins with U+FEFF, which is then not part of it.
    private(set) var hasMark = false

    /// The first bytes of a document, which must contain its charset declaration (WHATWG HTML, 13.2.3.2).
    static let sniffedBytes = 1024

    init(of bytes: Bytes, contentType: String?, otherwise: String) {
        let declared = contentType.flatMap(charsetName)
        if let mark = Self.mark(of: Array(bytes.prefix(4)), declared: declared) {
            self = mark
            return
        }
        let said = declared ?? contentType.flatMap { Self.ownWord(of: bytes, $0) } ?? otherwise
        name = Self.withOrder(said)
    }

    private init(marked name: String) {
        self.name = name
        hasMark = true
    }

    /// Returns the charset of a byte order mark, which takes precedence (WHATWG Encoding, 6.1). The mark of
    /// little-endian UTF-32 equals that of UTF-16 followed by NUL: the Content-Type decides.
    private static func mark(of first: [UInt8], declared: String?) -> TextCharset? {
        let isUTF16 = declared.flatMap(standardCharset)?.hasPrefix("UTF-16") ?? false
        if first.starts(with: [0xEF, 0xBB, 0xBF]) {
            return TextCharset(marked: "utf-8")
        } else if first == [0, 0, 0xFE, 0xFF] {
            return TextCharset(marked: "utf-32be")
        } else if first == [0xFF, 0xFE, 0, 0], !isUTF16 {
            return TextCharset(marked: "utf-32le")
        } else if first.starts(with: [0xFE, 0xFF]) {
            return TextCharset(marked: "utf-16be")
        } else if first.starts(with: [0xFF, 0xFE]) {
            return TextCharset(marked: "utf-16le")
        }
        return nil
    }

    private static func ownWord(of bytes: Bytes, _ contentType: String) -> String? {
        let beginning = Array(bytes.prefix(sniffedBytes))
        if MediaTypes.accept(contentType, ["text/html"]) {
            return MarkupCharset.ofHTML(beginning)
        }
        let isXML = MediaTypes.accept(contentType, ["application/xml", "text/xml", "*+xml"])
        return isXML ? MarkupCharset.ofXML(beginning) : nil
    }

    /// Names outside the WHATWG Encoding Standard, which iconv would read in this machine's byte order: little-endian,
    /// as the standard defines for UTF-16.
    private static func withOrder(_ name: String) -> String {
        switch name.trimmingBlanks.lowercased() {
        case "utf16": "utf-16le"
        case "utf-32", "utf32": "utf-32le"
        default: name
        }
    }
}

/// Returns the charset parameter of a Content-Type (RFC 9110, 8.3.2): the first one, quoted or not. Some servers write
/// single quotes, which HTTP does not define and which cannot begin a label.
package func charsetName(in contentType: String) -> String? {
    guard let name = parameter("charset", of: contentType) else { return nil }
    let quote: Character = "'"
    return name.count > 2 && name.first == quote && name.last == quote ? String(name.dropFirst().dropLast()) : name
}

/// Returns the first parameter with this name in a value such as a Content-Type, quoted or not; `nil` if it is empty.
///
/// Quoted pairs are decoded (RFC 9110, 5.6.4), and a quoted value ends at its closing quote. A parameter without a
/// value is ignored.
package func parameter(_ wanted: String, of field: String) -> String? {
    var rest = Substring(field).utf8.drop { $0 != UInt8(ascii: ";") }
    while !rest.isEmpty {
        rest = rest.dropFirst()
        let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        rest = rest.dropFirst(name.count)
        guard rest.first == UInt8(ascii: "=") else { continue }
        rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let isQuoted = rest.first == UInt8(ascii: "\"")
        let value =
            isQuoted ? takeQuoted(&rest) : String(Substring(rest.prefix { $0 != UInt8(ascii: ";") })).trimmingBlanks
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        if isQuoted || !value.isEmpty, String(Substring(name)).trimmingBlanks.isEqualIgnoringASCIICase(to: wanted) {
            return value.isEmpty ? nil : value
        }
    }
    return nil
}

/// Consumes a quoted string and returns it decoded. Without a closing quote it extends to the end.
private func takeQuoted(_ rest: inout Substring.UTF8View) -> String {
    var value: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return String(decoding: value, as: UTF8.self)
}

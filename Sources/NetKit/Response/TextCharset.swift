/// The charset of a text: by its byte order mark, else by the Content-Type, else by what a
/// document says of itself, else by what the caller takes for usual. Pure.
struct TextCharset: Equatable {
    /// A label as it was said.
    private(set) var name: String
    /// Whether U+FEFF begins it, which is no part of it then.
    private(set) var hasMark = false

    /// Bytes in which a document has to name its charset (WHATWG HTML, 13.2.3.2).
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

    /// A mark counts most (WHATWG Encoding, 6.1). That of UTF-32 with the little end first is also UTF-16's before a NUL:
    /// the Content-Type tells.
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

    /// Names outside the WHATWG Encoding Standard that iconv reads in this machine's byte order: the little end first, as
    /// the standard has it for UTF-16.
    private static func withOrder(_ name: String) -> String {
        switch name.trimmingBlanks.lowercased() {
        case "utf16": "utf-16le"
        case "utf-32", "utf32": "utf-32le"
        default: name
        }
    }
}

/// The charset parameter of a Content-Type (RFC 9110, 8.3.2): the first one, in quotes or not. Servers also write single
/// quotes, which are no quotes to HTTP and begin no label.
package func charsetName(in contentType: String) -> String? {
    guard let name = parameter("charset", of: contentType) else { return nil }
    let quote: Character = "'"
    return name.count > 2 && name.first == quote && name.last == quote ? String(name.dropFirst().dropLast()) : name
}

/// The first parameter of this name behind a value such as a Content-Type's, in quotes or not; `nil` when it is empty.
///
/// Quoted pairs are undone (RFC 9110, 5.6.4), and a quoted value ends at its closing quote. A parameter without any value
/// does not count.
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

/// Takes a quoted string without its quotes and quoted pairs; one without a closing quote goes to the end.
private func takeQuoted(_ rest: inout Substring.UTF8View) -> String {
    var value: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return String(decoding: value, as: UTF8.self)
}

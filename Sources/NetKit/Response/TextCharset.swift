/// The charset of a text. The first of these determines it: a byte order mark, the Content-Type, the declaration in an
/// HTML or XML document, the caller's default. Pure.
struct TextCharset: Equatable {
    /// The name as the Content-Type or the document spells it.
    private(set) var name: String
    /// Whether the bytes begin with a byte order mark, which is not part of the text.
    private(set) var hasMark = false

    /// The number of bytes at the start of a document that are searched for a charset declaration (WHATWG HTML,
    /// 13.2.3.2).
    static let sniffedBytes = 1024

    init(of bytes: Bytes, contentType: String?, otherwise: String) {
        let declared = contentType.flatMap(charsetName)
        if let mark = Self.mark(of: Array(bytes.prefix(4)), declared: declared) {
            self = mark
            return
        }
        let label = declared ?? contentType.flatMap { Self.declaredCharset(of: bytes, $0) } ?? otherwise
        name = Self.withByteOrder(label)
    }

    private init(marked name: String) {
        self.name = name
        hasMark = true
    }

    /// Returns the charset of a byte order mark, which takes precedence over everything else (WHATWG Encoding, 6.1).
    ///
    /// The mark of little-endian UTF-32 could also be the mark of little-endian UTF-16 before a NUL. It is read as
    /// UTF-16 only if the Content-Type says so.
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

    private static func declaredCharset(of bytes: Bytes, _ contentType: String) -> String? {
        let beginning = Array(bytes.prefix(sniffedBytes))
        if MediaTypes.accept(contentType, ["text/html"]) {
            return MarkupCharset.ofHTML(beginning)
        }
        let isXML = MediaTypes.accept(contentType, ["application/xml", "text/xml", "*+xml"])
        return isXML ? MarkupCharset.ofXML(beginning) : nil
    }

    /// Returns the name with an explicit byte order for names that the WHATWG Encoding Standard does not define.
    /// Otherwise iconv would use the byte order of this machine. Little-endian is used, as the standard does for
    /// UTF-16.
    private static func withByteOrder(_ name: String) -> String {
        switch name.trimmingBlanks.lowercased() {
        case "utf16": "utf-16le"
        case "utf-32", "utf32": "utf-32le"
        default: name
        }
    }
}

/// Returns the first charset parameter of a Content-Type (RFC 9110, 8.3.2), without its quotes. Single quotes are
/// removed too: some servers send them although HTTP does not define them, and no charset name begins with one.
package func charsetName(in contentType: String) -> String? {
    guard let name = parameter("charset", of: contentType) else { return nil }
    let quote: Character = "'"
    return name.count > 2 && name.first == quote && name.last == quote ? String(name.dropFirst().dropLast()) : name
}

/// Returns the first parameter with this name in a field value such as a Content-Type, without its quotes. Returns
/// `nil` if there is none or its quoted value is empty.
///
/// Quoted pairs are decoded (RFC 9110, 5.6.4), and a quoted value ends at its closing quote. A parameter without a
/// value is ignored.
package func parameter(_ wanted: String, of field: String) -> String? {
    var remaining = Substring(field).utf8.drop { $0 != UInt8(ascii: ";") }
    while !remaining.isEmpty {
        remaining = remaining.dropFirst()
        let name = remaining.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        remaining = remaining.dropFirst(name.count)
        guard remaining.first == UInt8(ascii: "=") else { continue }
        remaining = remaining.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let isQuoted = remaining.first == UInt8(ascii: "\"")
        let value =
            isQuoted
            ? takeQuoted(&remaining) : String(Substring(remaining.prefix { $0 != UInt8(ascii: ";") })).trimmingBlanks
        remaining = remaining.drop { $0 != UInt8(ascii: ";") }
        if isQuoted || !value.isEmpty, String(Substring(name)).trimmingBlanks.isEqualIgnoringASCIICase(to: wanted) {
            return value.isEmpty ? nil : value
        }
    }
    return nil
}

/// Consumes a quoted string and returns its decoded content. Without a closing quote, the string extends to the end.
private func takeQuoted(_ remaining: inout Substring.UTF8View) -> String {
    var value: [UInt8] = []
    remaining = remaining.dropFirst()
    while let byte = remaining.popFirst(), byte != UInt8(ascii: "\"") {
        value.append(byte == UInt8(ascii: "\\") ? remaining.popFirst() ?? byte : byte)
    }
    return String(decoding: value, as: UTF8.self)
}

/// Reads the charset that an XML or HTML document declares at its beginning. Pure.
private enum MarkupCharset {
    /// Returns the encoding of an XML declaration (XML 1.0, 2.8), or `nil` without one.
    static func ofXML(_ bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var scan = MarkupScan(Array(bytes[5..<end]))
        while let attribute = scan.nextAttribute() {
            if attribute.name == "encoding" {
                return attribute.value.isEmpty ? nil : attribute.value
            }
        }
        return nil
    }

    /// Returns the charset of an HTML document's meta element (WHATWG HTML, 13.2.3.2), or `nil` without one.
    static func ofHTML(_ bytes: [UInt8]) -> String? {
        var scan = MarkupScan(bytes)
        while scan.skipToTag() {
            if scan.take("<!--") {
                // In "<!-->", the two hyphens belong both to the start and to the end of the comment.
                scan.back(2)
                scan.skip(behind: "-->")
            } else if scan.takeName("<meta") {
                if let charset = charset(ofMeta: &scan) {
                    return charset
                }
            } else if scan.take("<!") || scan.take("<?") {
                scan.skip(behind: ">")
            } else if scan.takeTagName() {
                while scan.nextAttribute() != nil {}
            }
        }
        return nil
    }

    private static func charset(ofMeta scan: inout MarkupScan) -> String? {
        var found: String?
        var isPragma = false
        var needsPragma = false
        var names: Set<String> = []
        while let (name, value) = scan.nextAttribute() {
            guard names.insert(name).inserted else { continue }
            switch name {
            case "http-equiv": isPragma = value.lowercased() == "content-type"
            case "charset":
                found = value.trimmingBlanks
                needsPragma = false
            case "content" where found == nil:
                found = charset(ofContent: value)
                needsPragma = true
            default: break
            }
        }
        // A tag whose end is not within these bytes is ignored.
        guard let found, !found.isEmpty, isPragma || !needsPragma, scan.isAtTagEnd else { return nil }
        // A document that declares UTF-16 but could be read as ASCII up to here is UTF-8 (WHATWG HTML, 13.2.3.2, step
        // 15).
        return switch standardCharset(found) {
        case "UTF-16LE", "UTF-16BE": "utf-8"
        case "x-user-defined": "windows-1252"
        default: found
        }
    }

    /// Returns the charset after "charset=" in the value of a `content` attribute (WHATWG HTML, 4.2.5.3, "extracting a
    /// character encoding from a meta element").
    private static func charset(ofContent content: String) -> String? {
        var remaining = Array(content.utf8)[...]
        let word = Array("charset".utf8)
        while remaining.count > word.count {
            guard remaining.prefix(word.count).elementsEqual(word, by: { ($0 | 0x20) == $1 }) else {
                remaining = remaining.dropFirst()
                continue
            }
            remaining = remaining.dropFirst(word.count).drop(while: MarkupScan.isWhiteSpace)
            guard remaining.first == UInt8(ascii: "=") else { continue }
            remaining = remaining.dropFirst().drop(while: MarkupScan.isWhiteSpace)
            if let quote = remaining.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                let name = remaining.dropFirst().prefix { $0 != quote }
                return name.count + 1 < remaining.count ? String(decoding: name, as: UTF8.self) : nil
            }
            let name = remaining.prefix { !MarkupScan.isWhiteSpace($0) && $0 != UInt8(ascii: ";") }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }
}

/// Scans the bytes of a document for tags and their attributes.
struct MarkupScan {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    var isAtTagEnd: Bool { byte == UInt8(ascii: ">") }

    /// Moves to the next "<". Returns false if there is none.
    mutating func skipToTag() -> Bool {
        while let byte, byte != UInt8(ascii: "<") {
            position += 1
        }
        return position < bytes.count
    }

    private func has(_ text: String) -> Bool {
        bytes.count - position >= text.utf8.count
            && zip(bytes[position...], text.utf8).allSatisfy { $0 == $1 || (Self.isLetter($1) && ($0 | 0x20) == $1) }
    }

    /// Consumes `text`, which is in lower case, if it comes next in any letter case. Otherwise returns false and does
    /// not move.
    mutating func take(_ text: String) -> Bool {
        guard has(text) else { return false }
        position += text.utf8.count
        return true
    }

    /// Consumes `text` if it comes next and white space or a slash follows it.
    mutating func takeName(_ text: String) -> Bool {
        let next = position + text.utf8.count
        guard has(text), next < bytes.count, Self.isWhiteSpace(bytes[next]) || bytes[next] == UInt8(ascii: "/") else {
            return false
        }
        position = next
        return true
    }

    /// Consumes "<" or "</" and the tag name. Returns false if there is no name; then it consumes the whole end tag, or
    /// only the "<".
    mutating func takeTagName() -> Bool {
        position += 1
        let isEnd = byte == UInt8(ascii: "/")
        if isEnd {
            position += 1
        }
        guard let first = byte, Self.isLetter(first) else {
            if isEnd {
                skip(behind: ">")
            }
            return false
        }
        while let byte, !Self.isWhiteSpace(byte), byte != UInt8(ascii: ">") {
            position += 1
        }
        return true
    }

    mutating func back(_ count: Int) {
        position -= count
    }

    /// Moves to the byte after the next occurrence of `text`, or to the end if there is none.
    mutating func skip(behind text: String) {
        while position < bytes.count, !has(text) {
            position += 1
        }
        position = min(position + text.utf8.count, bytes.count)
    }

    /// Returns the next attribute with its name in lower case (WHATWG HTML, 13.2.3.2, get an attribute), or `nil` at
    /// the tag's end.
    mutating func nextAttribute() -> (name: String, value: String)? {
        while let byte, Self.isWhiteSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") {
            position += 1
        }
        guard let first = byte, first != UInt8(ascii: ">") else { return nil }
        let start = position
        position += 1
        while let byte, !Self.isWhiteSpace(byte), !"=/>".utf8.contains(byte) {
            position += 1
        }
        let name = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
        skipWhiteSpace()
        guard byte == UInt8(ascii: "=") else { return (name, "") }
        position += 1
        skipWhiteSpace()
        return (name, takeValue())
    }

    private mutating func skipWhiteSpace() {
        while let byte, Self.isWhiteSpace(byte) {
            position += 1
        }
    }

    private mutating func takeValue() -> String {
        let quote = byte.flatMap { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") ? $0 : nil }
        if quote != nil {
            position += 1
        }
        let start = position
        while let byte, quote != nil ? byte != quote : !Self.isWhiteSpace(byte) && byte != UInt8(ascii: ">") {
            position += 1
        }
        let value = String(decoding: bytes[start..<position], as: UTF8.self)
        if quote != nil {
            position = min(position + 1, bytes.count)
        }
        return value
    }
}

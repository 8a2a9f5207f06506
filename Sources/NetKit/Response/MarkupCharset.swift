/// Reads the charset that a document declares at its beginning. Pure.
enum MarkupCharset {
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
                // Its two hyphens may also be those of its end.
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
        // A truncated tag is ignored.
        guard let found, !found.isEmpty, isPragma || !needsPragma, scan.isAtTagEnd else { return nil }
        // A document that is readable up to here is not UTF-16 (WHATWG HTML, 13.2.3.2, 15).
        return switch standardCharset(found) {
        case "UTF-16LE", "UTF-16BE": "utf-8"
        case "x-user-defined": "windows-1252"
        default: found
        }
    }

    /// Returns the text after "charset=" (WHATWG HTML, 4.2.5.3, extracting a character encoding).
    private static func charset(ofContent content: String) -> String? {
        var rest = Array(content.utf8)[...]
        let word = Array("charset".utf8)
        while rest.count > word.count {
            guard rest.prefix(word.count).elementsEqual(word, by: { ($0 | 0x20) == $1 }) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(word.count).drop(while: MarkupScan.isBlank)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop(while: MarkupScan.isBlank)
            if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                let name = rest.dropFirst().prefix { $0 != quote }
                return name.count + 1 < rest.count ? String(decoding: name, as: UTF8.self) : nil
            }
            let name = rest.prefix { !MarkupScan.isBlank($0) && $0 != UInt8(ascii: ";") }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }
}

/// A position in markup.
struct MarkupScan {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func isBlank(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

    var isAtTagEnd: Bool { byte == UInt8(ascii: ">") }

    /// Moves to the next "<". Returns false if there is none.
    mutating func skipToTag() -> Bool {
        while let byte, byte != UInt8(ascii: "<") {
            at += 1
        }
        return at < bytes.count
    }

    private func has(_ text: String) -> Bool {
        bytes.count - at >= text.utf8.count
            && zip(bytes[at...], text.utf8).allSatisfy { $0 == $1 || (Self.isLetter($1) && ($0 | 0x20) == $1) }
    }

    /// Consumes this lower-case text in any letter case. Otherwise returns false and does not move.
    mutating func take(_ text: String) -> Bool {
        guard has(text) else { return false }
        at += text.utf8.count
        return true
    }

    /// Consumes this text if a blank or a slash follows it.
    mutating func takeName(_ text: String) -> Bool {
        let next = at + text.utf8.count
        guard has(text), next < bytes.count, Self.isBlank(bytes[next]) || bytes[next] == UInt8(ascii: "/") else {
            return false
        }
        at = next
        return true
    }

    /// Consumes "<" or "</" and a name. Without a name, consumes the rest of the tag, or only the "<".
    mutating func takeTagName() -> Bool {
        at += 1
        let isEnd = byte == UInt8(ascii: "/")
        if isEnd {
            at += 1
        }
        guard let first = byte, Self.isLetter(first) else {
            if isEnd {
                skip(behind: ">")
            }
            return false
        }
        while let byte, !Self.isBlank(byte), byte != UInt8(ascii: ">") {
            at += 1
        }
        return true
    }

    mutating func back(_ count: Int) {
        at -= count
    }

    /// Moves behind this text, or to the end.
    mutating func skip(behind text: String) {
        while at < bytes.count, !has(text) {
            at += 1
        }
        at = min(at + text.utf8.count, bytes.count)
    }

    /// Returns the next attribute with its name in lower case (WHATWG HTML, 13.2.3.2, get an attribute), or `nil` at
    /// the tag's end.
    mutating func nextAttribute() -> (name: String, value: String)? {
        while let byte, Self.isBlank(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") {
            at += 1
        }
        guard let first = byte, first != UInt8(ascii: ">") else { return nil }
        let start = at
        at += 1
        while let byte, !Self.isBlank(byte), !"=/>".utf8.contains(byte) {
            at += 1
        }
        let name = String(decoding: bytes[start..<at], as: UTF8.self).lowercased()
        skipBlanks()
        guard byte == UInt8(ascii: "=") else { return (name, "") }
        at += 1
        skipBlanks()
        return (name, takeValue())
    }

    private mutating func skipBlanks() {
        while let byte, Self.isBlank(byte) {
            at += 1
        }
    }

    private mutating func takeValue() -> String {
        let quote = byte.flatMap { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") ? $0 : nil }
        if quote != nil {
            at += 1
        }
        let start = at
        while let byte, quote != nil ? byte != quote : !Self.isBlank(byte) && byte != UInt8(ascii: ">") {
            at += 1
        }
        let value = String(decoding: bytes[start..<at], as: UTF8.self)
        if quote != nil {
            at = min(at + 1, bytes.count)
        }
        return value
    }
}

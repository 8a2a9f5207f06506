/// The charset of a text: by its byte order mark, else by the Content-Type, else by what a
/// document says of itself, else by what the caller takes for usual. Pure.
struct TextCharset: Equatable {
    /// A name that iconv knows, or whatever was said.
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
        name = Self.iconvName(said)
    }

    private init(marked name: String) {
        self.name = name
        hasMark = true
    }

    /// A mark counts most (WHATWG Encoding, 6.1). That of UTF-32 with the little end first is also UTF-16's before a NUL:
    /// the Content-Type tells.
    private static func mark(of first: [UInt8], declared: String?) -> TextCharset? {
        let isUTF16 = declared?.lowercased().hasPrefix("utf-16") ?? false
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

    /// WHATWG's names that iconv lacks, and an order of bytes where neither name nor mark tells one: the little end
    /// first, as WHATWG Encoding, 4.2 has it, and not this machine's.
    private static func iconvName(_ name: String) -> String {
        switch name.lowercased() {
        case "utf-16", "utf16", "unicode", "ucs-2", "iso-10646-ucs-2": "utf-16le"
        case "utf-32", "utf32": "utf-32le"
        case "unicode-1-1-utf-8", "unicode11utf8", "x-unicode20utf8": "utf-8"
        case "x-sjis": "shift_jis"
        case "x-euc-jp": "euc-jp"
        case "x-gbk", "gb_2312-80", "csiso58gb231280": "gbk"
        case "x-x-big5": "big5"
        case "ks_c_5601-1987", "ks_c_5601-1989", "ksc_5601", "windows-949": "cp949"
        case "x-cp1250", "x-cp1251", "x-cp1252", "x-cp1253", "x-cp1254", "x-cp1255", "x-cp1256", "x-cp1257", "x-cp1258":
            "windows-" + name.suffix(4)
        case "iso-8859-8-i", "csiso88598i": "iso-8859-8"
        case "x-mac-cyrillic", "x-mac-ukrainian": "mac-cyrillic"
        default: name
        }
    }
}

/// The charset parameter of a Content-Type (RFC 9110, 8.3.2): the first one, in quotes or not.
package func charsetName(in contentType: String) -> String? { parameter("charset", of: contentType) }

/// The first parameter of this name behind a value such as a Content-Type's, in quotes or not; nil when it is empty.
package func parameter(_ wanted: String, of field: String) -> String? {
    var rest = Substring(field).utf8
    var isFirst = true
    while !rest.isEmpty {
        var isQuoted = false
        var isEscaped = false
        let part = rest.prefix { byte in
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isQuoted
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return byte != UInt8(ascii: ";") || isQuoted || isEscaped
        }
        rest = rest.dropFirst(part.count + 1)
        let pair = Substring(part).split(separator: "=", maxSplits: 1).map(String.init)
        if !isFirst, pair.count == 2, pair[0].trimmingBlanks.isEqualIgnoringASCIICase(to: wanted) {
            let name = pair[1].trimmingBlanks.filter { $0 != "\"" }
            return name.isEmpty ? nil : name
        }
        isFirst = false
    }
    return nil
}

/// Bytes that are usually text: the value of a header field or a cookie. HTTP does not define their encoding.
/// ``text`` is a view for display. Two values are equal only if their bytes are equal.
struct ByteText: Sendable {
    /// The bytes as UTF-8, with U+FFFD for each invalid sequence.
    let text: String
    // The original bytes if they are not UTF-8. Nearly always `nil`: then `text` has the same bytes.
    private let raw: [UInt8]?

    init(_ text: String) {
        self.init(text: text, raw: nil)
    }

    private init(text: String, raw: [UInt8]?) {
        self.text = text
        self.raw = raw
    }

    init(bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self.init(text)
        } else {
            self.init(text: String(decoding: bytes, as: UTF8.self), raw: Array(bytes))
        }
    }

    /// Creates the value from a text whose scalars are the bytes; see ``byteScalars``.
    init(byteScalars: some StringProtocol) {
        if byteScalars.utf8.allSatisfy({ $0 < 0x80 }) {
            self.init(String(byteScalars))
        } else {
            self.init(bytes: byteScalars.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        }
    }

    var isUTF8: Bool { raw == nil }

    var bytes: [UInt8] { raw ?? Array(text.utf8) }

    var byteCount: Int { raw?.count ?? text.utf8.count }

    /// A string with one scalar, U+0000 to U+00FF, for each byte. Field parsers use this form because it loses nothing:
    /// two such strings are equal only if the bytes are equal.
    var byteScalars: String {
        if raw == nil, text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// The bytes decoded as UTF-8 or, if they are not UTF-8, as ISO-8859-1, which older servers send. Decoding never
    /// adds U+FFFD.
    var readableText: String { raw == nil ? text : byteScalars }

    /// The bytes as a URL reference. Spaces and bytes outside ASCII are percent-encoded, as the C core does with a
    /// `Location` field.
    var urlReference: String {
        if text.utf8.allSatisfy({ $0 != 0x20 && $0 < 0x80 }) {
            return text
        }
        let hex = Array("0123456789ABCDEF".utf8)
        var reference: [UInt8] = []
        for byte in bytes {
            reference += byte == 0x20 || byte >= 0x80 ? [0x25, hex[Int(byte >> 4)], hex[Int(byte & 15)]] : [byte]
        }
        return String(decoding: reference, as: UTF8.self)
    }
}

extension ByteText: Hashable {
    // `==` of String is not used, because it ignores differences between precomposed and decomposed accents.
    static func == (left: ByteText, right: ByteText) -> Bool {
        switch (left.raw, right.raw) {
        case (nil, nil): left.text.utf8.elementsEqual(right.text.utf8)
        case (let left?, let right?): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        for byte in bytes {
            hasher.combine(byte)
        }
        hasher.combine(byteCount)
    }
}

extension String {
    /// Returns the text before and after the first of these marks, or `nil` if the text contains none of them.
    /// Marks are searched among Unicode scalars, not Characters. A "=" that is followed by a combining mark is one
    /// Character that does not equal "=", but a server sees the "=".
    package func cut(atFirst marks: Unicode.Scalar...) -> (before: String, mark: Unicode.Scalar, after: String)? {
        let scalars = unicodeScalars
        guard let position = scalars.firstIndex(where: marks.contains) else { return nil }
        return (String(scalars[..<position]), scalars[position], String(scalars[scalars.index(after: position)...]))
    }

    /// Returns the text without the mark that it begins with, or `nil` if it does not begin with the mark.
    package func behind(_ mark: Unicode.Scalar) -> String? {
        unicodeScalars.first == mark ? String(unicodeScalars.dropFirst()) : nil
    }

    /// The text with A to Z in lower case and everything else unchanged.
    var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The text without surrounding spaces and tabs, the white space that may surround a header field's value.
    var trimmingBlanks: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...end])
    }

    /// The names and values of a URL's query, with "%XX" and "+" decoded. A name without "=" has an empty value.
    package var queryPairs: [(name: String, value: String)] {
        let address = cut(atFirst: "#")?.before ?? self
        guard let query = address.cut(atFirst: "?")?.after else { return [] }
        return query.unicodeScalars.split(separator: "&").map { scalars in
            let pair = String(scalars)
            guard let (name, _, value) = pair.cut(atFirst: "=") else { return (pair.percentDecoded, "") }
            return (name.percentDecoded, value.percentDecoded)
        }
    }

    /// Returns the URL without the pairs of its query that have this name.
    func withoutQueryPairs(named name: String) -> String {
        guard queryPairs.contains(where: { $0.name == name }) else { return self }
        let address = cut(atFirst: "#")?.before ?? self
        let fragment = cut(atFirst: "#").map { "#" + $0.after } ?? ""
        guard let (path, _, query) = address.cut(atFirst: "?") else { return self }
        let kept = query.unicodeScalars.split(separator: "&").map { String($0) }.filter { pair in
            (pair.cut(atFirst: "=")?.before ?? pair).percentDecoded != name
        }
        return path + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) + fragment
    }

    /// The text with "%XX" and "+" decoded. Malformed "%" sequences stay unchanged.
    var percentDecoded: String {
        var bytes: [UInt8] = []
        var remaining = Array(utf8)[...]
        while let byte = remaining.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? 32 : byte)
                continue
            }
            let digits = remaining.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if digits.count == 2 {
                bytes.append(UInt8(digits[0] * 16 + digits[1]))
                remaining = remaining.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text as one segment of a URL's path: every character except the letters, digits and `-._~` is
    /// percent-encoded as UTF-8 (RFC 3986, 3.3).
    ///
    ///     let request = Request<City>("cities/\(name.pathSegment)/streets")    // "a/b ü" becomes a%2Fb%20%C3%BC
    ///
    /// "." and ".." become `%2E` and `%2E%2E`, which NetKit sends unchanged. Some servers treat these as "." and "..";
    /// do not use them as names.
    public var pathSegment: String {
        let hex = Array("0123456789ABCDEF".utf8)
        let isDots = self == "." || self == ".."
        var encoded: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            case UInt8(ascii: ".") where !isDots: encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

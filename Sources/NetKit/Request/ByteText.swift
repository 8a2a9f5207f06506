/// Bytes that are text as a rule: the value of a header field, or of a cookie. HTTP does not say in which encoding.
///
/// ``text`` is a view for display. Two of these are equal only if their bytes are.
struct ByteText: Sendable {
    /// The bytes as UTF-8. Where they are not UTF-8, U+FFFD stands for each part that is not.
    let text: String
    // The bytes that `text` cannot express; nil where they are UTF-8, which is nearly always.
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

    /// The text whose scalars are the bytes, see ``byteScalars``.
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

    /// One scalar, U+0000 to U+00FF, for each byte. Parsers of fields read this: nothing is lost, and two such texts are
    /// equal only if the bytes are.
    var byteScalars: String {
        if raw == nil, text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// UTF-8, or else ISO-8859-1, which is what older servers send: never U+FFFD.
    var readableText: String { raw == nil ? text : byteScalars }

    /// The bytes as a part of a URL: spaces and what is not ASCII are percent-encoded, as the core does with a Location.
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
    // String's own comparison takes different spellings of an accent for the same text.
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

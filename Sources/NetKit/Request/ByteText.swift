/// Bytes that are usually text: the value of a header field or a cookie. HTTP does not define their encoding.
///
/// ``text`` is a view for display. Two values are equal only if their bytes are equal.
struct ByteText: Sendable {
    /// The bytes as UTF-8, with U+FFFD for each invalid sequence.
    let text: String
    // The bytes that `text` cannot express; `nil` if they are UTF-8, as nearly always.
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

    /// One scalar, U+0000 to U+00FF, for each byte. Field parsers read this: nothing is lost, and two such texts are
    /// equal only if the bytes are.
    var byteScalars: String {
        if raw == nil, text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// The text as UTF-8, otherwise as ISO-8859-1, which older servers send; never contains U+FFFD.
    var readableText: String { raw == nil ? text : byteScalars }

    /// The bytes as part of a URL. Spaces and bytes outside ASCII are percent-encoded, as the core does with a
    /// Location.
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
    // String's own comparison treats different spellings of an accent as equal.
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

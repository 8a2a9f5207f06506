internal import CNetCore

/// The WHATWG Encoding Standard's name for a label, as in "windows-1252" for "latin1"; `nil` for others.
func standardCharset(_ label: String) -> String? {
    unsafe label.withSlice { label in
        guard let name = unsafe nc_charset_name(label) else { return nil }
        return unsafe String(cString: name)
    }
}

extension Decoding where Value == String {
    /// Text in the charset that its byte order mark tells, else the Content-Type, else the document itself (HTML's meta
    /// element, XML's declaration, within 1024 bytes), else in UTF-8. The mark is no part of the text; a byte that does
    /// not fit, and a charset that nobody knows, are ``NetError/Code/badCharset``.
    public static var text: Decoding { text(otherwise: "utf-8") }

    /// Text as ``text`` reads it, in this charset where nothing tells another.
    ///
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv knows, such as
    ///   "iso-8859-1"; letter case is ignored.
    public static func text(otherwise charset: String) -> Decoding {
        Decoding({ response in
            let found = TextCharset(
                of: response.bytes, contentType: response.headers["Content-Type"], otherwise: charset)
            let text = try response.bytes.decoded(from: found.name)
            return found.hasMark ? String(text.unicodeScalars.dropFirst()) : text
        })
    }

    /// Text in this charset, whatever the Content-Type says.
    ///
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv knows, such as "gb18030",
    ///   "Shift_JIS" or "windows-1252"; letter case is ignored.
    public static func text(charset: String) -> Decoding {
        Decoding({ try $0.bytes.decoded(from: charset) })
    }
}

extension Bytes {
    fileprivate func decoded(from charset: String) throws(NetError) -> String {
        if standardCharset(charset) == "UTF-8", let text = utf8Text {
            return text
        }
        // A conversion to UTF-8 at most triples: GB18030's two bytes become three, Latin-1's one becomes two.
        var buffer = unsafe nc_buf_init(count * 4 + 16)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe withSlice { bytes in
            unsafe charset.withSlice { name in unsafe nc_charset_to_utf8(&buffer, bytes, name, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe nc_buf_slice(&buffer).text
    }

    private var utf8Text: String? {
        withSpan { span in
            guard let valid = try? UTF8Span(validating: span) else { return nil }
            return String(copying: valid)
        }
    }
}

internal import CNetCore

/// Returns the WHATWG Encoding Standard's name for a label, such as "windows-1252" for "latin1", or `nil`.
func standardCharset(_ label: String) -> String? {
    unsafe label.withSlice { label in
        guard let name = unsafe nc_charset_name(label) else { return nil }
        return unsafe String(cString: name)
    }
}

extension Decoding where Value == String {
    /// Decodes text. The charset comes from the first of:
    /// 1. the byte order mark, which is not part of the text
    /// 2. the Content-Type
    /// 3. the document, within 1024 bytes: HTML's meta element or XML's declaration
    /// 4. UTF-8
    ///
    /// Invalid bytes and an unknown charset throw ``NetError/Code/badCharset``.
    public static var text: Decoding { text(otherwise: "utf-8") }

    /// Decodes text as ``text``, with this charset as the default.
    ///
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv knows, such as
    ///   "iso-8859-1"; case-insensitive.
    public static func text(otherwise charset: String) -> Decoding {
        Decoding({ response in
            let found = TextCharset(
                of: response.bytes, contentType: response.headers["Content-Type"], otherwise: charset)
            let text = try response.bytes.decoded(from: found.name)
            return found.hasMark ? String(text.unicodeScalars.dropFirst()) : text
        })
    }

    /// Decodes text in this charset and ignores the Content-Type.
    ///
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv knows, such as
    ///   "gb18030", "Shift_JIS" or "windows-1252"; case-insensitive.
    public static func text(charset: String) -> Decoding {
        Decoding({ try $0.bytes.decoded(from: charset) })
    }
}

extension Bytes {
    fileprivate func decoded(from charset: String) throws(NetError) -> String {
        if standardCharset(charset) == "UTF-8", let text = utf8Text {
            return text
        }
        // A conversion to UTF-8 at most triples the size: GB18030's two bytes become three, Latin-1's one becomes two.
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

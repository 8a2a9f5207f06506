internal import CNetCore

/// Returns the name that the WHATWG Encoding Standard gives to a charset label, such as "windows-1252" for "latin1".
/// Returns `nil` for an unknown label.
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
    /// 3. the meta element of HTML or the declaration of XML, if it is within the first 1024 bytes
    /// 4. UTF-8
    ///
    /// ``NetError/Code/badCharset`` is thrown for invalid bytes and for an unknown charset.
    public static var text: Decoding { text(otherwise: "utf-8") }

    /// Decodes text like ``text``, but with this charset as the default instead of UTF-8.
    ///
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv supports, such as
    ///   "iso-8859-1". Case-insensitive.
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
    /// - Parameter charset: a label of the WHATWG Encoding Standard, or another name that iconv supports, such as
    ///   "gb18030", "Shift_JIS" or "windows-1252". Case-insensitive.
    public static func text(charset: String) -> Decoding {
        Decoding({ try $0.bytes.decoded(from: charset) })
    }
}

extension Bytes {
    fileprivate func decoded(from charset: String) throws(NetError) -> String {
        if standardCharset(charset) == "UTF-8", let text = utf8Text {
            return text
        }
        // The limit is generous: a conversion to UTF-8 at most triples the size.
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

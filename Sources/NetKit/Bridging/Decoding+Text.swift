internal import CNetCore

extension Decoding where Value == String {
    /// Text in the charset that the Content-Type names, else in UTF-8; a byte that does not fit is an error.
    public static var text: Decoding {
        Decoding({ response in
            let charset = response.headers["Content-Type"].flatMap(Self.charset) ?? "utf-8"
            return try response.bytes.decoded(from: charset)
        })
    }

    /// Text in this charset, whatever the Content-Type says.
    ///
    /// - Parameter charset: an IANA name, letter case ignored, such as "gb18030", "Shift_JIS" or "windows-1252".
    public static func text(charset: String) -> Decoding {
        Decoding({ try $0.bytes.decoded(from: charset) })
    }

    /// The charset parameter of a Content-Type (RFC 9110, 8.3.2).
    private static func charset(in contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { part in
                part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            }
            if pair.count == 2, String(pair[0]).isEqualIgnoringASCIICase(to: "charset") {
                let name = pair[1].filter { $0 != "\"" }
                return name.isEmpty ? nil : String(name)
            }
        }
        return nil
    }
}

extension Bytes {
    fileprivate func decoded(from charset: String) throws(NetError) -> String {
        if charset.isEqualIgnoringASCIICase(to: "utf-8"), let text = utf8Text {
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

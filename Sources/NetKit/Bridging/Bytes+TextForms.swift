internal import CNetCore

extension Bytes {
    /// Two lower-case hex digits for each byte.
    public var hexText: String {
        unsafe textForm(of: count * 2) { text, bytes in unsafe nc_hex_encode(&text, bytes) }
    }

    /// Returns the bytes in Base64, on one line.
    public func base64Text(_ alphabet: Base64Alphabet = .standard) -> String {
        unsafe textForm(of: (count + 2) / 3 * 4) { text, bytes in unsafe nc_base64_encode(&text, bytes, alphabet.cValue)
        }
    }

    /// Decodes hex digits in either case.
    ///
    /// - Throws: ``NetError/Code/badCoding`` with the offset of an invalid digit, and for an odd number of digits.
    public init(hexText: String) throws(NetError) {
        self = try unsafe Self.spelled(by: hexText) { bytes, text, error in unsafe nc_hex_decode(&bytes, text, &error) }
    }

    /// Decodes Base64. White space, the other alphabet, wrong padding and non-zero bits after the last byte are
    /// refused: only one text represents given bytes.
    ///
    /// - Throws: ``NetError/Code/badCoding`` with the offset of the invalid character.
    public init(base64Text: String, _ alphabet: Base64Alphabet = .standard) throws(NetError) {
        self = try unsafe Self.spelled(by: base64Text) { bytes, text, error in
            unsafe nc_base64_decode(&bytes, text, alphabet.cValue, &error)
        }
    }

    private func textForm(of length: Int, _ write: (inout nc_buf, nc_slice) -> Void) -> String {
        var buffer = unsafe nc_buf_init(length)
        defer { unsafe nc_buf_deinit(&buffer) }
        unsafe withSlice { unsafe write(&buffer, $0) }
        return unsafe nc_buf_slice(&buffer).text
    }

    private static func spelled(
        by text: String, _ read: (inout nc_buf, nc_slice, inout nc_error) -> nc_status
    ) throws(NetError) -> Bytes {
        var buffer = unsafe nc_buf_init(text.utf8.count)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe text.withSlice { unsafe read(&buffer, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe Bytes(copying: buffer)
    }
}

extension Bytes {
    /// Creates a copy of a buffer of the core.
    init(copying buffer: nc_buf) {
        let slice = unsafe nc_slice(data: UnsafePointer(buffer.data), length: buffer.length)
        self = unsafe slice.withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe Bytes(Array($0)) } }
    }
}

extension Base64Alphabet {
    fileprivate var cValue: nc_base64_kind {
        switch self {
        case .standard: .NC_BASE64
        case .url: .NC_BASE64URL
        case .paddedURL: .NC_BASE64URL_PADDED
        }
    }
}

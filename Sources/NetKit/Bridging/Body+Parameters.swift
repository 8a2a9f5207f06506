internal import CNetCore

extension Body {
    /// Returns parameters as JSON: an object or an array, with every digit of its numbers.
    ///
    /// - Throws: ``NetError/Code/badParameter`` with the path ("a.b[2]") of a value that JSON cannot express: sets,
    ///   bytes, non-finite numbers, text that is not Unicode. Also for a root that is neither object nor array.
    public static func json(_ parameters: Parameters, style: JSONStyle = JSONStyle()) throws(NetError) -> Body {
        switch parameters {
        case .object, .array, .set: break
        default: throw NetError(.badParameter, "the root of JSON parameters is an object or an array")
        }
        return Body(try parameters.jsonText(style: style), contentType: "application/json")
    }

    /// Returns parameters as JSON; `nil` gives no body and no type, as in AFNetworking.
    public static func json(_ parameters: Parameters?, style: JSONStyle = JSONStyle()) throws(NetError) -> Body? {
        guard let parameters else { return nil }
        let body: Body = try json(parameters, style: style)
        return body
    }

    /// Returns text in a charset, which is added to the type.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - charset: an IANA name, case-insensitive, such as "gb18030", "Shift_JIS" or "windows-1252".
    ///   - type: the media type.
    /// - Throws: ``NetError/Code/badCharset`` for an unknown charset, and with the position of a character that it
    ///   lacks.
    public static func text(_ text: String, charset: String, type: String = "text/plain") throws(NetError) -> Body {
        // No charset needs more than eight bytes for one of UTF-8, apart from shifts and a byte order mark.
        var buffer = unsafe nc_buf_init(text.utf8.count * 8 + 64)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe text.withSlice { text in
            unsafe charset.withSlice { unsafe nc_charset_from_utf8(&buffer, text, $0, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return Body(unsafe Bytes(copying: buffer), contentType: "\(type); charset=\(charset)")
    }
}

extension Parameters {
    /// Returns the value as JSON, even if it is no container.
    func jsonText(style: JSONStyle) throws(NetError) -> Bytes {
        var options = nc_json_style(
            is_sorted: style.isSorted, is_pretty: style.isPretty, keeps_slashes: style.keepsSlashes)
        switch self {
        case .object, .array, .set: break
        default:
            // The core's tree has it as the only element of an array.
            options.is_pretty = false
            let array = try written(&options)
            return Bytes(Array(array.dropFirst().dropLast()))
        }
        return try written(&options)
    }

    private func written(_ options: inout nc_json_style) throws(NetError) -> Bytes {
        try unsafe written { text, tree, error in unsafe nc_json_write(&text, tree, &options, &error) }
    }

    fileprivate func written(
        _ write: (inout nc_buf, UnsafePointer<nc_params>, inout nc_error) -> nc_status
    ) throws(NetError) -> Bytes {
        var buffer = unsafe nc_buf_init(Int(Int32.max))
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe withTree(maxBytes: Int(Int32.max)) { unsafe write(&buffer, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe Bytes(copying: buffer)
    }
}

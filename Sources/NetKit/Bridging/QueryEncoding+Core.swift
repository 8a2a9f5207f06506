internal import CNetCore

extension QueryEncoding {
    /// The limit of the encoded text. A tree has at most NC_PARAMS_DEFAULT_MAX_BYTES, and encoding may triple the size,
    /// so the limit is never reached.
    private static let maxBytes = 256 << 20

    func encodedText(_ parameters: Parameters) throws(NetError) -> String {
        var text = ""
        unsafe try withEncoded(parameters) { text = unsafe $0.text }
        return text
    }

    func encodedBytes(_ parameters: Parameters) throws(NetError) -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe try withEncoded(parameters) { query in
            unsafe query.withSpan { span in unsafe span.withUnsafeBufferPointer { unsafe bytes = Array($0) } }
        }
        return bytes
    }

    private func withEncoded(_ parameters: Parameters, _ body: (nc_slice) -> Void) throws(NetError) {
        try parameters.checkEncodable()
        var query = unsafe nc_buf_init(Self.maxBytes)
        defer { unsafe nc_buf_deinit(&query) }
        var error = nc_error()
        var options = unsafe coreOptions
        let status: nc_status = unsafe parameters.withTree { tree in
            // The encoded text is usually smaller than the nodes of the tree, so this one allocation usually suffices.
            // If it does not, the buffer grows.
            let reserved: nc_status = unsafe nc_buf_reserve(&query, tree.pointee.nodes.length)
            return reserved == .NC_OK ? unsafe nc_query_append(&query, tree, &options, &error) : reserved
        }
        if status != .NC_OK {
            throw NetError(status, error)
        }
        unsafe body(nc_buf_slice(&query))
    }

    /// The C value of the encoding's options.
    var coreOptions: nc_query_options {
        let names = nc_flatten_options(
            arrays: arrays.coreValue, nested: nested == .dots ? .NC_NESTED_DOTS : .NC_NESTED_BRACKETS,
            order: order == .asGiven ? .NC_ORDER_AS_GIVEN : .NC_ORDER_SORTED)
        return unsafe nc_query_options(
            names: names, booleans: booleans == .words ? .NC_BOOLEANS_WORDS : .NC_BOOLEANS_NUMBERS,
            spaces: spaces == .plus ? .NC_SPACES_PLUS : .NC_SPACES_PERCENT, encode: nil, ctx: nil)
    }

    /// Returns text percent-encoded for a name or a value of a query. Spaces are written as `spaces` selects.
    public func escape(_ text: String) -> String {
        text.escaped(spaces == .plus ? .NC_PERCENT_QUERY_PLUS : .NC_PERCENT_QUERY)
    }
}

extension QueryEncoding.ArrayStyle {
    fileprivate var coreValue: nc_array_style {
        switch self {
        case .brackets: .NC_ARRAYS_BRACKETS
        case .indexed: .NC_ARRAYS_INDEXED
        case .repeated: .NC_ARRAYS_REPEAT
        case .commaSeparated: .NC_ARRAYS_COMMA
        }
    }
}

extension String {
    /// Returns the text percent-encoded. It is written directly into the memory of the new string.
    fileprivate func escaped(_ style: nc_percent_style) -> String {
        unsafe withSlice { text in
            // NC_PERCENT_ROOM defines the required capacity.
            unsafe String(unsafeUninitializedCapacity: 3 * text.length + 32) { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                return unsafe nc_percent_escape(start, text, style)
            }
        }
    }
}

/// Returns the URL with a query added. If the query is empty, only a trailing `?` of the URL is removed.
func attachQuery(_ query: String, to url: String) throws(NetError) -> String {
    var joined = unsafe nc_buf_init(url.utf8.count + query.utf8.count + 1)
    defer { unsafe nc_buf_deinit(&joined) }
    var error = nc_error()
    let status = unsafe url.withSlice { url in
        unsafe query.withSlice { query in unsafe nc_query_attach(&joined, url, query, &error) }
    }
    if status != .NC_OK {
        throw NetError(error)
    }
    return unsafe nc_buf_slice(&joined).text
}

extension NetError {
    /// Creates the error of the core. If the core set no message for this status, the general text of the status is
    /// used.
    fileprivate init(_ status: nc_status, _ error: nc_error) {
        if error.status == status {
            self.init(error)
        } else {
            self.init(Code(status), unsafe String(cString: nc_status_text(status)))
        }
    }
}

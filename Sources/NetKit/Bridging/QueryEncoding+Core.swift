internal import CNetCore

extension QueryEncoding {
    /// Larger than the text of a tree of NC_PARAMS_DEFAULT_MAX_BYTES, which may triple in size.
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

    private func withEncoded(_ parameters: Parameters, _ take: (nc_slice) -> Void) throws(NetError) {
        var query = unsafe nc_buf_init(Self.maxBytes)
        defer { unsafe nc_buf_deinit(&query) }
        var error = nc_error()
        var options = unsafe coreOptions
        let status: nc_status = unsafe parameters.withTree { tree in
            // The nodes need more memory than plain text, so one allocation usually suffices; too little is no error.
            let reserved: nc_status = unsafe nc_buf_reserve(&query, tree.pointee.nodes.length)
            return reserved == .NC_OK ? unsafe nc_query_append(&query, tree, &options, &error) : reserved
        }
        if status != .NC_OK {
            throw NetError(status, error)
        }
        unsafe take(nc_buf_slice(&query))
    }

    /// The core's options.
    var coreOptions: nc_query_options {
        let names = nc_flatten_options(
            arrays: arrays.coreValue, nested: nested == .dots ? .NC_NESTED_DOTS : .NC_NESTED_BRACKETS,
            order: order == .asGiven ? .NC_ORDER_AS_GIVEN : .NC_ORDER_SORTED)
        return unsafe nc_query_options(
            names: names, booleans: booleans == .words ? .NC_BOOLEANS_WORDS : .NC_BOOLEANS_NUMBERS,
            spaces: spaces == .plus ? .NC_SPACES_PLUS : .NC_SPACES_PERCENT, encode: nil, ctx: nil)
    }

    /// Returns text percent-encoded as a name or value of a query, with this encoding's spaces.
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
    /// Returns the text percent-encoded, written directly to the new string's memory.
    fileprivate func escaped(_ style: nc_percent_style) -> String {
        unsafe withSlice { text in
            // The room that NC_PERCENT_ROOM requires.
            unsafe String(unsafeUninitializedCapacity: 3 * text.length + 32) { place in
                guard let start = place.baseAddress else { return 0 }
                return unsafe nc_percent_escape(start, text, style)
            }
        }
    }
}

/// Adds a query to a URL. With an empty one, only a trailing `?` is removed.
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
    /// Creates the core's error, or one with the status only if there is no message.
    fileprivate init(_ status: nc_status, _ error: nc_error) {
        if error.status == status {
            self.init(error)
        } else {
            self.init(Code(status), unsafe String(cString: nc_status_text(status)))
        }
    }
}

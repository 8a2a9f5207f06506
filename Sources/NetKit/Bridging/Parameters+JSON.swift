internal import CNetCore

extension Parameters {
    /// Parses a JSON text strictly (RFC 8259) into an object or an array with its values.
    ///
    /// Numbers keep their digits, as ``number(_:)``; names keep their `\u0000`; objects keep their order and repeated
    /// names.
    /// - Throws: ``NetError/Code/badJSON`` with the invalid byte as its ``NetError/offset``; half a surrogate pair is
    ///   invalid.
    public init(json text: String) throws(NetError) {
        self = unsafe try text.withTextSlice { text throws(NetError) in unsafe try Self(treeOf: text) }
    }

    /// Parses a JSON text in UTF-8, as the initializer for a String.
    public init(json text: Bytes) throws(NetError) {
        self = try text.withSpan { span throws(NetError) in
            try unsafe span.withUnsafeBufferPointer { bytes throws(NetError) in
                try unsafe Self(treeOf: nc_slice(data: bytes.baseAddress, length: bytes.count))
            }
        }
    }

    private init(treeOf text: nc_slice) throws(NetError) {
        var tree = unsafe nc_params_init(.NC_PARAMS_OBJECT, 0)
        defer { unsafe nc_params_deinit(&tree) }
        var error = nc_error()
        if unsafe nc_params_parse_json(&tree, text, &error) != .NC_OK {
            throw NetError(error)
        }
        unsafe self.init(nc_params_root(&tree))
    }

    private init(_ item: nc_params_item) {
        switch unsafe item.kind {
        case .NC_PARAMS_BOOLEAN: unsafe self = .boolean(item.boolean)
        case .NC_PARAMS_NUMBER: unsafe self = .number(item.content.text)
        case .NC_PARAMS_STRING: unsafe self = .string(item.content.text)
        case .NC_PARAMS_OBJECT:
            var fields: [Field] = []
            unsafe Self.forEachChild(of: item) { child in
                unsafe fields.append(Field(name: child.name.text, value: Parameters(child)))
            }
            self = .object(fields)
        case .NC_PARAMS_ARRAY:
            var values: [Parameters] = []
            unsafe Self.forEachChild(of: item) { child in unsafe values.append(Parameters(child)) }
            self = .array(values)
        default: self = .null  // JSON has no other kinds.
        }
    }

    private static func forEachChild(of container: nc_params_item, _ take: (nc_params_item) -> Void) {
        var container = unsafe container
        var cursor = unsafe nc_params_children(&container)
        var child = unsafe nc_params_item()
        while unsafe nc_params_next(&cursor, &child) {
            unsafe take(child)
        }
    }
}

extension String {
    /// Calls `make` with the text as a slice, which is valid during the call.
    fileprivate func withTextSlice<Result>(_ make: (nc_slice) throws(NetError) -> Result) throws(NetError) -> Result {
        let made: Swift.Result<Result, NetError> = unsafe withSlice { slice in
            do throws(NetError) {
                return .success(unsafe try make(slice))
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }
}

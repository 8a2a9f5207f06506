internal import CNetCore

extension Parameters {
    /// Calls `body` with the values as a tree of the C core, which is valid during the call.
    ///
    /// Adding a field to the tree is one call without an intermediate allocation. A root that is not a container
    /// becomes the only element of an array.
    ///
    /// - Parameter maxBytes: the limit of the tree's memory. 0 means the default limit of the core.
    func withTree<Result>(maxBytes: Int = 0, _ body: (UnsafePointer<nc_params>) -> Result) -> Result {
        var tree = unsafe nc_params_init(rootKind, maxBytes)
        defer { unsafe nc_params_deinit(&tree) }
        unsafe fill(&tree)
        return unsafe body(&tree)
    }

    private var rootKind: nc_params_kind {
        switch self {
        case .object: .NC_PARAMS_OBJECT
        case .set: .NC_PARAMS_SET
        default: .NC_PARAMS_ARRAY
        }
    }

    /// Adds the members or elements of this value to the open container of the tree.
    private func fill(_ tree: inout nc_params) {
        let nameless = unsafe nc_slice()
        switch self {
        case .object(let fields): unsafe Self.add(fields, to: &tree)
        case .array(let values): values.forEach { unsafe $0.add(to: &tree, name: nameless) }
        case .set(let values): values.forEach { unsafe $0.add(to: &tree, name: nameless) }
        default: unsafe add(to: &tree, name: nameless)
        }
    }

    private static func add(_ fields: [Field], to tree: inout nc_params) {
        for field in fields {
            unsafe field.name.withSlice { unsafe field.value.add(to: &tree, name: $0) }
        }
    }

    private func add(to tree: inout nc_params, name: nc_slice) {
        switch self {
        case .null: unsafe nc_params_add_null(&tree, name)
        case .boolean(let value): unsafe nc_params_add_boolean(&tree, name, value)
        case .integer(let value): unsafe nc_params_add_integer(&tree, name, value)
        case .double(let value): unsafe nc_params_add_double(&tree, name, value)
        case .number(let digits): unsafe digits.withSlice { unsafe nc_params_add_number(&tree, name, $0) }
        case .string(let text): unsafe text.withSlice { unsafe nc_params_add_string(&tree, name, $0) }
        case .date(let date):
            unsafe (date.internetText ?? "").withSlice { unsafe nc_params_add_string(&tree, name, $0) }
        // checkEncodable() has thrown before.
        case .unencodable: unsafe nc_params_add_null(&tree, name)
        case .bytes(let bytes): unsafe bytes.withSlice { unsafe nc_params_add_bytes(&tree, name, $0) }
        case .object, .array, .set:
            unsafe nc_params_begin(&tree, name, rootKind)
            // If the tree's limit of depth or memory is exceeded, further calls have no effect.
            if unsafe tree.nodes.status == .NC_OK {
                unsafe fill(&tree)
                unsafe nc_params_end(&tree)
            }
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes as a slice, which is valid during the call.
    func withSlice<Result>(_ body: (nc_slice) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBufferPointer { unsafe try body(nc_slice(data: $0.baseAddress, length: $0.count)) }
    }
}

extension Parameters {
    /// Creates parameters from a JSON text in UTF-8, which must be strictly valid (RFC 8259) and an object or an array.
    ///
    /// Numbers become ``number(_:)`` and keep all digits. Objects keep the order of their members and repeated names.
    /// Names may contain `\u0000`.
    /// - Throws: ``NetError/Code/badJSON`` with the position of the invalid byte in ``NetError/offset``. A lone
    ///   surrogate is invalid.
    public init(json text: some BytesConvertible) throws(NetError) {
        self = try text._bytes.withSpan { span throws(NetError) in
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
        default: self = .null  // The only other kind in JSON is null.
        }
    }

    private static func forEachChild(of container: nc_params_item, _ body: (nc_params_item) -> Void) {
        var container = unsafe container
        var cursor = unsafe nc_params_children(&container)
        var child = unsafe nc_params_item()
        while unsafe nc_params_next(&cursor, &child) {
            unsafe body(child)
        }
    }
}

extension String {
    /// Calls `make` with the text as a slice, which is valid during the call.
    fileprivate func withTextSlice<Result>(_ make: (nc_slice) throws(NetError) -> Result) throws(NetError) -> Result {
        let result: Swift.Result<Result, NetError> = unsafe withSlice { slice in
            do throws(NetError) {
                return .success(unsafe try make(slice))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

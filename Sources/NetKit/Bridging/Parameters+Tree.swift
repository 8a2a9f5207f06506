internal import CNetCore

extension Parameters {
    /// Calls `body` with the values as a tree of the C core, which is valid during the call.
    ///
    /// Each field is one call without an allocation: text is copied from Swift's memory to the tree's. A value that is
    /// no container becomes the only element of an array.
    ///
    /// - Parameter maxBytes: the limit of the tree's memory; 0 is the core's own limit.
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

    /// Adds the root's own values.
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
        case .bytes(let bytes): unsafe bytes.withSlice { unsafe nc_params_add_bytes(&tree, name, $0) }
        case .object, .array, .set:
            unsafe nc_params_begin(&tree, name, rootKind)
            // Beyond the tree's limit of depth, further calls would have no effect.
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

internal import CNetCore

extension JSONValue {
    /// The largest depth of a tree. Walking and freeing a tree recurse to its depth, so it must be bounded.
    private static let maxDepth = 512

    /// Creates a value from a JSON text; see ``init(parsing:rules:)``.
    package init(_ bytes: Bytes, rules: JSONRules = JSONRules()) throws(NetError) {
        let builder = TreeBuilder()
        var failure = nc_json_failure()
        var error = nc_error()
        var options = rules.cValue
        options.max_depth = min(options.max_depth, UInt32(Self.maxDepth))
        let status = unsafe bytes.withSlice { text in
            unsafe nc_json_read(
                text, &options, addToken, Unmanaged.passUnretained(builder).toOpaque(), &failure, &error)
        }
        guard status == .NC_OK, let value = builder.value else {
            throw NetError(error, jsonFaults: JSONFault(failure).map { [$0] } ?? [])
        }
        self = value
    }

    /// Creates a value from a JSON text in UTF-8. The text must be strictly valid.
    ///
    /// - Throws: ``NetError/Code/badJSON`` with the position in ``NetError/jsonFaults``.
    public init(parsing text: some BytesConvertible, rules: JSONRules = JSONRules()) throws(NetError) {
        try self.init(text._bytes, rules: rules)
    }
}

/// Builds a tree of values from tokens. The open containers are in an array, so that the depth does not use the
/// thread's stack.
private final class TreeBuilder {
    private enum Container {
        case array([JSONValue])
        case object([JSONValue.Member], name: String)
    }

    private var stack: [Container] = []
    private(set) var value: JSONValue?

    func add(_ token: nc_json_token) {
        switch unsafe token.kind {
        case .NC_JSON_OBJECT: stack.append(.object([], name: ""))
        case .NC_JSON_ARRAY: stack.append(.array([]))
        case .NC_JSON_NAME: setName(unsafe Self.text(of: token))
        case .NC_JSON_STRING: add(.string(unsafe Self.text(of: token)))
        case .NC_JSON_NUMBER: add(.number(JSONNumber(checked: unsafe token.text.text)))
        case .NC_JSON_TRUE: add(.boolean(true))
        case .NC_JSON_FALSE: add(.boolean(false))
        case .NC_JSON_NULL: add(.null)
        default: close()
        }
    }

    private func add(_ value: JSONValue) {
        // The container is removed from the stack while it grows, so that its array has one reference and is not
        // copied.
        switch stack.popLast() {
        case nil: self.value = value
        case .array(var elements):
            elements.append(value)
            stack.append(.array(elements))
        case .object(var members, let name):
            members.append(.init(name: name, value: value))
            stack.append(.object(members, name: ""))
        }
    }

    private func setName(_ name: String) {
        if case .object(let members, _) = stack.popLast() {
            stack.append(.object(members, name: name))
        }
    }

    private func close() {
        switch stack.popLast() {
        case nil: break
        case .array(let elements): add(.array(elements))
        case .object(let members, _): add(.object(members))
        }
    }

    private static func text(of token: nc_json_token) -> String {
        guard unsafe token.has_escapes else { return unsafe token.text.text }
        var buffer = unsafe nc_buf_init(token.text.length + 16)
        defer { unsafe nc_buf_deinit(&buffer) }
        unsafe nc_json_unescape(&buffer, token.text)
        return unsafe nc_buf_slice(&buffer).text
    }
}

private func addToken(_ context: UnsafeMutableRawPointer?, _ token: UnsafePointer<nc_json_token>) -> Bool {
    guard let context = unsafe context else { return false }
    unsafe Unmanaged<TreeBuilder>.fromOpaque(context).takeUnretainedValue().add(token.pointee)
    return true
}

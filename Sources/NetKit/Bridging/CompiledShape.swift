internal import CNetCore

func makeShapeSlot() -> any ShapeSlot { CompiledShape() }

/// The compiled form of a JSON shape, in the C core's memory. It is compiled on first use and shared by all copies of
/// the shape.
@safe private final class CompiledShape: ShapeSlot {
    private enum State: Sendable {
        case notCompiled
        case compiled
        case failed(NetError)
    }

    private let state: Lock<State>
    // SAFETY: include/netcore/shape.h: a shape is immutable and its reference count is thread-safe. This variable is
    // written once, under the lock of `state`, and deinit releases the reference.
    private nonisolated(unsafe) var raw: OpaquePointer?

    init() {
        state = Lock(.notCompiled)
        unsafe raw = nil
    }

    /// Compiles a shape document. The offset of an error refers to this document.
    init(document: Bytes) throws(NetError) {
        unsafe raw = try Self.parse(document)
        state = Lock(.compiled)
    }

    deinit {
        unsafe nc_shape_release(raw)
    }

    /// Calls `body` with the compiled shape, which is valid during the call.
    func with<Result>(of shape: JSONShape, _ body: (OpaquePointer) -> Result) throws(NetError) -> Result {
        let error = state.withLock { state -> NetError? in
            if case .notCompiled = state {
                state = compile(shape)
            }
            if case .failed(let error) = state {
                return error
            }
            return nil
        }
        guard error == nil, let raw = unsafe raw else {
            throw error ?? NetError(.internal, "a compiled shape is missing")
        }
        return unsafe body(raw)
    }

    private func compile(_ shape: JSONShape) -> State {
        if let fault = shape.fault {
            return .failed(NetError(.badShape, fault))
        }
        do throws(NetError) {
            unsafe raw = try Self.parse(shape.tree.bytes)
            return .compiled
        } catch {
            return .failed(error)
        }
    }

    private static func parse(_ document: Bytes) throws(NetError) -> OpaquePointer? {
        var shape: OpaquePointer?
        var error = nc_error()
        let status = unsafe document.withSlice { unsafe nc_shape_parse(&shape, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe shape
    }
}

extension JSONShape {
    /// Creates a shape from a shape document in UTF-8, and compiles it. docs/json.md describes the language of such
    /// documents.
    ///
    /// - Throws: ``NetError/Code/badShape`` with the position of an error in the document.
    public init(document: some BytesConvertible) throws(NetError) {
        let bytes = document._bytes
        let compiled = try CompiledShape(document: bytes)
        self.init(try JSONValue(bytes), slot: compiled)
    }

    /// Compiles the shape. Throws ``NetError/Code/badShape`` if it is invalid.
    public func check() throws(NetError) {
        try unsafe withCompiled { _ in }
    }

    /// Checks a whole JSON text and returns the mismatches. The list is empty if the text matches the shape.
    ///
    /// - Parameters:
    ///   - text: the text, in UTF-8.
    ///   - isLenient: see ``JSONExpectation/isLenient``.
    ///   - maxMismatches: the largest number of mismatches to find, at most 1000.
    ///   - rules: the accepted JSON syntax.
    /// - Throws: ``NetError/Code/badJSON`` for invalid JSON, and ``NetError/Code/badShape`` for an invalid shape.
    public func check(
        _ text: some BytesConvertible, isLenient: Bool = false, maxMismatches: Int = 1, rules: JSONRules = JSONRules()
    ) throws(NetError) -> [JSONFault] {
        var expectation = JSONExpectation(self)
        expectation.isLenient = isLenient
        expectation.maxMismatches = maxMismatches
        expectation.rules = rules
        do throws(NetError) {
            try expectation.check(text._bytes)
            return []
        } catch  where error.code == .shapeMismatch {
            return error.jsonFaults
        }
    }

    func withCompiled<Result>(_ body: (OpaquePointer) -> Result) throws(NetError) -> Result {
        guard let slot = slot as? CompiledShape else {
            throw NetError(.internal, "the shape has no storage for its compiled form")
        }
        return try unsafe slot.with(of: self, body)
    }
}

/// A JSON expectation of the C core, which is released when this value goes out of scope.
@safe struct OwnedExpectation: ~Copyable {
    // SAFETY: include/netcore/expectation.h: an expectation is immutable, and deinit releases this one reference.
    let raw: OpaquePointer?

    /// Creates the expectation of a request. ``raw`` is `nil` if the request has none.
    init(_ request: Request<Bytes>) throws(NetError) {
        if let expectation = request.expectation {
            unsafe raw = try unsafe Self.create(expectation, for: request)
        } else {
            unsafe raw = nil
        }
    }

    deinit {
        unsafe nc_expectation_release(raw)
    }

    private static func create(
        _ expectation: JSONExpectation, for request: Request<Bytes>
    ) throws(NetError) -> OpaquePointer {
        var created: OpaquePointer?
        var error = nc_error()
        var options = unsafe nc_expectation_options()
        unsafe options.matching = expectation.matching
        unsafe options.json = expectation.rules.cValue
        unsafe options.allows_empty = expectation.allowsEmptyBody
        let statuses = request.acceptedStatuses.checkedRange
        unsafe options.min_status = UInt16(clamping: max(100, statuses.lowerBound))
        unsafe options.max_status = UInt16(clamping: min(999, max(100, statuses.upperBound - 1)))
        // The empty type stands for a response without Content-Type, whose type is detected from its bytes.
        let types = (request.acceptedTypes ?? MediaTypes.json) + [""]
        let status: nc_status
        if let schema = expectation.schema {
            guard expectation.shape == nil else {
                throw NetError(.usage, "an expectation has both a shape and a schema")
            }
            status = try unsafe schema.withCompiled { compiled in
                unsafe options.schema = compiled
                return unsafe make(&created, &options, types, &error)
            }
        } else if let shape = expectation.shape {
            status = try unsafe shape.withCompiled { compiled in
                unsafe options.shape = compiled
                return unsafe make(&created, &options, types, &error)
            }
        } else {
            status = unsafe make(&created, &options, types, &error)
        }
        guard status == .NC_OK, let created = unsafe created else {
            throw NetError(error)
        }
        return unsafe created
    }

    private static func make(
        _ created: inout OpaquePointer?, _ options: inout nc_expectation_options, _ types: [String],
        _ error: inout nc_error
    ) -> nc_status {
        unsafe StringArena.with(bytes: types.reduce(0) { $0 + $1.utf8.count }) { text in
            unsafe withUnsafeTemporaryAllocation(of: nc_slice.self, capacity: types.count) { slices in
                for (index, type) in types.enumerated() {
                    unsafe slices[index] = text.put(type)
                }
                unsafe options.types = UnsafePointer(slices.baseAddress)
                unsafe options.type_count = types.count
                return unsafe nc_expectation_new(&created, &options, &error)
            }
        }
    }
}

extension PooledResponse {
    /// The JSON faults that were found in the body; empty if the body was not checked.
    var jsonFaults: [JSONFault] {
        unsafe withRaw { raw in
            if let fault = unsafe JSONFault(nc_response_schema_failure(raw)) {
                return [fault]
            }
            let count = unsafe nc_response_mismatch_count(raw)
            var faults = (0..<count).map { index in
                unsafe JSONFault(nc_response_mismatch_at(raw, index))
            }
            if let fault = unsafe JSONFault(nc_response_json_failure(raw)) {
                faults.append(fault)
            }
            return faults
        }
    }
}

func makeSchemaStorage(
    _ text: String, uri: String?, documents: [String: String], assertsFormats: Bool
) throws(NetError) -> any SchemaStorage {
    try CompiledSchema(text, uri: uri, documents: documents, assertsFormats: assertsFormats)
}

/// A compiled JSON Schema, in the C core's memory.
@safe final class CompiledSchema: SchemaStorage {
    // SAFETY: include/netcore/schema.h: a schema is immutable and its reference count is thread-safe. This variable is
    // written once, and deinit releases the reference.
    private nonisolated(unsafe) let raw: OpaquePointer

    init(
        _ text: String, uri: String?, documents others: [String: String], assertsFormats: Bool
    ) throws(NetError) {
        var created: OpaquePointer?
        var error = nc_error()
        let size =
            text.utf8.count + (uri?.utf8.count ?? 0)
            + others.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let status = unsafe StringArena.with(bytes: size) { arena in
            var documents = unsafe [nc_schema_document]()
            for (uri, document) in others {
                unsafe documents.append(nc_schema_document(uri: arena.put(uri), text: arena.put(document)))
            }
            return unsafe documents.withUnsafeBufferPointer { documents in
                var choices = unsafe nc_schema_options()
                unsafe choices.uri = arena.put(uri ?? "")
                unsafe choices.documents = documents.baseAddress
                unsafe choices.document_count = documents.count
                unsafe choices.asserts_formats = assertsFormats
                return unsafe nc_schema_compile(&created, arena.put(text), &choices, &error)
            }
        }
        guard status == .NC_OK, let created = unsafe created else {
            throw NetError(error)
        }
        unsafe raw = created
    }

    deinit {
        unsafe nc_schema_release(raw)
    }

    /// Calls `body` with the compiled schema, which is valid during the call.
    func with<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(raw)
    }
}

extension JSONSchema {
    func withCompiled<Result>(_ body: (OpaquePointer) -> Result) throws(NetError) -> Result {
        guard let storage = storage as? CompiledSchema else {
            throw NetError(.internal, "the schema has no compiled form")
        }
        return unsafe storage.with(body)
    }

    /// Checks a whole JSON text. Returns the reason why it does not match the schema, or `nil` if it matches.
    ///
    /// - Throws: ``NetError/Code/badJSON`` for invalid JSON, and ``NetError/Code/tooLarge`` if the check exceeds a limit.
    public func check(_ text: some BytesConvertible, rules: JSONRules = JSONRules()) throws(NetError) -> JSONFault? {
        var expectation = JSONExpectation(schema: self)
        expectation.rules = rules
        do throws(NetError) {
            try expectation.check(text._bytes)
            return nil
        } catch  where error.code == .shapeMismatch {
            return error.jsonFaults.first
        }
    }
}

extension JSONFault {
    /// Creates the fault that a schema found, or returns `nil` if it found none.
    init?(_ failure: nc_schema_failure) {
        guard unsafe failure.line > 0 else { return nil }
        unsafe self.init(
            pointer: failure.instance.text, wanted: failure.wanted.text, found: failure.found.text,
            offset: Int(failure.offset), line: Int(failure.line), column: Int(failure.column))
        unsafe keyword = failure.keyword.text
    }
}

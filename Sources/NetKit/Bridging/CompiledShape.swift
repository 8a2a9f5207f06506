internal import CNetCore

func makeShapeSlot() -> any ShapeSlot { CompiledShape() }

/// A JSON shape in the C core's memory: compiled on first use and shared by all copies of the value.
@safe final class CompiledShape: ShapeSlot {
    private enum State: Sendable {
        case untried
        case compiled
        case failed(NetError)
    }

    private let state: Lock<State>
    // SAFETY: include/netcore/shape.h: a shape is immutable and its reference count is thread-safe. It is written once,
    // under the lock of the state that records it, and deinit releases this reference.
    private nonisolated(unsafe) var raw: OpaquePointer?

    init() {
        state = Lock(.untried)
        unsafe raw = nil
    }

    /// Compiles a document; offsets of its error refer to this text.
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
            if case .untried = state {
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
        var made: OpaquePointer?
        var error = nc_error()
        let status = unsafe document.withSlice { unsafe nc_shape_parse(&made, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe made
    }
}

extension JSONShape {
    /// Creates a shape from a shape document, compiled now.
    ///
    /// - Throws: ``NetError/Code/badShape`` with the position of an error in the document; its language is in
    ///   docs/json.md.
    public init(document text: String) throws(NetError) {
        try self.init(document: Bytes(Array(text.utf8)))
    }

    /// Creates a shape from a shape document in UTF-8, compiled now.
    public init(document bytes: Bytes) throws(NetError) {
        let compiled = try CompiledShape(document: bytes)
        self.init(try JSONValue(bytes), slot: compiled)
    }

    /// Throws ``NetError/Code/badShape`` if no document can express it.
    public func check() throws(NetError) {
        try unsafe withCompiled { _ in }
    }

    /// Checks a whole text. Returns an empty list if it matches the shape.
    ///
    /// - Parameters:
    ///   - bytes: the text, in UTF-8.
    ///   - isLenient: see ``JSONExpectation/isLenient``.
    ///   - maxMismatches: the largest number of mismatches to find, at most 1000.
    ///   - rules: the accepted JSON syntax.
    /// - Throws: ``NetError/Code/badJSON`` for invalid JSON, and ``NetError/Code/badShape``.
    public func check(
        _ bytes: Bytes, isLenient: Bool = false, maxMismatches: Int = 1, rules: JSONRules = JSONRules()
    ) throws(NetError) -> [JSONFault] {
        var expectation = JSONExpectation(self)
        expectation.isLenient = isLenient
        expectation.maxMismatches = maxMismatches
        expectation.rules = rules
        do throws(NetError) {
            try expectation.check(bytes)
            return []
        } catch  where error.code == .shapeMismatch {
            return error.jsonFaults
        }
    }

    /// Checks a whole text, as ``check(_:isLenient:maxMismatches:rules:)``.
    public func check(
        _ text: String, isLenient: Bool = false, maxMismatches: Int = 1, rules: JSONRules = JSONRules()
    ) throws(NetError) -> [JSONFault] {
        try check(Bytes(Array(text.utf8)), isLenient: isLenient, maxMismatches: maxMismatches, rules: rules)
    }

    func withCompiled<Result>(_ body: (OpaquePointer) -> Result) throws(NetError) -> Result {
        guard let slot = slot as? CompiledShape else {
            throw NetError(.internal, "a shape was made without a place for its compiled form")
        }
        return try unsafe slot.with(of: self, body)
    }
}

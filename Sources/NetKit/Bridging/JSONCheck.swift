internal import CNetCore

/// Checks a JSON text while it arrives piece by piece. The memory that the check needs depends only on the depth of the
/// text.
///
///     let check = try JSONCheck(JSONExpectation(["id": .integer]))
///     for piece in pieces { try check.feed(piece) }
///     try check.finish()
///
/// The result and the messages do not depend on how the text is divided into pieces. Thread-safe, but pieces must be
/// fed in order.
@safe package final class JSONCheck: Sendable {
    private let allowsEmptyBody: Bool
    // Whether only white space has arrived.
    private let isBlank: Lock<Bool>
    // SAFETY: include/netcore/json.h: a check is confined to one thread at a time, which the lock ensures. This object
    // is the only owner.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Creates a check.
    ///
    /// - Throws: ``NetError/Code/badShape`` for an invalid shape, and ``NetError/Code/usage`` for limits out of range.
    package init(_ expectation: JSONExpectation = JSONExpectation()) throws(NetError) {
        var created: OpaquePointer?
        var error = nc_error()
        var rules = expectation.rules.cValue
        var matching = expectation.matching
        let status: nc_status
        if let schema = expectation.schema {
            guard expectation.shape == nil else {
                throw NetError(.usage, "an expectation has both a shape and a schema")
            }
            status = unsafe try schema.withCompiled { compiled in
                unsafe nc_json_new_with_schema(&created, compiled, nil, &rules, &error)
            }
        } else if let shape = expectation.shape {
            status = unsafe try shape.withCompiled { compiled in
                unsafe nc_json_new_matching(&created, compiled, &matching, &rules, &error)
            }
        } else {
            status = unsafe nc_json_new(&created, &rules, &error)
        }
        guard status == .NC_OK, let created = unsafe created else {
            throw NetError(error)
        }
        unsafe raw = created
        isBlank = Lock(true)
        allowsEmptyBody = expectation.allowsEmptyBody
    }

    /// Creates the check that a request requires for a response with this head, or returns `nil` if none is required.
    ///
    /// Transports other than the engine use this.
    package convenience init?(for request: Request<Bytes>, status: Int, headers: Headers) throws(NetError) {
        guard let expectation = request.expectation, request.method != .head,
            request.acceptedStatuses.contains(status),
            MediaTypes.accept(headers["Content-Type"], request.acceptedTypes ?? MediaTypes.json)
        else { return nil }
        try self.init(expectation)
    }

    deinit {
        unsafe nc_json_free(raw)
    }

    /// Checks the next piece.
    ///
    /// - Throws: ``NetError/Code/badJSON`` or ``NetError/Code/shapeMismatch``, with ``NetError/jsonFaults``, as soon as
    ///   the text cannot be accepted. Each later call throws the same error.
    package func feed(_ piece: Bytes) throws(NetError) {
        let error = unsafe piece.withSlice { slice in
            isBlank.withLock { isBlank in
                var error = nc_error()
                isBlank = unsafe isBlank && slice.isBlank
                return unsafe nc_json_feed(raw, slice, &error) == .NC_OK ? nil : failure(error)
            }
        }
        if let error {
            throw error
        }
    }

    /// Ends the text.
    ///
    /// - Throws: the same errors as ``feed(_:)``. An incomplete text is an error too.
    package func finish() throws(NetError) {
        let error = isBlank.withLock { isBlank in
            if isBlank && allowsEmptyBody {
                return NetError?.none
            }
            var error = nc_error()
            return unsafe nc_json_finish(raw, &error) == .NC_OK ? nil : failure(error)
        }
        if let error {
            throw error
        }
    }

    /// The faults so far, in the order of the text.
    package var faults: [JSONFault] {
        isBlank.withLock { _ in currentFaults }
    }

    private func failure(_ error: nc_error) -> NetError {
        NetError(error, jsonFaults: currentFaults)
    }

    private var currentFaults: [JSONFault] {
        if let fault = unsafe JSONFault(nc_json_schema_failure(raw)) {
            return [fault]
        }
        let count = unsafe nc_json_mismatch_count(raw)
        var faults = (0..<count).map { index in
            unsafe JSONFault(nc_json_mismatch_at(raw, index))
        }
        if let fault = unsafe JSONFault(nc_json_failure_of(raw).pointee) {
            faults.append(fault)
        }
        return faults
    }
}

extension JSONExpectation {
    /// Checks a whole JSON text.
    func check(_ bytes: Bytes) throws(NetError) {
        let check = try JSONCheck(self)
        try check.feed(bytes)
        try check.finish()
    }

    var matching: nc_shape_options {
        nc_shape_options(max_mismatches: UInt32(clamping: max(1, maxMismatches)), is_lenient: isLenient)
    }
}

extension JSONRules {
    var cValue: nc_json_options {
        func bytes(_ limit: Int?) -> UInt64 { limit.map { UInt64(max(1, $0)) } ?? 0 }
        return nc_json_options(
            max_depth: UInt32(clamping: max(1, maxDepth)), max_names: 0, max_bytes: bytes(maxBytes),
            max_number_bytes: bytes(maxNumberBytes), allows_lone_surrogates: allowsLoneSurrogates,
            refuses_duplicate_names: refusesDuplicateNames)
    }
}

extension JSONFault {
    init(_ mismatch: nc_shape_mismatch) {
        unsafe self.init(
            pointer: mismatch.pointer.text, wanted: mismatch.wanted.text, found: mismatch.found.text,
            offset: Int(mismatch.offset), line: Int(mismatch.line), column: Int(mismatch.column))
    }

    /// Creates the fault that a failure describes, or returns `nil` if it describes none.
    init?(_ failure: nc_json_failure) {
        guard failure.fault != .NC_JSON_FAULT_NONE else { return nil }
        let wanted = unsafe withUnsafeBytes(of: failure.wanted) { unsafe Self.text(in: $0) }
        let found = unsafe withUnsafeBytes(of: failure.found) { unsafe Self.text(in: $0) }
        self.init(
            pointer: nil, wanted: wanted, found: found, offset: Int(failure.offset), line: Int(failure.line),
            column: Int(failure.column))
    }

    /// Returns the text up to the NUL.
    private static func text(in bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension Bytes {
    /// Whether the bytes are empty or only JSON white space.
    var isBlank: Bool {
        unsafe withSlice { unsafe $0.isBlank }
    }

    /// The expectation that the body was checked against while it arrived. `nil` if it was not checked or does not meet
    /// the expectation.
    private var metExpectation: JSONExpectation? {
        if case .received(let received) = storage { received.metExpectation } else { nil }
    }

    /// Returns true if the bytes were checked while they arrived and are known to meet this expectation.
    func isProven(_ expectation: JSONExpectation) -> Bool { metExpectation?.covers(expectation) ?? false }

    /// Throws ``NetError/Code/badJSON`` if the bytes are not valid JSON. Bytes that were checked with the same rules
    /// while they arrived are not checked again.
    func proveJSON(_ rules: JSONRules = JSONRules()) throws(NetError) {
        var expectation = JSONExpectation()
        expectation.rules = rules
        if isProven(expectation) {
            return
        }
        var failure = nc_json_failure()
        var error = nc_error()
        var options = rules.cValue
        let status = unsafe withSlice { unsafe nc_json_check($0, &options, &failure, &error) }
        if status != .NC_OK {
            throw NetError(error, jsonFaults: JSONFault(failure).map { [$0] } ?? [])
        }
    }
}

extension nc_slice {
    fileprivate var isBlank: Bool {
        guard let data = unsafe self.data else { return true }
        return unsafe UnsafeBufferPointer(start: data, count: length).allSatisfy {
            $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09
        }
    }
}

extension Bytes {
    /// Whether the bytes are a valid JSON text (RFC 8259).
    var isJSON: Bool {
        unsafe withSlice { unsafe nc_json_check($0, nil, nil, nil) } == .NC_OK
    }
}

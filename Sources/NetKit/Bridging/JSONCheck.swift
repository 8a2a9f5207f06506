internal import CNetCore

/// Checks JSON while it arrives. It takes pieces and gives one result; its memory depends only on the depth of the
/// text.
///
///     let check = try JSONCheck(JSONExpectation(["id": .integer]))
///     for piece in pieces { try check.feed(piece) }
///     try check.finish()
///
/// Result and messages do not depend on the pieces. Thread-safe, and meant for one thread at a time.
@safe public final class JSONCheck: Sendable {
    private let allowsEmptyBody: Bool
    // Whether only white space has arrived.
    private let isBlank: Lock<Bool>
    // SAFETY: include/netcore/json.h: a check is for one thread at a time, which the lock ensures; this is its owner.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Starts a check.
    ///
    /// - Throws: ``NetError/Code/badShape``, and ``NetError/Code/usage`` for limits out of range.
    public init(_ expectation: JSONExpectation = JSONExpectation()) throws(NetError) {
        var made: OpaquePointer?
        var error = nc_error()
        var rules = expectation.rules.cValue
        var matching = expectation.matching
        let status: nc_status
        if let shape = expectation.shape {
            status = unsafe try shape.withCompiled { compiled in
                unsafe nc_json_new_matching(&made, compiled, &matching, &rules, &error)
            }
        } else {
            status = unsafe nc_json_new(&made, &rules, &error)
        }
        guard status == .NC_OK, let made = unsafe made else {
            throw NetError(error)
        }
        unsafe raw = made
        isBlank = Lock(true)
        allowsEmptyBody = expectation.allowsEmptyBody
    }

    /// Creates the check that a request requires for a response with this head, or `nil` if it requires none.
    ///
    /// For transports other than the engine.
    public convenience init?(for request: Request<Bytes>, status: Int, headers: Headers) throws(NetError) {
        guard let expectation = request.expectation, request.method != .head,
            request.acceptedStatuses?.contains(status) ?? true,
            MediaTypes.accept(headers["Content-Type"], request.acceptedTypes ?? MediaTypes.json)
        else { return nil }
        try self.init(expectation)
    }

    deinit {
        unsafe nc_json_free(raw)
    }

    /// Checks the next piece.
    ///
    /// - Throws: ``NetError/Code/badJSON`` or ``NetError/Code/shapeMismatch`` with ``NetError/jsonFaults`` at the first
    ///   invalid byte, and again for each later call.
    public func feed(_ piece: Bytes) throws(NetError) {
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
    /// Throws the same errors as ``feed(_:)``, also for a text that is incomplete.
    public func finish() throws(NetError) {
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
    public var faults: [JSONFault] {
        isBlank.withLock { _ in faultsHere }
    }

    private func failure(_ error: nc_error) -> NetError {
        NetError(error, jsonFaults: faultsHere)
    }

    private var faultsHere: [JSONFault] {
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
    /// Checks a whole text.
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

    /// `nil` if there is no fault.
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
    /// Whether there is only JSON white space.
    var isBlank: Bool {
        unsafe withSlice { unsafe $0.isBlank }
    }

    /// The result of the body check while the bytes arrived; `nil` without a check, or if it failed.
    private var proof: JSONExpectation? {
        if case .received(let received) = storage { received.proof } else { nil }
    }

    /// Returns true if the bytes passed this check while they arrived, for any request.
    func isProven(_ expectation: JSONExpectation) -> Bool { proof?.covers(expectation) ?? false }

    /// Throws ``NetError/Code/badJSON`` unless the bytes are JSON. Bytes that were checked by the same rules while they
    /// arrived are not checked again.
    func proveJSON(_ rules: JSONRules = JSONRules()) throws(NetError) {
        var wanted = JSONExpectation()
        wanted.rules = rules
        if isProven(wanted) {
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

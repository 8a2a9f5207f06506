internal import CNetCore

/// A JSON expectation in the C core's memory, released at the end of its scope.
@safe struct OwnedExpectation: ~Copyable {
    // SAFETY: include/netcore/expectation.h: an expectation is immutable, and deinit releases this one reference.
    let raw: OpaquePointer?

    /// `nil` for a request without an expectation.
    init(_ request: Request<Bytes>) throws(NetError) {
        if let expectation = request.expectation {
            unsafe raw = try unsafe Self.made(expectation, for: request)
        } else {
            unsafe raw = nil
        }
    }

    deinit {
        unsafe nc_expectation_release(raw)
    }

    private static func made(
        _ expectation: JSONExpectation, for request: Request<Bytes>
    ) throws(NetError) -> OpaquePointer {
        var made: OpaquePointer?
        var error = nc_error()
        var options = unsafe nc_expectation_options()
        unsafe options.matching = expectation.matching
        unsafe options.json = expectation.rules.cValue
        unsafe options.allows_empty = expectation.allowsEmptyBody
        let statuses = request.acceptedStatuses ?? 100..<1000
        unsafe options.min_status = UInt16(clamping: max(100, statuses.lowerBound))
        unsafe options.max_status = UInt16(clamping: min(999, max(100, statuses.upperBound - 1)))
        // The type of a response without Content-Type is detected from its bytes.
        let types = (request.acceptedTypes ?? MediaTypes.json) + [""]
        let status: nc_status
        if let shape = expectation.shape {
            status = try unsafe shape.withCompiled { compiled in
                unsafe options.shape = compiled
                return unsafe make(&made, &options, types, &error)
            }
        } else {
            status = unsafe make(&made, &options, types, &error)
        }
        guard status == .NC_OK, let made = unsafe made else {
            throw NetError(error)
        }
        return unsafe made
    }

    private static func make(
        _ made: inout OpaquePointer?, _ options: inout nc_expectation_options, _ types: [String],
        _ error: inout nc_error
    ) -> nc_status {
        unsafe TextSpace.with(bytes: types.reduce(0) { $0 + $1.utf8.count }) { text in
            unsafe withUnsafeTemporaryAllocation(of: nc_slice.self, capacity: types.count) { slices in
                for (index, type) in types.enumerated() {
                    unsafe slices[index] = text.put(type)
                }
                unsafe options.types = UnsafePointer(slices.baseAddress)
                unsafe options.type_count = types.count
                return unsafe nc_expectation_new(&made, &options, &error)
            }
        }
    }
}

extension PooledResponse {
    /// The faults of the body, if it was checked.
    var jsonFaults: [JSONFault] {
        unsafe withRaw { raw in
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

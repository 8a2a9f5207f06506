internal import CNetCore

extension Headers {
    /// Calls `body` with the fields as values of the C core, which are valid during the call. The fields of a received
    /// or stored response are not copied.
    func withCoreFields<Result>(_ body: (UnsafeMutableBufferPointer<nc_header>) -> Result) -> Result {
        switch received {
        case let response as PooledResponse: return unsafe response.withCoreFields(body)
        case let stored as StoredFields where stored.lastField == nil: return unsafe stored.withCoreFields(body)
        default: return unsafe list.withCoreFields(body)
        }
    }

    /// Copies fields of the C core.
    init(copying fields: some Sequence<nc_header>) {
        self.init(unsafe fields.map { unsafe Field($0) })
    }
}

extension [Headers.Field] {
    /// Calls `body` with copies of the fields as values of the C core, which are valid during the call.
    func withCoreFields<Result>(_ body: (UnsafeMutableBufferPointer<nc_header>) -> Result) -> Result {
        if isEmpty {
            return unsafe body(UnsafeMutableBufferPointer(start: nil, count: 0))
        }
        return unsafe StringArena.with(bytes: textBytes) { text in
            unsafe text.withFields(self) { fields, _ in unsafe body(fields) }
        }
    }
}

extension PooledResponse {
    fileprivate func withCoreFields<Result>(_ body: (UnsafeMutableBufferPointer<nc_header>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: headerCount) { fields in
            for index in fields.indices {
                unsafe fields.initializeElement(at: index, to: headerSlices(at: index))
            }
            return withExtendedLifetime(self) { unsafe body(fields) }
        }
    }
}

extension StoredFields {
    fileprivate func withCoreFields<Result>(_ body: (UnsafeMutableBufferPointer<nc_header>) -> Result) -> Result {
        unsafe metadata.withSlice { metadata in
            func slice(_ range: Range<Int>) -> nc_slice {
                unsafe nc_slice(data: metadata.data?.advanced(by: range.lowerBound), length: range.count)
            }
            return unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: ranges.count) { fields in
                for (index, field) in ranges.enumerated() {
                    let header = unsafe nc_header(name: slice(field.name), value: slice(field.value))
                    unsafe fields.initializeElement(at: index, to: header)
                }
                return unsafe body(fields)
            }
        }
    }
}

/// The Content-Range field of a partial response (RFC 9110, 14.4).
struct ContentRange: Equatable {
    let start: Int
    let end: Int
    /// `nil` if the length of the whole is unknown.
    let total: Int?

    /// Creates the range; `nil` for an invalid field, one of another unit, and one without a range.
    init?(_ field: String?) {
        var range = nc_content_range()
        guard let field, unsafe field.withSlice({ unsafe nc_content_range_parse(&range, $0) }), !range.is_unsatisfied
        else { return nil }
        start = Int(range.first)
        end = Int(range.last)
        total = range.total == .max ? nil : Int(range.total)
    }
}

extension Response {
    /// Whether the body is a part of the resource; see ``Headers/describePart(status:)``.
    var isPart: Bool { headers.describePart(status: status) }
}

extension Headers {
    /// Returns true if a body with these fields is a part of the resource: status 206, or another success whose
    /// Content-Range covers less than the whole. Some servers send a part with status 200.
    func describePart(status: Int) -> Bool {
        // Without a Content-Range, the usual case, the status decides.
        guard status != 206, (200..<300).contains(status), self["Content-Range"] != nil else { return status == 206 }
        let fields = only(["Content-Range", "Content-Encoding", "Content-Length"])
        return unsafe StringArena.with(bytes: fields.textBytes) { text in
            unsafe text.withFields(fields) { fields, _ in
                unsafe nc_content_range_is_part(UInt16(status), fields.baseAddress, fields.count)
            }
        }
    }
}

// Rules of the core for the values of response fields.

extension Challenge {
    /// The scheme and the realm of one challenge.
    struct Offer: Equatable {
        var scheme: String
        var realm: String?
    }

    /// The challenges in WWW-Authenticate or Proxy-Authenticate fields (RFC 9110, 11.6.1), in the server's order of
    /// preference.
    static func offers(in values: [String]) -> [Offer] {
        values.flatMap { value in
            unsafe value.withSlice { slice in
                var offers: [Offer] = []
                var rest = unsafe slice
                var challenge = unsafe nc_challenge()
                while unsafe nc_challenge_next(&rest, &challenge) {
                    offers.append(
                        Offer(scheme: unsafe challenge.scheme.text, realm: unsafe realm(of: challenge, within: slice)))
                }
                return offers
            }
        }
    }

    private static func realm(of challenge: nc_challenge, within field: nc_slice) -> String? {
        var buffer = unsafe nc_buf_init(field.length)
        defer { unsafe nc_buf_deinit(&buffer) }
        var challenge = unsafe challenge
        let hasRealm = unsafe "realm".withSlice { unsafe nc_challenge_parameter(&buffer, &challenge, $0) }
        return hasRealm ? unsafe nc_buf_slice(&buffer).text : nil
    }
}

extension String {
    /// Returns true if this Content-Type has a type that the pattern describes (`netcore/media_type.h`).
    package func hasMediaType(of pattern: String) -> Bool {
        unsafe withSlice { type in
            unsafe pattern.withSlice { unsafe nc_media_type_matches(type, $0) }
        }
    }
}

extension Headers {
    /// The validator for If-Range; `nil` if there is no strong one (RFC 9110, 8.8.2). It is an entity tag or a
    /// Last-Modified date.
    var strongValidator: Field? {
        let tag = first(named: "ETag").flatMap { $0.value.isEmpty ? nil : $0 }
        let changed = first(named: "Last-Modified")
        let isStrong = unsafe (tag?.value ?? "").withSlice { tag in
            unsafe (changed?.value ?? "").withSlice { changed in
                unsafe (self["Date"] ?? "").withSlice { unsafe nc_validators_are_strong(tag, changed, $0) }
            }
        }
        return isStrong ? tag ?? changed : nil
    }
}

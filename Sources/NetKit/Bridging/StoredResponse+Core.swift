internal import CNetCore

// Rules of the core for the fields of stored responses (`netcore/cache_functions.h`).

extension StoredResponse {
    /// The fields that make a revalidation conditional; empty if the response has no validator.
    var conditions: [Headers.Field] { headers.conditions }

    /// Returns true if a 304 response refers to this response (RFC 9111, 4.3.4).
    func isConfirmed(by notModified: Headers) -> Bool {
        unsafe withCoreValue { stored in
            unsafe notModified.withCoreResponse(status: 304) { unsafe nc_cache_confirms(&stored, &$0) }
        }
    }

    /// Returns true if a response to HEAD describes this response (RFC 9111, 4.3.5).
    func isSameVersion(asHead status: Int, _ headers: Headers) -> Bool {
        unsafe withCoreValue { stored in
            unsafe headers.withCoreResponse(status: status) { unsafe nc_cache_is_same_version(&stored, &$0) }
        }
    }

    /// Returns the fields, updated by those of a 304 response or of a response to HEAD (RFC 9111, 3.2).
    func merged(with update: Headers) -> Headers {
        unsafe withCoreValue { stored in
            unsafe update.withCoreResponse(status: 304) { update in
                let room = unsafe stored.header_count + update.header_count
                return unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: room) { merged in
                    guard let start = merged.baseAddress else { return Headers() }
                    return unsafe Headers(copying: merged[..<nc_cache_merge(start, room, &stored, &update)])
                }
            }
        }
    }

    /// Calls `body` with the response without its body.
    func withCoreValue<Result>(_ body: (inout nc_cache_stored) -> Result) -> Result {
        unsafe headers.withCoreFields { fields in
            var value = unsafe nc_cache_stored()
            unsafe value.status = UInt16(clamping: head.status)
            unsafe value.headers = UnsafePointer(fields.baseAddress)
            unsafe value.header_count = fields.count
            unsafe value.freshness = head.freshness.coreValue
            return unsafe body(&value)
        }
    }
}

extension Headers {
    /// Whether there is a validator, so that a stored response can be revalidated.
    var hasValidator: Bool { !conditions.isEmpty }

    /// The fields that make a revalidation conditional.
    fileprivate var conditions: [Field] {
        unsafe withCoreFields { fields in
            var stored = unsafe nc_cache_stored()
            unsafe stored.headers = UnsafePointer(fields.baseAddress)
            unsafe stored.header_count = fields.count
            return unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: maximumConditions) { conditions in
                guard let start = conditions.baseAddress else { return [] }
                return unsafe conditions[..<nc_cache_conditions(start, &stored)].map { unsafe Field($0) }
            }
        }
    }

    /// The fields to store: not those of the connection or a proxy, not Age, and not those that `no-cache="…"` names
    /// (RFC 9111, 3.1).
    var storable: Headers {
        unsafe withCoreFields { fields in unsafe Headers(storableIn: fields.baseAddress, fields.count) }
    }

    init(storableIn fields: UnsafePointer<nc_header>?, _ count: Int) {
        self = unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: count) { stored in
            guard let start = stored.baseAddress, let fields = unsafe fields else { return Headers() }
            return unsafe Headers(copying: stored[..<nc_cache_stored_fields(start, fields, count)])
        }
    }

    /// The fields that a 304 response contains (RFC 9110, 15.4.5).
    var notModified: Headers {
        Headers(filter { unsafe $0.name.withSlice { unsafe nc_cache_keeps_in_304($0) } })
    }

    /// Returns the fields. If they have no Date, the time of arrival is added as Date (RFC 9110, 6.6.1).
    func dated(_ received: Int64) -> Headers {
        guard content("Date") == nil else { return self }
        var dated = self
        dated.append(Field(name: "Date", bytes: Bytes(Self.dateText(received))))
        return dated
    }

    private static func dateText(_ time: Int64) -> [UInt8] {
        let count = Int(NC_CACHE_DATE_BYTES)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: count) { text in
            guard let start = text.baseAddress else { return [] }
            unsafe nc_cache_write_date(start, time)
            return unsafe text.map { UInt8(bitPattern: $0) }
        }
    }

    func withCoreResponse<Result>(status: Int, _ body: (inout nc_cache_response) -> Result) -> Result {
        unsafe withCoreFields { fields in
            var response = unsafe nc_cache_response()
            unsafe response.status = UInt16(clamping: status)
            unsafe response.headers = UnsafePointer(fields.baseAddress)
            unsafe response.header_count = fields.count
            return unsafe body(&response)
        }
    }
}

private let maximumConditions = Int(NC_CACHE_MAX_CONDITIONS)

extension HTTPFreshness {
    init(_ value: nc_cache_freshness) {
        self.init()
        lifetime = value.lifetime_ms < 0 ? nil : value.lifetime_ms
        initialAge = value.initial_age_ms
        received = value.received_at_ms
        staleWhileRevalidate = value.stale_while_revalidate_ms < 0 ? nil : value.stale_while_revalidate_ms
        staleIfError = value.stale_if_error_ms < 0 ? nil : value.stale_if_error_ms
        if value.no_cache {
            flags.insert(.noCache)
        }
        if value.must_revalidate {
            flags.insert(.mustRevalidate)
        }
        if value.immutable {
            flags.insert(.immutable)
        }
        if value.is_heuristic {
            flags.insert(.heuristic)
        }
    }

    fileprivate var coreValue: nc_cache_freshness {
        nc_cache_freshness(
            lifetime_ms: lifetime ?? -1, initial_age_ms: initialAge, received_at_ms: received,
            stale_while_revalidate_ms: staleWhileRevalidate ?? -1, stale_if_error_ms: staleIfError ?? -1,
            no_cache: flags.contains(.noCache), must_revalidate: flags.contains(.mustRevalidate),
            immutable: flags.contains(.immutable), is_heuristic: flags.contains(.heuristic))
    }

    /// Returns the current age, or `nil` if the clock was set back to a time before the arrival.
    func age(at now: Int64) -> Int64? {
        var value = coreValue
        let age = unsafe nc_cache_age_ms(&value, now)
        return age < 0 ? nil : age
    }
}

extension Vary {
    /// Reads the Vary fields of a response. `nil` if the response depends on more than the fields of a request ("*"), or
    /// on too many of them.
    init?(_ headers: Headers) {
        let fields = headers.only(["Vary"])
        guard !fields.isEmpty else {
            self.init(names: [])
            return
        }
        guard let selection = Self.selection(of: [], by: fields) else { return nil }
        self.init(names: selection.map(\.name))
    }

    /// Returns the fields with these names of a request. Their values are normalized, so that equivalent values are
    /// equal. A field that the request does not have is left out.
    func fields(of request: Headers) -> Headers {
        // One field for each name, because a quote in a name must not change how the others are read.
        let selection = Self.selection(of: request.only(names), by: names.map { .init(name: "Vary", value: $0) })
        return Headers(
            (selection ?? []).compactMap { field in field.value.map { .init(name: field.name, content: $0) } })
    }

    private typealias Selected = (name: String, value: ByteText?)

    /// Returns the fields of a request that a response depends on, with normalized values.
    private static func selection(of request: [Headers.Field], by vary: [Headers.Field]) -> [Selected]? {
        var text = unsafe nc_buf_init(Int(UInt32.max))
        defer { unsafe nc_buf_deinit(&text) }
        let status = unsafe request.withCoreFields { fields in
            unsafe vary.withCoreFields { vary in
                var asked = unsafe nc_cache_request()
                unsafe asked.headers = UnsafePointer(fields.baseAddress)
                unsafe asked.header_count = fields.count
                return unsafe nc_cache_select(&text, &asked, vary.baseAddress, vary.count)
            }
        }
        guard status == .NC_OK else { return nil }
        return unsafe split(UnsafeBufferPointer(start: text.data, count: text.length))
    }

    /// Splits the text of the core: each name has its length and ":" before it, and is followed by its value in the same
    /// form, or by "-" if the request does not have the field.
    private static func split(_ text: UnsafeBufferPointer<UInt8>) -> [Selected] {
        var rest = unsafe text[...]
        func next() -> Slice<UnsafeBufferPointer<UInt8>>? {
            if unsafe rest.first == UInt8(ascii: "-") {
                unsafe rest = rest.dropFirst()
                return nil
            }
            let digits = unsafe rest.prefix { $0 != UInt8(ascii: ":") }
            let count = unsafe digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            unsafe rest = rest.dropFirst(digits.count + 1)
            defer { unsafe rest = rest.dropFirst(count) }
            return unsafe rest.prefix(count)
        }
        var selected: [Selected] = []
        while unsafe !rest.isEmpty, let name = unsafe next() {
            let value = unsafe next().map { unsafe ByteText(bytes: $0) }
            selected.append((unsafe String(decoding: name, as: UTF8.self), value))
        }
        return selected
    }
}

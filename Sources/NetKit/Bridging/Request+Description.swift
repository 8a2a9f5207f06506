internal import CNetCore

extension Request where Value == Bytes {
    /// Describes the request to the C core, for the length of the call: text is copied once, to the stack.
    func withDescription(
        trust: borrowing OwnedTrust, _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        let fields = sentFields
        var textBytes = method.rawValue.utf8.count + url.utf8.count
        for field in fields {
            textBytes += field.name.utf8.count + field.value.utf8.count
        }
        for override in addressOverrides {
            textBytes += (override.host?.utf8.count ?? 0) + (override.toHost?.utf8.count ?? 0)
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: textBytes + 1) { text in
            var text = unsafe TextSpace(text)
            var description = unsafe nc_request()
            unsafe description.method = text.put(method.rawValue)
            unsafe description.url = text.put(url)
            unsafe description.accepts_codings = acceptsCodings
            unsafe description.http = protocolChoice == .http1 ? .NC_HTTP_1_1 : .NC_HTTP_AUTO
            unsafe description.redirects = (redirects ?? .follow).cValue
            unsafe description.limits = (limits ?? Limits()).cValue
            unsafe description.has_body = self.body != nil
            unsafe description.trust = trust.raw
            return unsafe withFields(fields, in: &text) { headers, text in
                unsafe description.headers = UnsafePointer(headers.baseAddress)
                unsafe description.header_count = headers.count
                return unsafe withOverrides(in: &text) { overrides in
                    unsafe description.connect_to = UnsafePointer(overrides.baseAddress)
                    unsafe description.connect_to_count = overrides.count
                    return unsafe (self.body?.bytes ?? []).withSlice { bytes in
                        unsafe description.body = bytes
                        return unsafe submit(&description)
                    }
                }
            }
        }
    }

    /// The fields with the body's own Content-Type, where none is named.
    private var sentFields: Headers {
        guard let contentType = self.body?.contentType, headers["Content-Type"] == nil else { return headers }
        var headers = headers
        headers.append(name: "Content-Type", value: contentType)
        return headers
    }

    private func withFields(
        _ fields: Headers, in text: inout TextSpace,
        _ body: (UnsafeMutableBufferPointer<nc_header>, inout TextSpace) -> nc_status
    ) -> nc_status {
        unsafe withUnsafeTemporaryAllocation(of: nc_header.self, capacity: fields.count) { headers in
            for (index, field) in fields.enumerated() {
                unsafe headers[index] = nc_header(name: text.put(field.name), value: text.put(field.value))
            }
            return unsafe body(headers, &text)
        }
    }

    private func withOverrides(
        in text: inout TextSpace, _ body: (UnsafeMutableBufferPointer<nc_connect_to>) -> nc_status
    ) -> nc_status {
        unsafe withUnsafeTemporaryAllocation(of: nc_connect_to.self, capacity: addressOverrides.count) { overrides in
            for (index, override) in addressOverrides.enumerated() {
                unsafe overrides[index] = nc_connect_to(
                    host: text.put(override.host ?? ""), port: override.port ?? 0,
                    to_host: text.put(override.toHost ?? ""), to_port: override.toPort ?? 0)
            }
            return unsafe body(overrides)
        }
    }
}

/// A row of strings, one behind the other, in memory that is large enough by its maker's count.
@unsafe private struct TextSpace {
    private var rest: UnsafeMutableRawBufferPointer

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        unsafe rest = UnsafeMutableRawBufferPointer(buffer)
    }

    mutating func put(_ string: String) -> nc_slice {
        let count = string.utf8.count
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<count])
        unsafe place.copyBytes(from: string.utf8)
        unsafe rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        return unsafe nc_slice(data: place.baseAddress?.assumingMemoryBound(to: UInt8.self), length: count)
    }
}

extension RedirectPolicy {
    fileprivate var cValue: nc_redirect_choice {
        switch self {
        case .follow: .NC_REDIRECTS_FOLLOW
        case .followDowngrades: .NC_REDIRECTS_FOLLOW_DOWNGRADE
        case .return: .NC_REDIRECTS_RETURN
        }
    }
}

extension Limits {
    /// In the core 0 means the default, so the shortest time is one millisecond and the smallest size one byte.
    fileprivate var cValue: nc_limits {
        func milliseconds(_ duration: Duration?) -> UInt32 {
            guard let duration else { return .max }
            // Clamped first: a duration may have more seconds than its components can tell.
            let (seconds, attoseconds) = min(max(duration, .zero), .milliseconds(UInt32.max - 1)).components
            return UInt32(max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        }
        func number(_ value: Int?) -> UInt32 { value.map { UInt32(clamping: max(1, $0)) } ?? .max }
        return nc_limits(
            connect_ms: milliseconds(connect), first_byte_ms: milliseconds(firstByte), idle_ms: milliseconds(idle),
            slot_ms: milliseconds(slot), total_ms: milliseconds(total),
            max_redirects: maxRedirects > 0 ? UInt32(clamping: min(maxRedirects, Int(UInt32.max) - 1)) : .max,
            max_body_bytes: maxBodyBytes.map { UInt64(max(1, $0)) } ?? .max, max_head_bytes: number(maxHeadBytes),
            max_head_fields: number(maxHeadFields), max_codings: number(maxCodings))
    }
}

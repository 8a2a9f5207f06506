internal import CNetCore

extension Request where Value == Bytes {
    /// Calls `submit` with the core's form of the request, which is valid during the call: text is copied once, to the
    /// stack.
    func withDescription(
        trust: OwnedTrust?, feed: BodyFeed?, _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        // Each closure counts its captures: capture these two, and not the whole request.
        let kept = kept
        let rare = kept.value.rare
        let fields = sentFields.list
        let policy = unsafe trust?.raw
        // Set before submission: a later change could come after the slot was taken.
        let moved = ticket?.priority
        let textBytes = kept.textBytes + (rare?.textBytes ?? 0) + fields.textBytes
        return unsafe TextSpace.with(bytes: textBytes) { text in
            var description = unsafe nc_request()
            unsafe kept.describe(&description, in: &text)
            unsafe description.trust = policy
            if let moved {
                unsafe description.priority = moved.cValue
            }
            return unsafe text.withFields(fields) { headers, text in
                unsafe description.headers = UnsafePointer(headers.baseAddress)
                unsafe description.header_count = headers.count
                guard let rare else {
                    return unsafe kept.withBody(in: &text, &description, feed: feed, submit)
                }
                return unsafe rare.withDescription(in: &text, &description) { description, text in
                    unsafe kept.withBody(in: &text, &description, feed: feed, submit)
                }
            }
        }
    }
}

// The content is read through its one reference: a copy would count each of its own references.
extension KeptContent {
    /// The bytes that its texts need.
    fileprivate var textBytes: Int {
        let bytes = value.method.rawValue.utf8.count + value.url.utf8.count
        if case .file(let path) = value.body?.content {
            return bytes + path.utf8.count
        }
        return bytes
    }

    fileprivate func describe(_ description: inout nc_request, in text: inout TextSpace) {
        unsafe description.method = text.put(value.method.rawValue)
        unsafe description.url = text.put(value.url)
        unsafe description.accepts_codings = value.acceptsCodings
        unsafe description.http = value.protocolChoice.cValue
        unsafe description.redirects = (value.redirects ?? .follow).cValue
        unsafe description.limits = value.keptLimits.map { $0.value.cValue } ?? Limits().cValue
        unsafe description.priority = value.priority.cValue
        unsafe description.cookie_use = value.cookieUse.cValue
        unsafe description.keeps_dot_segments = value.keepsDotSegments
        unsafe description.refuses_malformed_fields = value.refusesMalformedFields
        unsafe description.omits_zero_length = value.omitsZeroLength
    }

    fileprivate func withBody(
        in text: inout TextSpace, _ description: inout nc_request, feed: BodyFeed?,
        _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        switch value.body?.content {
        case nil:
            return unsafe submit(&description)
        case .bytes(let bytes):
            unsafe description.has_body = true
            return unsafe bytes.withSlice { bytes in
                unsafe description.body = bytes
                return unsafe submit(&description)
            }
        case .file(let path):
            unsafe description.has_body = true
            unsafe description.body_file = text.put(path)
            return unsafe submit(&description)
        case .multipart:
            return unsafe submit(&description)
        case .source(let source):
            unsafe description.has_body = true
            unsafe description.body_length = source.length.map { UInt64(max(0, $0)) } ?? .max
            if let feed {
                unsafe description.body_source = feed.cValue
            }
            return unsafe submit(&description)
        }
    }
}

extension KeptRareContent {
    /// The bytes that its texts need.
    fileprivate var textBytes: Int {
        var bytes = 0
        for override in value.addressOverrides {
            bytes += (override.host?.utf8.count ?? 0) + (override.toHost?.utf8.count ?? 0)
        }
        bytes += (value.unixSocket?.utf8.count ?? 0) + (value.savePath?.utf8.count ?? 0)
        return bytes + (value.credentials?.textBytes ?? 0) + (value.proxy?.textBytes ?? 0)
    }

    fileprivate func withDescription(
        in text: inout TextSpace, _ description: inout nc_request,
        _ body: (inout nc_request, inout TextSpace) -> nc_status
    ) -> nc_status {
        unsafe description.dscp = value.serviceClass?.rawValue ?? 0
        unsafe description.unix_socket = text.put(value.unixSocket)
        unsafe description.is_elsewhere = value.isElsewhere
        unsafe description.save_path = text.put(value.savePath)
        if let credentials = value.credentials {
            unsafe description.credentials = credentials.cValue(in: &text)
        }
        return unsafe withOverrides(in: &text) { overrides, text in
            unsafe description.connect_to = UnsafePointer(overrides.baseAddress)
            unsafe description.connect_to_count = overrides.count
            return unsafe value.proxy.withDescription(in: &text) { proxy, text in
                unsafe description.proxy = proxy
                return unsafe body(&description, &text)
            }
        }
    }

    private func withOverrides(
        in text: inout TextSpace, _ body: (UnsafeMutableBufferPointer<nc_connect_to>, inout TextSpace) -> nc_status
    ) -> nc_status {
        let listed = value.addressOverrides
        return unsafe withUnsafeTemporaryAllocation(of: nc_connect_to.self, capacity: listed.count) { overrides in
            for (index, override) in listed.enumerated() {
                unsafe overrides[index] = nc_connect_to(
                    host: text.put(override.host), port: override.port ?? 0, to_host: text.put(override.toHost),
                    to_port: override.toPort ?? 0)
            }
            return unsafe body(overrides, &text)
        }
    }
}

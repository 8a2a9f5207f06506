internal import CNetCore

extension Request where Value == Bytes {
    /// Describes the request to the C core, for the length of the call: text is copied once, to the stack.
    func withDescription(
        trust: OwnedTrust?, feed: BodyFeed?, _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        let fields = sentFields
        return unsafe TextSpace.with(bytes: textBytes + fields.textBytes) { text in
            var description = unsafe nc_request()
            unsafe description.method = text.put(method.rawValue)
            unsafe description.url = text.put(url)
            unsafe description.accepts_codings = acceptsCodings
            unsafe description.http = protocolChoice.cValue
            unsafe description.redirects = (redirects ?? .follow).cValue
            unsafe description.limits = (limits ?? Limits()).cValue
            unsafe description.trust = trust?.raw
            // Told afterwards alone, it could come when the slot is taken.
            unsafe description.priority = (ticket?.priority ?? priority).cValue
            unsafe description.cookie_use = cookieUse.cValue
            unsafe description.dscp = serviceClass?.rawValue ?? 0
            unsafe description.keeps_dot_segments = keepsDotSegments
            unsafe description.unix_socket = text.put(unixSocket)
            unsafe description.save_path = text.put(savePath)
            if let credentials {
                unsafe description.credentials = credentials.cValue(in: &text)
            }
            return unsafe text.withFields(fields) { headers, text in
                unsafe description.headers = UnsafePointer(headers.baseAddress)
                unsafe description.header_count = headers.count
                return unsafe withOverrides(in: &text) { overrides, text in
                    unsafe description.connect_to = UnsafePointer(overrides.baseAddress)
                    unsafe description.connect_to_count = overrides.count
                    return unsafe proxy.withDescription(in: &text) { proxy, text in
                        unsafe description.proxy = proxy
                        return unsafe withBody(in: &text, &description, feed: feed, submit)
                    }
                }
            }
        }
    }

    /// The room that all texts but the fields take.
    private var textBytes: Int {
        var bytes = method.rawValue.utf8.count + url.utf8.count
        for override in addressOverrides {
            bytes += (override.host?.utf8.count ?? 0) + (override.toHost?.utf8.count ?? 0)
        }
        bytes += (unixSocket?.utf8.count ?? 0) + (savePath?.utf8.count ?? 0)
        bytes += (credentials?.textBytes ?? 0) + (proxy?.textBytes ?? 0)
        if case .file(let path) = self.body?.content {
            bytes += path.utf8.count
        }
        return bytes
    }

    private func withOverrides(
        in text: inout TextSpace, _ body: (UnsafeMutableBufferPointer<nc_connect_to>, inout TextSpace) -> nc_status
    ) -> nc_status {
        unsafe withUnsafeTemporaryAllocation(of: nc_connect_to.self, capacity: addressOverrides.count) { overrides in
            for (index, override) in addressOverrides.enumerated() {
                unsafe overrides[index] = nc_connect_to(
                    host: text.put(override.host), port: override.port ?? 0, to_host: text.put(override.toHost),
                    to_port: override.toPort ?? 0)
            }
            return unsafe body(overrides, &text)
        }
    }

    private func withBody(
        in text: inout TextSpace, _ description: inout nc_request, feed: BodyFeed?,
        _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        switch self.body?.content {
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

    /// What the core would take for something else than what it says.
    func checkBeforeSubmit() throws(NetError) {
        if method.rawValue.isEmpty {
            throw NetError(.badMethod, "the method is empty", offset: 0)
        }
        if unixSocket == "" || savePath == "" {
            throw NetError(.usage, "a path is empty")
        }
        if case .file("") = self.body?.content {
            throw NetError(.usage, "the path of the body's file is empty")
        }
    }
}

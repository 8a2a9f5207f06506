internal import CNetCore

extension Request where Value == Bytes {
    /// Calls `submit` with the C value of the request, which is valid during the call. All texts are copied once, to
    /// the stack.
    func withDescription(
        trust: OwnedTrust?, feed: BodyFeed?, _ submit: (inout nc_request) -> nc_status
    ) -> nc_status {
        // The closures below capture these two references instead of the whole request, because each captured reference
        // is counted.
        let storage = storage
        let optionalStorage = storage.value.optionalStorage
        let fields = sentFields.list
        let policy = unsafe trust?.raw
        // The changed priority is part of the request. If it were set after the submission, the transfer could have
        // started already.
        let changedPriority = transferHandle?.priority
        let textBytes = storage.textBytes + (optionalStorage?.textBytes ?? 0) + fields.textBytes
        return unsafe StringArena.with(bytes: textBytes) { text in
            var description = unsafe nc_request()
            unsafe storage.describe(&description, in: &text)
            unsafe description.trust = policy
            if let changedPriority {
                unsafe description.priority = changedPriority.cValue
            }
            return unsafe text.withFields(fields) { headers, text in
                unsafe description.headers = UnsafePointer(headers.baseAddress)
                unsafe description.header_count = headers.count
                guard let optionalStorage else {
                    return unsafe storage.withBody(in: &text, &description, feed: feed, submit)
                }
                return unsafe optionalStorage.withDescription(in: &text, &description, feed) { description, text in
                    unsafe storage.withBody(in: &text, &description, feed: feed, submit)
                }
            }
        }
    }
}

// The content is read through its storage, because a copy of the content would count each reference in it.
extension RequestStorage {
    /// The number of bytes that the texts need in a ``StringArena``.
    fileprivate var textBytes: Int {
        let bytes = value.method.rawValue.utf8.count + value.url.utf8.count
        if case .file(let path) = value.body?.content {
            return bytes + path.utf8.count
        }
        return bytes
    }

    fileprivate func describe(_ description: inout nc_request, in text: inout StringArena) {
        unsafe description.method = text.put(value.method.rawValue)
        unsafe description.url = text.put(value.url)
        unsafe description.accepts_codings = value.acceptsCodings
        unsafe description.accepts_transfer_codings = value.acceptsTransferCodings
        unsafe description.http = value.httpVersionPolicy.cValue
        unsafe description.redirects = (value.redirects ?? .follow).cValue
        unsafe description.limits = value.limitsStorage.map { $0.value.cValue } ?? Limits().cValue
        unsafe description.priority = value.priority.cValue
        unsafe description.cookie_use = value.cookiePolicy.cValue
        unsafe description.keeps_dot_segments = value.keepsDotSegments
        unsafe description.refuses_malformed_fields = value.refusesMalformedFields
        unsafe description.omits_zero_length = value.omitsZeroLength
    }

    fileprivate func withBody(
        in text: inout StringArena, _ description: inout nc_request, feed: BodyFeed?,
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
            unsafe description.body_offset = UInt64(value.body?.fileOffset ?? 0)
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

extension OptionalSettingsStorage {
    /// The number of bytes that the texts need in a ``StringArena``.
    fileprivate var textBytes: Int {
        var bytes = 0
        for override in value.addressOverrides {
            bytes += (override.host?.utf8.count ?? 0) + (override.toHost?.utf8.count ?? 0)
        }
        bytes += (value.unixSocket?.utf8.count ?? 0) + (value.savePath?.utf8.count ?? 0)
        bytes += value.trailers?.fields.list.textBytes ?? 0
        return bytes + (value.credentials?.textBytes ?? 0) + (value.proxy?.textBytes ?? 0)
    }

    fileprivate func withDescription(
        in text: inout StringArena, _ description: inout nc_request, _ feed: BodyFeed?,
        _ body: (inout nc_request, inout StringArena) -> nc_status
    ) -> nc_status {
        unsafe description.dscp = value.serviceClass?.codePoint ?? 0
        unsafe description.unix_socket = text.put(value.unixSocket)
        unsafe description.is_cross_origin = value.isCrossOrigin
        unsafe description.save_path = text.put(value.savePath)
        unsafe description.ignores_netrc = value.credentials == Credentials.none
        if let credentials = value.credentials, credentials != .none {
            unsafe description.credentials = credentials.cValue(in: &text)
        }
        return unsafe withOverrides(in: &text) { overrides, text in
            unsafe description.connect_to = UnsafePointer(overrides.baseAddress)
            unsafe description.connect_to_count = overrides.count
            return unsafe value.proxy.withDescription(in: &text) { proxy, text in
                unsafe description.proxy = proxy
                return unsafe withTrailers(in: &text, &description, feed, body)
            }
        }
    }

    private func withTrailers(
        in text: inout StringArena, _ description: inout nc_request, _ feed: BodyFeed?,
        _ body: (inout nc_request, inout StringArena) -> nc_status
    ) -> nc_status {
        guard let trailers = value.trailers else { return unsafe body(&description, &text) }
        return unsafe text.withFields(trailers.fields.list) { fields, text in
            unsafe description.trailers.fields = UnsafePointer(fields.baseAddress)
            unsafe description.trailers.count = fields.count
            unsafe feed?.trailers?.describe(&description.trailers)
            return unsafe body(&description, &text)
        }
    }

    private func withOverrides(
        in text: inout StringArena, _ body: (UnsafeMutableBufferPointer<nc_connect_to>, inout StringArena) -> nc_status
    ) -> nc_status {
        let addressOverrides = value.addressOverrides
        return unsafe withUnsafeTemporaryAllocation(of: nc_connect_to.self, capacity: addressOverrides.count) {
            overrides in
            for (index, override) in addressOverrides.enumerated() {
                unsafe overrides[index] = nc_connect_to(
                    host: text.put(override.host), port: override.port ?? 0, to_host: text.put(override.toHost),
                    to_port: override.toPort ?? 0)
            }
            return unsafe body(overrides, &text)
        }
    }
}

extension Credentials {
    /// The number of bytes that the texts need in a ``StringArena``.
    var textBytes: Int { user.utf8.count + password.utf8.count + token.utf8.count }

    /// Returns the C value of the credentials. It is valid as long as the arena.
    func cValue(in text: inout StringArena) -> nc_credentials {
        unsafe nc_credentials(
            schemes: schemes.rawValue, user: text.put(user), password: text.put(password), token: text.put(token))
    }
}

extension Proxy {
    private var url: String? {
        if case .url(let url) = choice { url } else { nil }
    }

    /// The number of bytes that the texts need in a ``StringArena``.
    var textBytes: Int {
        (url?.utf8.count ?? 0) + bypassList.utf8.count + headers.list.textBytes + (credentials?.textBytes ?? 0)
    }

    /// Calls `body` with the C value of the proxy, which is valid during the call.
    func withDescription<Result>(
        in text: inout StringArena, _ body: (UnsafePointer<nc_proxy>, inout StringArena) -> Result
    ) -> Result {
        unsafe text.withFields(headers.list) { fields, text in
            var proxy = unsafe nc_proxy()
            switch choice {
            case .direct, .inherited: unsafe proxy.choice = .NC_PROXY_NONE
            case .environment: unsafe proxy.choice = .NC_PROXY_ENVIRONMENT
            case .url(let url):
                unsafe proxy.choice = .NC_PROXY_URL
                unsafe proxy.url = text.put(url)
            }
            unsafe proxy.except = text.put(bypassList)
            unsafe proxy.headers = UnsafePointer(fields.baseAddress)
            unsafe proxy.header_count = fields.count
            unsafe proxy.uses_tunnel = usesTunnel
            if let credentials {
                unsafe proxy.credentials = credentials.cValue(in: &text)
            }
            return unsafe body(&proxy, &text)
        }
    }
}

extension Proxy? {
    /// Calls `body` with the C value of the proxy, or with `nil` if there is none.
    func withDescription<Result>(
        in text: inout StringArena, _ body: (UnsafePointer<nc_proxy>?, inout StringArena) -> Result
    ) -> Result {
        guard let self else { return unsafe body(nil, &text) }
        return unsafe self.withDescription(in: &text) { proxy, text in unsafe body(proxy, &text) }
    }
}

extension Request where Value == Bytes {
    /// Throws the errors that the engine would throw at submission, so that other transports refuse the same requests.
    package func checkAsEngine() throws(NetError) {
        try checkBeforeSubmit()
        var error = nc_error()
        let form = try body?.coreForm(feed: nil)
        let status = unsafe withDescription(trust: nil, feed: nil) { description in
            if case .source = body?.content {
                unsafe description.body_source.pull = neverPulled
            }
            unsafe description.multipart = form?.raw
            return unsafe nc_request_check(&description, &error)
        }
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    /// Throws an error for values that the core would misinterpret, such as empty paths.
    func checkBeforeSubmit() throws(NetError) {
        let storage = storage
        if storage.value.method.rawValue.isEmpty {
            throw NetError(.badMethod, "the method is empty", offset: 0)
        }
        if let optionalStorage = storage.value.optionalStorage,
            optionalStorage.value.unixSocket == "" || optionalStorage.value.savePath == ""
        {
            throw NetError(.usage, "savePath or unixSocket of the request is empty")
        }
        switch storage.value.body?.content {
        case .file(""): throw NetError(.usage, "the path of the body's file is empty")
        case .source(let source): try source.checkLength()
        default: break
        }
    }
}

/// Stands for the source of a body during a check, which never calls it.
private func neverPulled(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int,
    _ filled: UnsafeMutablePointer<Int>
) -> nc_pull {
    .NC_PULL_FAIL
}

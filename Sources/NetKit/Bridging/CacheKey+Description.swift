internal import CNetCore

extension CacheKey {
    /// Creates the key of a request from its canonical form.
    ///
    /// - Parameters:
    ///   - method: any method; case-sensitive.
    ///   - url: the URL as sent, including its query.
    ///   - headers: the fields that select the response, such as Accept-Language; not those that change each time.
    ///   - parameters: the parameters if they are not in the URL; `nil` differs from empty ones.
    ///   - body: the body if it is not made of the parameters; `nil` differs from an empty one.
    ///   - scope: the owner of the response; no other owner gets it. If empty, it is shared.
    /// - Throws: ``NetError/Code/badURL`` for a URL that is not absolute, ``NetError/Code/badMethod``,
    ///   ``NetError/Code/badHeader``, and ``NetError/Code/badParameter`` for a number that is not finite.
    public init(
        method: Method = .get, url: String, headers: Headers = [:], parameters: Parameters? = nil, body: Bytes? = nil,
        scope: String = ""
    ) throws(NetError) {
        var parts = unsafe nc_cache_key_parts()
        unsafe parts.has_body = body != nil
        let texts = method.rawValue.utf8.count + url.utf8.count + scope.utf8.count + headers.list.textBytes
        var made: Result<CacheKey, NetError>?
        unsafe TextSpace.with(bytes: texts) { text in
            unsafe parts.method = text.put(method.rawValue)
            unsafe parts.url = text.put(url)
            unsafe parts.scope = text.put(scope)
            return unsafe text.withFields(headers.list) { fields, _ in
                unsafe parts.headers = UnsafePointer(fields.baseAddress)
                unsafe parts.header_count = fields.count
                unsafe (body ?? []).withSlice { body in
                    unsafe parts.body = body
                    if let parameters {
                        unsafe parameters.withTree { tree in
                            unsafe parts.parameters = tree
                            made = unsafe Self.made(of: parts)
                        }
                    } else {
                        made = unsafe Self.made(of: parts)
                    }
                }
            }
        }
        guard let made else { throw NetError(.internal, "a request was not described") }
        self = try made.get()
    }

    private static func made(of parts: nc_cache_key_parts) -> Result<CacheKey, NetError> {
        var parts = unsafe parts
        var buffer = unsafe nc_buf_init(Int(UInt32.max))
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        if unsafe nc_cache_key_describe(&buffer, &parts, &error) != .NC_OK {
            return .failure(NetError(error))
        }
        let description = unsafe UnsafeBufferPointer(start: buffer.data, count: buffer.length)
        return .success(CacheKey(description: unsafe [UInt8](description)))
    }

    /// The MD5 of the canonical form, in 32 lower-case hex digits; empty if OpenSSL has no MD5.
    public var name: String {
        guard let digest = try? Digest(.md5) else { return "" }
        var key = nc_cache_key()
        var error = nc_error()
        let status = unsafe Bytes(description).withSlice { unsafe nc_cache_key_name(&key, digest.raw, $0, &error) }
        guard status == .NC_OK else { return "" }
        return unsafe withUnsafeBytes(of: key.text) { unsafe String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    /// Hashes the canonical form in one step instead of byte by byte.
    public func hash(into hasher: inout Hasher) {
        unsafe description.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The canonical form in readable lines.
    public var explanation: String {
        var lines = unsafe nc_buf_init(Int(UInt32.max))
        defer { unsafe nc_buf_deinit(&lines) }
        var error = nc_error()
        let status = unsafe Bytes(description).withSlice { unsafe nc_cache_key_explain(&lines, $0, &error) }
        // The canonical form is valid here: only memory may be missing.
        return status == .NC_OK ? unsafe nc_buf_slice(&lines).text : NetError(error).message + "\n"
    }
}

internal import CNetCore

extension CacheKey {
    /// Creates the key of a request from its canonical form.
    ///
    /// - Parameters:
    ///   - method: any method; case-sensitive.
    ///   - url: the URL as sent, including its query.
    ///   - headers: the fields that can change the response, such as Accept-Language. Leave out fields that differ in
    ///     every request.
    ///   - parameters: the parameters if they are not in the URL. `nil` gives another key than empty parameters.
    ///   - body: the body if it was not created from the parameters. `nil` gives another key than an empty body.
    ///   - scope: the user or other owner of the response. Keys with different scopes differ, so no other owner gets
    ///     the response. If empty, the response is shared.
    /// - Throws: ``NetError/Code/badURL`` for a URL that is not absolute, ``NetError/Code/badMethod``,
    ///   ``NetError/Code/badHeader``, and ``NetError/Code/badParameter`` for a number that is not finite.
    public init(
        method: Method = .get, url: String, headers: Headers = [:], parameters: Parameters? = nil, body: Bytes? = nil,
        scope: String = ""
    ) throws(NetError) {
        var parts = unsafe nc_cache_key_parts()
        unsafe parts.has_body = body != nil
        let textBytes = method.rawValue.utf8.count + url.utf8.count + scope.utf8.count + headers.list.textBytes
        var key: Result<CacheKey, NetError>?
        unsafe StringArena.with(bytes: textBytes) { text in
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
                            key = unsafe Self.key(of: parts)
                        }
                    } else {
                        key = unsafe Self.key(of: parts)
                    }
                }
            }
        }
        guard let key else { throw NetError(.internal, "the request was not converted for its cache key") }
        self = try key.get()
    }

    private static func key(of parts: nc_cache_key_parts) -> Result<CacheKey, NetError> {
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

    /// The MD5 of the canonical form as 32 lower-case hex digits. Empty if OpenSSL does not support MD5.
    public var name: String {
        guard let digest = try? Digest(.md5) else { return "" }
        var key = nc_cache_key()
        var error = nc_error()
        let status = unsafe Bytes(description).withSlice { unsafe nc_cache_key_name(&key, digest.raw, $0, &error) }
        guard status == .NC_OK else { return "" }
        return unsafe withUnsafeBytes(of: key.text) { unsafe String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    /// Hashes the canonical form as a whole, which is faster than byte by byte.
    public func hash(into hasher: inout Hasher) {
        unsafe description.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The canonical form as readable text with several lines.
    package var explanation: String {
        var lines = unsafe nc_buf_init(Int(UInt32.max))
        defer { unsafe nc_buf_deinit(&lines) }
        var error = nc_error()
        let status = unsafe Bytes(description).withSlice { unsafe nc_cache_key_explain(&lines, $0, &error) }
        // The canonical form is always valid, so only a lack of memory can cause an error.
        return status == .NC_OK ? unsafe nc_buf_slice(&lines).text : NetError(error).message + "\n"
    }
}

/// Computes the digest of bytes that are added piece by piece. After each result, it can be used again.
///
///     let name = try Digest.of(bytes, .sha256).hexText
///
/// MD5 is suitable only for names, because different texts with the same MD5 can be constructed. Confined: one task at
/// a time.
@safe public struct Digest: ~Copyable {
    /// The algorithm.
    public enum Algorithm: Sendable, Hashable {
        /// MD5 (RFC 1321), with 16 bytes.
        case md5
        /// SHA-256 (FIPS 180-4), with 32 bytes.
        case sha256
    }

    // SAFETY: include/netcore/digest.h: confined, and this value is the only owner.
    let raw: OpaquePointer
    private let length: Int

    /// Creates an empty digest.
    ///
    /// - Throws: ``NetError/Code/unsupported`` if OpenSSL does not have the algorithm.
    public init(_ algorithm: Algorithm) throws(NetError) {
        let kind: nc_digest_kind = algorithm == .md5 ? .NC_DIGEST_MD5 : .NC_DIGEST_SHA256
        var created: OpaquePointer?
        var error = nc_error()
        let status = unsafe nc_digest_new(&created, kind, &error)
        guard status == .NC_OK, let created = unsafe created else { throw NetError(error) }
        unsafe raw = created
        length = nc_digest_bytes(kind)
    }

    deinit {
        unsafe nc_digest_free(raw)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: Bytes) {
        unsafe bytes.withSlice { unsafe nc_digest_update(raw, $0) }
    }

    /// Returns the digest of all bytes that were added, and starts a new digest.
    public mutating func finish() throws(NetError) -> Bytes {
        var error = nc_error()
        var status = nc_status.NC_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            status = unsafe nc_digest_finish(base, raw, &error)
            count = status == .NC_OK ? length : 0
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return Bytes(bytes)
    }

    /// Returns the digest of these bytes.
    public static func of(_ bytes: Bytes, _ algorithm: Algorithm) throws(NetError) -> Bytes {
        var digest = try Digest(algorithm)
        digest.update(bytes)
        return try digest.finish()
    }
}

extension Digest {
    /// Returns the HMAC-SHA256 of a message (RFC 2104): 32 bytes that can be computed only with the key.
    ///
    /// - Throws: ``NetError/Code/unsupported`` if OpenSSL does not have the algorithm.
    public static func hmacSHA256(key: Bytes, _ message: Bytes) throws(NetError) -> Bytes {
        let blockBytes = 64
        var block = Array(key)
        if block.count > blockBytes {
            block = Array(try of(key, .sha256))
        }
        block += [UInt8](repeating: 0, count: blockBytes - block.count)
        var digest = try Digest(.sha256)
        digest.update(Bytes(block.map { $0 ^ 0x36 }))
        digest.update(message)
        let inner = try digest.finish()
        digest.update(Bytes(block.map { $0 ^ 0x5C }))
        digest.update(inner)
        return try digest.finish()
    }
}

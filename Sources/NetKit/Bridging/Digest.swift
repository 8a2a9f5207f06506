internal import CNetCore

/// Computes digests of bytes incrementally; can be reused after each result.
///
///     let name = try Digest.of(bytes, .sha256).hexText
///
/// MD5 is only for naming: texts with the same MD5 can be constructed. Confined: one task at a time.
@safe public struct Digest: ~Copyable {
    /// The algorithm.
    public enum Algorithm: Sendable, Hashable {
        /// RFC 1321; 16 bytes.
        case md5
        /// FIPS 180-4; 32 bytes.
        case sha256
    }

    // SAFETY: include/netcore/digest.h: confined, and this value is its only owner.
    let raw: OpaquePointer
    private let length: Int

    /// Creates an empty digest.
    ///
    /// - Throws: ``NetError/Code/unsupported`` if OpenSSL does not have the algorithm.
    public init(_ algorithm: Algorithm) throws(NetError) {
        let kind: nc_digest_kind = algorithm == .md5 ? .NC_DIGEST_MD5 : .NC_DIGEST_SHA256
        var made: OpaquePointer?
        var error = nc_error()
        let status = unsafe nc_digest_new(&made, kind, &error)
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        unsafe raw = made
        length = nc_digest_bytes(kind)
    }

    deinit {
        unsafe nc_digest_free(raw)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: Bytes) {
        unsafe bytes.withSlice { unsafe nc_digest_update(raw, $0) }
    }

    /// Returns the digest of all added bytes, and starts a new one.
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

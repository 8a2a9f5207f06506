internal import CNetCore

/// A digest of bytes, computed as they come, and used again for the next ones.
///
///     let name = try Digest.of(bytes, .sha256).hexText
///
/// MD5 names things and proves nothing: texts with one MD5 can be made. Confined: one task at a time.
@safe public struct Digest: ~Copyable {
    /// Which digest.
    public enum Algorithm: Sendable, Hashable {
        /// RFC 1321; 16 bytes.
        case md5
        /// FIPS 180-4; 32 bytes.
        case sha256
    }

    // SAFETY: include/netcore/digest.h: confined, and this value is its one owner.
    let raw: OpaquePointer
    private let length: Int

    /// A digest that has seen nothing yet.
    ///
    /// Throws ``NetError/Code/unsupported`` where OpenSSL has not the algorithm.
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

    /// Adds bytes to what is digested.
    public mutating func update(_ bytes: Bytes) {
        unsafe bytes.withSlice { unsafe nc_digest_update(raw, $0) }
    }

    /// The digest of all that was added; then it begins anew.
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

    /// The digest of these bytes.
    public static func of(_ bytes: Bytes, _ algorithm: Algorithm) throws(NetError) -> Bytes {
        var digest = try Digest(algorithm)
        digest.update(bytes)
        return try digest.finish()
    }
}

internal import CNetCore

extension Body {
    /// Returns this body compressed with gzip (RFC 1952), with its Content-Encoding.
    ///
    /// Bytes are compressed immediately, and their length is announced. A body that is read while it is sent is
    /// compressed in a separate task. Its length is unknown, so it is sent chunked (RFC 9112, 7.1). A repeatable body
    /// stays repeatable.
    ///
    /// - Parameter level: from 1 (fast) to 9 (small).
    /// - Throws: ``NetError/Code/noMemory``, and ``NetError/Code/usage`` for another level.
    public func gzipped(level: Int = 6) throws(NetError) -> Body {
        guard (1...9).contains(level) else { throw NetError(.usage, "the level \(level) is not one from 1 to 9") }
        var packed = self
        // A body that is coded already is coded twice, and the receiver must know that (RFC 9110, 8.4).
        packed.contentEncoding = contentEncoding.map { "\($0), gzip" } ?? "gzip"
        if case .bytes(let bytes) = content {
            let gzip = try Gzip(level: level)
            try gzip.add(bytes)
            packed.content = .bytes(try gzip.finished())
        } else {
            let plain = self
            packed.content = .source(
                BodySource(
                    length: nil, isRepeatable: isRepeatable,
                    maker: .pump { put in try await plain.compress(level: level, put) }))
        }
        return packed
    }

    private func compress(level: Int, _ put: BodySource.Put) async throws {
        let gzip = try Gzip(level: level)
        // The error of the receiving closure, which the source must not replace.
        var refusal: (any Error)?
        do {
            try await forEachPiece { piece throws(NetError) in
                try gzip.add(piece)
                do {
                    try await put(gzip.takeReady())
                } catch {
                    refusal = error
                    throw NetError(.cancelled, "nobody takes the body any more", underlying: error)
                }
            }
        } catch {
            throw refusal ?? error
        }
        try await put(try gzip.finished())
    }
}

/// A compressor of the C core with its output.
@safe private final class Gzip {
    // SAFETY: include/netcore/gzip.h: confined, and this object, which one task uses, is its only owner.
    private let raw: OpaquePointer
    private var ready: nc_buf

    init(level: Int) throws(NetError) {
        var made: OpaquePointer?
        var error = nc_error()
        let status = unsafe nc_gzip_new(&made, Int32(level), &error)
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        unsafe raw = made
        unsafe ready = nc_buf_init(Int.max / 2)
    }

    deinit {
        unsafe nc_buf_deinit(&ready)
        unsafe nc_gzip_free(raw)
    }

    func add(_ bytes: Bytes) throws(NetError) {
        var error = nc_error()
        if unsafe bytes.withSlice({ unsafe nc_gzip_add(&ready, raw, $0, &error) }) != .NC_OK {
            throw NetError(error)
        }
    }

    /// Returns the output so far.
    func takeReady() -> Bytes {
        defer { unsafe nc_buf_reset(&ready) }
        return unsafe Bytes(copying: ready)
    }

    func finished() throws(NetError) -> Bytes {
        var error = nc_error()
        if unsafe nc_gzip_finish(&ready, raw, &error) != .NC_OK {
            throw NetError(error)
        }
        return takeReady()
    }
}

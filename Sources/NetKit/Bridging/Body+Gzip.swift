internal import CNetCore

extension Body {
    /// This body as gzip (RFC 1952), with its Content-Encoding.
    ///
    /// Bytes are compressed here and now, and their length is announced. What is read while it is sent is compressed as
    /// it is read, in a task of its own; nobody knows its length then, so that it is sent chunked (RFC 9112, 7.1). A body
    /// that can be sent a second time still can.
    ///
    /// Throws ``NetError/Code/noMemory``, and ``NetError/Code/usage`` for another level.
    /// - Parameter level: from 1, fast, to 9, small.
    public func gzipped(level: Int = 6) throws(NetError) -> Body {
        guard (1...9).contains(level) else { throw NetError(.usage, "the level \(level) is not one from 1 to 9") }
        var packed = self
        // What is coded already is coded twice, and whoever reads it has to know (RFC 9110, 8.4).
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
        // What the taker of the pieces threw, which the source may not hide.
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

/// A compressor of the C core's, and what it has ready.
@safe private final class Gzip {
    // SAFETY: include/netcore/gzip.h: confined, and this object, which one task has, is its one owner.
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

    /// What can be sent by now.
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

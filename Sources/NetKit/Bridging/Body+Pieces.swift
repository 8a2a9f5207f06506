internal import CNetCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

// Transports other than the engine use these functions. The engine reads bodies in the C core.
extension Body {
    private static let pieceBytes = 64 << 10

    /// Passes the body to `take`, piece by piece, from its beginning.
    ///
    /// If the body has a producer, such as an asynchronous sequence, the producer runs in the caller's task. These
    /// errors are thrown:
    /// - an error of `take`, unchanged
    /// - ``NetError/Code/bodySource`` if the producer throws an error
    /// - ``NetError/Code/bodyLength`` if the producer's length differs from the announced one
    /// - ``NetError/Code/file`` if a file cannot be read
    public func forEachPiece(_ take: (Bytes) async throws(NetError) -> Void) async throws(NetError) {
        switch content {
        case .bytes(let bytes):
            if !bytes.isEmpty {
                try await take(bytes)
            }
        case .file(let path):
            try await Self.readFile(path, from: fileOffset, take)
        case .source(let source):
            try await source.forEachPiece(take)
        case .multipart:
            try await checkedForm?.forEachPiece(take)
        }
    }

    private static func readFile(
        _ path: String, from offset: Int, _ take: (Bytes) async throws(NetError) -> Void
    ) async throws(NetError) {
        let file = try RegularFile(path, from: offset)
        while true {
            if Task.isCancelled {
                throw NetError(.cancelled, "the task was cancelled while the body's file was read")
            }
            let piece = try file.read(upTo: pieceBytes)
            if piece.isEmpty {
                return
            }
            try await take(Bytes(piece))
        }
    }
}

extension BodySource {
    func forEachPiece(_ take: (Bytes) async throws(NetError) -> Void) async throws(NetError) {
        var count = 0
        // The error of `take` or of the length check. It is thrown instead of an error that the producer throws because
        // of it.
        var firstError: NetError?
        do {
            try await produce { piece in
                do throws(NetError) {
                    try checkLength(count + piece.count, isWhole: false)
                    count += piece.count
                    if !piece.isEmpty {
                        try await take(piece)
                    }
                } catch {
                    firstError = error
                    throw error
                }
            }
        } catch {
            throw firstError ?? Self.failure(error)
        }
        if let firstError {
            throw firstError
        }
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled while its body was read")
        }
        try checkLength(count, isWhole: true)
    }

    private func produce(_ put: Put) async throws {
        switch maker {
        case .pump(let run):
            try await run(offset, put)
        case .reader(let make):
            let read = try make(offset)
            while true {
                var buffer = [UInt8](repeating: 0, count: 16 << 10)
                var span = buffer.mutableSpan
                let count = try Self.checked(read(&span), upTo: buffer.count)
                if count == 0 {
                    return
                }
                try await put(Bytes(Array(buffer[..<count])))
            }
        }
    }

    private static func failure(_ error: any Error) -> NetError {
        if let error = error as? NetError, [.notRewindable, .bodySource, .bodyLength].contains(error.code) {
            return error  // These errors have a specific message already.
        }
        return Task.isCancelled
            ? NetError(.cancelled, "the task was cancelled while its body was read", underlying: error)
            : NetError(.bodySource, "reading the request body failed: \(error)", underlying: error)
    }

    private func checkLength(_ count: Int, isWhole: Bool) throws(NetError) {
        guard let length, isWhole ? count < length : count > length else { return }
        throw NetError(
            .bodyLength, "the body is \(isWhole ? "shorter" : "longer") than its announced length of \(length) bytes")
    }
}

extension Body {
    /// Returns this body compressed with gzip (RFC 1952), with the matching Content-Encoding.
    ///
    /// A body in memory is compressed immediately and sent with a Content-Length. A body that is read while it is sent
    /// is compressed meanwhile, in a separate task. The length of the result is unknown, so it is sent chunked (RFC
    /// 9112, 7.1). A repeatable body stays repeatable.
    ///
    /// - Parameter level: from 1 (fast) to 9 (small).
    /// - Throws: ``NetError/Code/usage`` for another level, and ``NetError/Code/noMemory``.
    public func gzipped(level: Int = 6) throws(NetError) -> Body {
        guard (1...9).contains(level) else {
            throw NetError(.usage, "the gzip level \(level) is not in the range 1 to 9")
        }
        var compressed = self
        // If the body has a content coding already, both codings are listed (RFC 9110, 8.4).
        compressed.contentEncoding = contentEncoding.map { "\($0), gzip" } ?? "gzip"
        if case .bytes(let bytes) = content {
            let gzip = try Gzip(level: level)
            try gzip.add(bytes)
            compressed.content = .bytes(try gzip.finished())
        } else {
            let original = self
            compressed.content = .source(
                BodySource(
                    length: nil, isRepeatable: isRepeatable,
                    maker: .pumpFromStart { put in try await original.compress(level: level, put) }))
            compressed.fileOffset = 0
        }
        return compressed
    }

    private func compress(level: Int, _ put: BodySource.Put) async throws {
        let gzip = try Gzip(level: level)
        // The error of `put`. It is thrown instead of the error with which the source stops because of it.
        var putError: (any Error)?
        do {
            try await forEachPiece { piece throws(NetError) in
                try gzip.add(piece)
                do {
                    try await put(gzip.takeReady())
                } catch {
                    putError = error
                    throw NetError(.cancelled, "the body's reader was cancelled", underlying: error)
                }
            }
        } catch {
            throw putError ?? error
        }
        try await put(try gzip.finished())
    }
}

/// A gzip compressor of the C core, with its output buffer.
@safe private final class Gzip {
    // SAFETY: include/netcore/gzip.h: confined. This object is the only owner, and only one task uses it.
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

    /// Returns the output since the last call, which may be empty.
    func takeReady() -> Bytes {
        defer { unsafe nc_buf_reset(&ready) }
        return unsafe Bytes(copying: ready)
    }

    /// Ends the gzip data and returns the remaining output.
    func finished() throws(NetError) -> Bytes {
        var error = nc_error()
        if unsafe nc_gzip_finish(&ready, raw, &error) != .NC_OK {
            throw NetError(error)
        }
        return takeReady()
    }
}

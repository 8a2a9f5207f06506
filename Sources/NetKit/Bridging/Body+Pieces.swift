#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

// For transports other than the engine: the core reads bodies itself.
extension Body {
    private static let pieceBytes = 64 << 10

    /// Passes the body to `take`, piece by piece, from its beginning.
    ///
    /// A body that is produced while it is sent is produced in the caller's task. An error of its producer becomes
    /// ``NetError/Code/bodySource``, and a wrong length ``NetError/Code/bodyLength``. A file that cannot be read throws
    /// ``NetError/Code/file``. An error of `take` ends the function and is thrown.
    public func forEachPiece(_ take: (Bytes) async throws(NetError) -> Void) async throws(NetError) {
        switch content {
        case .bytes(let bytes):
            if !bytes.isEmpty {
                try await take(bytes)
            }
        case .file(let path):
            try await Self.readFile(path, take)
        case .source(let source):
            try await source.forEachPiece(take)
        case .multipart:
            try await checkedForm?.forEachPiece(take)
        }
    }

    private static func readFile(
        _ path: String, _ take: (Bytes) async throws(NetError) -> Void
    ) async throws(NetError) {
        let file = try RegularFile(path)
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
        // The error of the receiving closure; the producer may throw another one because of it.
        var refusal: NetError?
        do {
            try await make { piece in
                do throws(NetError) {
                    try checkLength(count + piece.count, isWhole: false)
                    count += piece.count
                    if !piece.isEmpty {
                        try await take(piece)
                    }
                } catch {
                    refusal = error
                    throw error
                }
            }
        } catch {
            throw refusal ?? Self.failure(error)
        }
        if let refusal {
            throw refusal
        }
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled while its body was read")
        }
        try checkLength(count, isWhole: true)
    }

    private func make(_ put: Put) async throws {
        switch maker {
        case .pump(let run):
            try await run(put)
        case .reader(let make):
            let read = try make()
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
        if let error = error as? NetError, error.code == .notRewindable || error.code == .bodySource {
            return error  // It has its own message.
        }
        return Task.isCancelled
            ? NetError(.cancelled, "the task was cancelled while its body was read", underlying: error)
            : NetError(.bodySource, "the source of the body failed: \(error)", underlying: error)
    }

    private func checkLength(_ count: Int, isWhole: Bool) throws(NetError) {
        guard let length, isWhole ? count < length : count > length else { return }
        throw NetError(
            .bodyLength, "the body is \(isWhole ? "shorter" : "longer") than the \(length) bytes that were announced")
    }
}

internal import Synchronization

/// A body that is produced while it is sent.
struct BodySource: Sendable {
    typealias Put = (Bytes) async throws -> Void

    /// The producer of the bytes from an offset on.
    enum Maker: Sendable {
        /// A function that passes pieces of the body to `Put`. `Put` suspends while the send buffer is full.
        case pump(@Sendable (_ offset: Int, Put) async throws -> Void)
        /// Creates a function that writes the next bytes to a buffer; see ``Body/Reader``.
        case reader(@Sendable (_ offset: Int) throws -> Body.Reader)
    }

    /// The offset of the first byte to send.
    var offset = 0
    /// The number of bytes from there on; `nil` if unknown.
    var length: Int?
    /// Whether the producer can start again.
    let isRepeatable: Bool
    let maker: Maker

    /// Throws ``NetError/Code/bodyLength`` for a negative length.
    func checkLength() throws(NetError) {
        if let length, length < 0 {
            throw NetError(.bodyLength, "the length of the body is invalid: \(length) bytes")
        }
    }

    /// Returns the number of bytes that a reader reported.
    /// - Throws: ``NetError/Code/bodySource`` if the number is negative or exceeds `capacity`.
    static func checked(_ count: Int, upTo capacity: Int) throws(NetError) -> Int {
        guard count >= 0, count <= capacity else {
            throw NetError(.bodySource, "the reader of the body returned \(count), not 0 to \(capacity) bytes")
        }
        return count
    }

    /// An empty body.
    static let nothing = BodySource(length: 0, isRepeatable: true, maker: .reader { _ in { _ in 0 } })
}

extension BodySource.Maker {
    /// Returns the producer of a body that can only be produced from its first byte. Earlier bytes are dropped.
    static func pumpFromStart(_ run: @escaping @Sendable (BodySource.Put) async throws -> Void) -> Self {
        .pump { offset, put in
            var excess = offset
            try await run { piece in
                let dropped = Swift.min(excess, piece.count)
                excess -= dropped
                try await put(dropped == 0 ? piece : Bytes(Array(piece[dropped...])))
            }
            try checkEnd(excess, offset)
        }
    }

    /// Returns the producer of a body whose reader begins at the first byte. Earlier bytes are dropped.
    fileprivate static func readerFromStart(_ make: @escaping @Sendable () throws -> Body.Reader) -> Self {
        .reader { offset in
            let read = try make()
            var excess = offset
            while excess > 0 {
                var dropped = [UInt8](repeating: 0, count: Swift.min(excess, 64 << 10))
                var span = dropped.mutableSpan
                let count = try BodySource.checked(read(&span), upTo: dropped.count)
                if count == 0 {
                    break
                }
                excess -= count
            }
            try checkEnd(excess, offset)
            return read
        }
    }

    private static func checkEnd(_ missing: Int, _ offset: Int) throws(NetError) {
        if missing > 0 {
            throw NetError(
                .bodyLength, "the body has only \(offset - missing) bytes and cannot begin at byte \(offset)")
        }
    }
}

extension Body {
    package typealias Reader = (inout MutableSpan<UInt8>) throws -> Int

    /// Returns a body whose bytes come from an asynchronous sequence of ``Bytes``, `Data` or `[UInt8]`. `make` is called
    /// each time the body is sent. The body may be sent more than once, for example after a redirect or a lost connection.
    /// The sequence is read in a task with the priority and the task-local values of the sender. The task is cancelled
    /// when the transfer ends. Reading pauses while 256 KiB wait to be sent.
    /// If the sequence throws an error, the request fails with ``NetError/Code/bodySource``. If the sequence yields
    /// more or fewer bytes than `length`, the request fails with ``NetError/Code/bodyLength``. To check the length in
    /// time, the last byte is sent only after the sequence has ended. If `length` is 0, nothing is sent, and bytes that
    /// the sequence yields may not be detected.
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns the sequence from its beginning.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element: BytesConvertible {
        pumped(length, contentType, isRepeatable: true) { put in
            for try await piece in make() {
                try await put(piece._bytes)
            }
        }
    }

    /// Returns a body whose bytes come from an asynchronous sequence that can begin at any byte, for ``suffix(from:)``.
    ///
    ///     Body.stream(length: file.length) { offset in file.chunks(from: offset) }
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the whole body; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns the sequence from an offset on.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable (_ offset: Int) -> Pieces
    ) -> Body where Pieces.Element: BytesConvertible {
        let maker = BodySource.Maker.pump { offset, put in
            for try await piece in make(offset) {
                try await put(piece._bytes)
            }
        }
        return Body(.source(BodySource(length: length, isRepeatable: true, maker: maker)), contentType: contentType)
    }

    /// Returns a body whose bytes come from an asynchronous sequence that can be read only once. If the body has to be
    /// sent again, the request fails with ``NetError/Code/notRewindable``.
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - pieces: the bytes, in pieces.
    public static func once<Pieces: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: String? = nil, _ pieces: Pieces
    ) -> Body where Pieces.Element: BytesConvertible {
        pumpedOnce(length, contentType) { put in
            for try await piece in pieces {
                try await put(piece._bytes)
            }
        }
    }

    /// Returns a body from a reader function, which is called when the network can accept bytes. `make` is called each
    /// time the body is sent.
    /// The reader writes the next bytes to a buffer and returns their number, or 0 at the end of the body. If it
    /// returns a negative number or one larger than the buffer, the request fails with ``NetError/Code/bodySource``. It
    /// runs on the event loop thread and must not block. While it runs, all transfers of the agent wait.
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns a reader that starts at the beginning.
    public static func pull(
        length: Int? = nil, contentType: String? = nil,
        _ make: @escaping @Sendable () throws -> (inout MutableSpan<UInt8>) throws -> Int
    ) -> Body {
        Body(
            .source(BodySource(length: length, isRepeatable: true, maker: .readerFromStart(make))),
            contentType: contentType)
    }

    /// Returns a body from a reader function that can begin at any byte, for ``suffix(from:)``.
    /// - Parameters:
    ///   - length: the number of bytes of the whole body; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns a reader that starts at an offset.
    public static func pull(
        length: Int? = nil, contentType: String? = nil,
        _ make: @escaping @Sendable (_ offset: Int) throws -> (inout MutableSpan<UInt8>) throws -> Int
    ) -> Body {
        Body(.source(BodySource(length: length, isRepeatable: true, maker: .reader(make))), contentType: contentType)
    }

    /// Returns a body that fails if it is read a second time. A second reading would get only the remaining elements of
    /// the sequence, and would send them as if they were the whole body.
    private static func pumpedOnce(
        _ length: Int?, _ contentType: String?, _ pump: @escaping @Sendable (BodySource.Put) async throws -> Void
    ) -> Body {
        let flag = SingleUseFlag()
        return pumped(length, contentType, isRepeatable: false) { put in
            if flag.wasRead.exchange(true, ordering: .relaxed) {
                throw NetError(
                    .notRewindable,
                    "the body was sent before and can be read only once: use Body.stream to send it again")
            }
            try await pump(put)
        }
    }

    private static func pumped(
        _ length: Int?, _ contentType: String?, isRepeatable: Bool,
        _ pump: @escaping @Sendable (BodySource.Put) async throws -> Void
    ) -> Body {
        Body(
            .source(BodySource(length: length, isRepeatable: isRepeatable, maker: .pumpFromStart(pump))),
            contentType: contentType)
    }
}

/// Records whether a body that can be read only once has been read.
private final class SingleUseFlag: Sendable {
    let wasRead = Atomic(false)
}

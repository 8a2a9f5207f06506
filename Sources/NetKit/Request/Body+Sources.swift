internal import Synchronization

extension Body {
    /// Writes the next bytes of a body to a buffer and returns their number; 0 is the end. A negative number, or one
    /// larger than the buffer, ends the request with ``NetError/Code/bodySource``.
    public typealias Reader = (inout MutableSpan<UInt8>) throws -> Int

    /// Returns a body from an asynchronous sequence. `make` is called each time the body is sent: a redirect or a lost
    /// connection may require it again.
    ///
    /// The sequence is read in a task with the priority and the task-local values of the sender. The task is cancelled
    /// when the transfer ends. At most 256 KiB wait to be sent; then reading pauses.
    ///
    /// An error of the sequence ends the request with ``NetError/Code/bodySource``, and a length other than announced
    /// with ``NetError/Code/bodyLength``. The last announced byte is sent only when the sequence has ended. With an
    /// announced length of 0 nothing is sent, and bytes that the sequence still yields may go unnoticed.
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns the sequence from its beginning.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element == Bytes {
        pumped(length, contentType, isRepeatable: true) { put in
            for try await piece in make() {
                try await put(piece)
            }
        }
    }

    /// Returns a body from an asynchronous sequence, as the function for a sequence of ``Bytes``.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element == [UInt8] {
        pumped(length, contentType, isRepeatable: true) { put in
            for try await piece in make() {
                try await put(Bytes(piece))
            }
        }
    }

    /// Returns a body from an asynchronous sequence that can be read only once. If the body is needed again, the
    /// request ends with ``NetError/Code/notRewindable``.
    ///
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - pieces: the bytes, in pieces.
    public static func once<Pieces: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: String? = nil, _ pieces: Pieces
    ) -> Body where Pieces.Element == Bytes {
        pumpedOnce(length, contentType) { put in
            for try await piece in pieces {
                try await put(piece)
            }
        }
    }

    /// Returns a body from a sequence that can be read only once, as the function for a sequence of ``Bytes``.
    public static func once<Pieces: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: String? = nil, _ pieces: Pieces
    ) -> Body where Pieces.Element == [UInt8] {
        pumpedOnce(length, contentType) { put in
            for try await piece in pieces {
                try await put(Bytes(piece))
            }
        }
    }

    /// Returns a body that a function writes when the network can accept bytes. `make` is called each time the body is
    /// sent.
    ///
    /// The function runs on the event loop thread and must not block: meanwhile no transfer of the agent continues.
    /// - Parameters:
    ///   - length: the number of bytes; `nil` sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type to send if the request has none.
    ///   - make: returns a reader that starts at the beginning.
    public static func pull(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () throws -> Reader
    ) -> Body {
        Body(.source(BodySource(length: length, isRepeatable: true, maker: .reader(make))), contentType: contentType)
    }

    /// Fails a second reading for any reason: it would send the rest of the sequence as the whole body.
    private static func pumpedOnce(
        _ length: Int?, _ contentType: String?, _ pump: @escaping @Sendable (BodySource.Put) async throws -> Void
    ) -> Body {
        let reading = SingleReading()
        return pumped(length, contentType, isRepeatable: false) { put in
            if reading.hasBegun.exchange(true, ordering: .relaxed) {
                throw NetError(
                    .notRewindable,
                    "the body was sent before, and its sequence can be read once only: Body.stream makes one each time")
            }
            try await pump(put)
        }
    }

    private static func pumped(
        _ length: Int?, _ contentType: String?, isRepeatable: Bool,
        _ pump: @escaping @Sendable (BodySource.Put) async throws -> Void
    ) -> Body {
        Body(
            .source(BodySource(length: length, isRepeatable: isRepeatable, maker: .pump(pump))),
            contentType: contentType)
    }
}

/// Whether a body that can be read only once has been read.
private final class SingleReading: Sendable {
    let hasBegun = Atomic(false)
}

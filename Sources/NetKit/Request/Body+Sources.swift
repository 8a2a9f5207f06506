internal import Synchronization

extension Body {
    /// Writes the next bytes of a body to the memory it is given and returns their number; 0 is the end. A negative number,
    /// and one beyond the memory that was given, end the request with ``NetError/Code/bodySource``.
    public typealias Reader = (inout MutableSpan<UInt8>) throws -> Int

    /// What an asynchronous sequence gives, made anew for each time that the body is sent: a redirect or a connection
    /// that died may ask for it again.
    ///
    /// It is read in a task with the priority and the task-local values of the one that sends, which is cancelled when the
    /// transfer ends. At most 256 KiB wait to be sent, then the sequence has to wait. What it throws ends the request with
    /// ``NetError/Code/bodySource``; a body of another length than announced with ``NetError/Code/bodyLength``: the last
    /// byte of the announced ones is sent when the sequence has ended. Where none are announced nothing is sent, and what
    /// the sequence gives all the same may go unnoticed.
    /// - Parameters:
    ///   - length: the number of bytes; nil sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type that is sent when the request names none.
    ///   - make: gives the sequence from its beginning.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element == Bytes {
        pumped(length, contentType, isRepeatable: true) { put in
            for try await piece in make() {
                try await put(piece)
            }
        }
    }

    /// As for a sequence of ``Bytes``.
    public static func stream<Pieces: AsyncSequence & SendableMetatype>(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () -> Pieces
    ) -> Body where Pieces.Element == [UInt8] {
        pumped(length, contentType, isRepeatable: true) { put in
            for try await piece in make() {
                try await put(Bytes(piece))
            }
        }
    }

    /// What an asynchronous sequence gives that can be read once only: asked for a second time, the request ends with
    /// ``NetError/Code/notRewindable``.
    ///
    /// - Parameters:
    ///   - length: the number of bytes; nil sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type that is sent when the request names none.
    ///   - pieces: the bytes, piece by piece.
    public static func once<Pieces: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: String? = nil, _ pieces: Pieces
    ) -> Body where Pieces.Element == Bytes {
        pumpedOnce(length, contentType) { put in
            for try await piece in pieces {
                try await put(piece)
            }
        }
    }

    /// As for a sequence of ``Bytes``.
    public static func once<Pieces: AsyncSequence & Sendable>(
        length: Int? = nil, contentType: String? = nil, _ pieces: Pieces
    ) -> Body where Pieces.Element == [UInt8] {
        pumpedOnce(length, contentType) { put in
            for try await piece in pieces {
                try await put(Bytes(piece))
            }
        }
    }

    /// What a function reads when the network has room; made anew for each time that the body is sent.
    ///
    /// It runs on the loop thread: while it runs, no transfer of the agent goes on, so it must not block.
    /// - Parameters:
    ///   - length: the number of bytes; nil sends them chunked (RFC 9112, 7.1).
    ///   - contentType: the Content-Type that is sent when the request names none.
    ///   - make: gives a reader that begins at the beginning.
    public static func pull(
        length: Int? = nil, contentType: String? = nil, _ make: @escaping @Sendable () throws -> Reader
    ) -> Body {
        Body(.source(BodySource(length: length, isRepeatable: true, maker: .reader(make))), contentType: contentType)
    }

    /// Whoever asks again, and for whatever reason, would get what is left of the sequence for the whole.
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

/// Whether what can be read once only was.
private final class SingleReading: Sendable {
    let hasBegun = Atomic(false)
}

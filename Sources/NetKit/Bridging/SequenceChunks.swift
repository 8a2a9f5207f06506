/// A streamed body that a stub or another transport gives as a sequence.
@safe final class SequenceChunks<Pieces: AsyncSequence & Sendable>: ChunkSource where Pieces.Element == Bytes {
    private struct State: Sendable {
        var isRead = false
        var isOver = false
    }

    private let state = Lock(State())
    private let pieces: Pieces
    private let end: Response<Bytes>
    // SAFETY: ChunkSource.next has one caller at a time, and nobody else touches it.
    private nonisolated(unsafe) var iterator: Pieces.AsyncIterator?

    /// - Parameter end: the response without its body.
    init(_ pieces: Pieces, end: Response<Bytes>) {
        self.pieces = pieces
        self.end = end
    }

    func next() async throws(NetError) -> Bytes? {
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled")
        }
        var iterator = unsafe self.iterator ?? pieces.makeAsyncIterator()
        do {
            let piece = try await iterator.next()
            unsafe self.iterator = iterator
            if piece == nil {
                state.withLock { $0.isOver = true }
            }
            return piece
        } catch let error as NetError {
            throw error
        } catch is CancellationError {
            throw NetError(.cancelled, "the task was cancelled")
        } catch {
            throw NetError(.receive, "the sequence behind the stream failed: \(error)", underlying: error)
        }
    }

    func abandon(isSuperseded: Bool) {}

    func beginReading() -> Bool {
        state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
    }

    var ending: Response<Bytes>? {
        state.withLock { $0.isOver } ? end : nil
    }
}

extension ResponseStream {
    /// A stream as a stub or another transport makes it.
    ///
    /// - Parameter chunks: the body; an error that is no ``NetError`` becomes ``NetError/Code/receive``.
    public init(
        status: Int, headers: Headers = [:], url: String = "", trailers: Headers = [:],
        chunks: some AsyncSequence<Bytes, some Error> & Sendable
    ) {
        var end = Response<Bytes>(status: status, headers: headers)
        end.trailers = trailers
        self.init(
            status: status, headers: headers, httpVersion: .unknown, url: url,
            source: SequenceChunks(chunks, end: end))
    }

    /// A stream of one piece.
    init(_ response: Response<Bytes>) {
        var end = response
        end.value = []
        end.bytes = []
        let pieces = AsyncStream<Bytes> { continuation in
            if !response.bytes.isEmpty {
                continuation.yield(response.bytes)
            }
            continuation.finish()
        }
        self.init(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion, url: response.url,
            source: SequenceChunks(pieces, end: end))
    }
}

/// A streamed body from a sequence, for a stub or another transport.
@safe final class SequenceChunks<Pieces: AsyncSequence & Sendable>: ChunkSource where Pieces.Element == Bytes {
    private struct State: Sendable {
        var isRead = false
        var isOver = false
        var onRelease: (@Sendable () -> Void)?
    }

    private let state: Lock<State>
    private let pieces: Pieces
    private let end: Response<Bytes>
    // SAFETY: ChunkSource.next has one caller at a time, and only it uses this.
    private nonisolated(unsafe) var iterator: Pieces.AsyncIterator?

    /// - Parameters:
    ///   - end: the response without its body.
    ///   - onRelease: called once, when no more is read.
    init(_ pieces: Pieces, end: Response<Bytes>, onRelease: (@Sendable () -> Void)? = nil) {
        state = Lock(State(onRelease: onRelease))
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

    func abandon(isSuperseded: Bool) {
        let onRelease = state.withLock { state in
            defer { state.onRelease = nil }
            return state.onRelease
        }
        onRelease?()
    }

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
    /// Creates a stream for a stub or another transport.
    ///
    /// - Parameters:
    ///   - status: the status code, 100 to 999.
    ///   - headers: the fields of the head.
    ///   - url: the URL of the response; empty for none.
    ///   - trailers: the trailer fields.
    ///   - chunks: the body; an error that is no ``NetError`` becomes ``NetError/Code/receive``.
    public init(
        status: Int, headers: Headers = [:], url: String = "", trailers: Headers = [:],
        chunks: some AsyncSequence<Bytes, some Error> & Sendable
    ) {
        var head = Response<Bytes>(status: status, headers: headers)
        head.trailers = trailers
        var hop = HopMetrics()
        hop.url = url
        head.metrics = Metrics(url.isEmpty ? [] : [hop])
        self.init(head, chunks: chunks)
    }

    /// Creates a stream for another transport.
    ///
    /// - Parameters:
    ///   - response: the response without its bytes; its trailers and the way its body ended are visible after the
    ///     chunks.
    ///   - earlierHeads: the heads of the followed redirects, in order.
    ///   - chunks: the body; an error that is no ``NetError`` becomes ``NetError/Code/receive``.
    ///   - onRelease: called once, when no more is read: the body was read to its end, or released.
    public init(
        _ response: Response<Bytes>, after earlierHeads: [ResponseHead] = [],
        chunks: some AsyncSequence<Bytes, some Error> & Sendable, onRelease: (@Sendable () -> Void)? = nil
    ) {
        var end = response
        end.value = []
        end.bytes = []
        self.init(
            ResponseHead(
                status: response.status, headers: response.headers, httpVersion: response.httpVersion, url: response.url
            ),
            after: earlierHeads, hops: Array(response.metrics),
            source: SequenceChunks(chunks, end: end, onRelease: onRelease))
        cacheNote = response.cacheNote
        cameByChallenge = response.cameByChallenge
    }

    /// Creates a stream of one piece from a complete response.
    package init(whole response: Response<Bytes>) {
        self.init(response)
    }

    /// Creates a stream of one piece.
    init(_ response: Response<Bytes>) {
        let pieces = AsyncStream<Bytes> { continuation in
            if !response.bytes.isEmpty {
                continuation.yield(response.bytes)
            }
            continuation.finish()
        }
        self.init(response, chunks: pieces)
    }
}

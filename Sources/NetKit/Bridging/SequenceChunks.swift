/// A streamed body whose bytes come from an asynchronous sequence, for a stub or another transport.
@safe private final class SequenceChunks<Pieces: AsyncSequence & Sendable>: ChunkSource where Pieces.Element == Bytes {
    private struct State: Sendable {
        var isRead = false
        var isOver = false
        var onRelease: (@Sendable () -> Void)?
    }

    private let state: Lock<State>
    private let pieces: Pieces
    private let end: Response<Bytes>
    // SAFETY: only ChunkSource.next uses the iterator, and next has one caller at a time.
    private nonisolated(unsafe) var iterator: Pieces.AsyncIterator?

    /// - Parameters:
    ///   - end: the response without its body.
    ///   - onRelease: called once, when the body was read to its end or released.
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
    ///   - headers: the header fields.
    ///   - url: the URL of the response, or an empty string if it has none.
    ///   - trailers: the trailer fields.
    ///   - chunks: the body. If it throws an error that is not a ``NetError``, the reader gets
    ///     ``NetError/Code/receive``.
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
    ///   - response: the response without its bytes. Its trailers and ``Response/isCloseDelimited`` become visible
    ///     after the last chunk.
    ///   - earlierHeads: the heads of the followed redirects, in order.
    ///   - chunks: the body. If it throws an error that is not a ``NetError``, the reader gets
    ///     ``NetError/Code/receive``.
    ///   - onRelease: called once, when the body was read to its end or released.
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
        cacheAnnotation = response.cacheAnnotation
        cameByChallenge = response.cameByChallenge
    }

    /// Creates a stream from a complete response. The body is one chunk.
    package init(whole response: Response<Bytes>) {
        self.init(response)
    }

    /// Creates a stream from a complete response. The body is one chunk.
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

/// A streamed body of which some chunks were read already. It delivers these chunks again, followed by the rest of the
/// stream.
final class ResumedChunks: ChunkSource {
    private struct State: Sendable {
        var chunks: ArraySlice<Bytes>
        var isRead = false
    }

    private let state: Lock<State>
    private let stream: ResponseStream

    init(_ chunks: [Bytes], then stream: ResponseStream) {
        state = Lock(State(chunks: chunks[...]))
        self.stream = stream
    }

    func next() async throws(NetError) -> Bytes? {
        if let chunk = state.withLock({ $0.chunks.popFirst() }) {
            return chunk
        }
        return try await stream.source.next()
    }

    func abandon(isSuperseded: Bool) {
        state.withLock { $0.chunks = [] }
        stream.source.abandon(isSuperseded: isSuperseded)
    }

    func beginReading() -> Bool {
        state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
    }

    var ending: Response<Bytes>? { stream.source.ending }
}

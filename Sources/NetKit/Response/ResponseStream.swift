/// A response whose body arrives in pieces, in bounded memory: the head is complete, and one `for` loop reads the body.
///
///     let stream = try await agent.stream(Request<Bytes>("large"))
///     for try await chunk in stream { … }
///
/// When too much is unread, the transfer pauses. Releasing the stream or its iterator, or cancelling the reading task,
/// cancels the transfer.
public struct ResponseStream: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Bytes
    /// The error that ended the body early.
    public typealias Failure = NetError

    /// The status code, 100 to 999.
    public let status: Int
    /// The fields of the last head.
    public let headers: Headers
    /// The HTTP version of the last hop.
    public let httpVersion: HTTPVersion
    /// The URL of the response after redirects, without credentials; empty for a stub without one.
    public let url: String
    /// The heads of the followed redirects, in order, without their bodies.
    public let earlierHeads: [ResponseHead]

    /// The cache's report; `nil` if no cache was used.
    public var cache: CacheReport? { cacheNote?.report }

    var cacheNote: CacheNote?
    /// The same as ``Response/cameByChallenge``.
    var cameByChallenge = false
    private let hops: [HopMetrics]
    private let owner: StreamOwner

    init(_ head: ResponseHead, after earlierHeads: [ResponseHead], hops: [HopMetrics], source: any ChunkSource) {
        status = head.status
        headers = head.headers
        httpVersion = head.httpVersion
        url = head.url
        self.earlierHeads = earlierHeads
        self.hops = hops
        owner = StreamOwner(source)
    }

    /// The trailer fields (RFC 9110, 6.5); empty until the end.
    public var trailers: Headers { owner.source.ending?.trailers ?? [:] }

    /// The metrics of each hop. Until the end they are those of the time of the head, and ``HopMetrics/ended`` of the
    /// last hop is `nil`.
    public var metrics: Metrics { owner.source.ending?.metrics ?? Metrics(hops) }

    /// Whether the body ended with the connection only; false until the end.
    public var isCloseDelimited: Bool { owner.source.ending?.isCloseDelimited ?? false }

    var source: any ChunkSource { owner.source }

    /// Returns the same head with another body.
    func replaced(by source: any ChunkSource) -> ResponseStream {
        let head = ResponseHead(status: status, headers: headers, httpVersion: httpVersion, url: url)
        var stream = ResponseStream(head, after: earlierHeads, hops: hops, source: source)
        stream.cacheNote = cacheNote
        stream.cameByChallenge = cameByChallenge
        return stream
    }

    /// Returns the same head with another body, after these redirects, with all these hops.
    func replaced(
        by source: any ChunkSource, after heads: [ResponseHead], hops: [HopMetrics]
    ) -> ResponseStream {
        let head = ResponseHead(status: status, headers: headers, httpVersion: httpVersion, url: url)
        var stream = ResponseStream(head, after: heads + earlierHeads, hops: hops, source: source)
        stream.cacheNote = cacheNote
        stream.cameByChallenge = cameByChallenge
        return stream
    }

    /// Abandons the stream because another transfer replaces it.
    func supersede() {
        owner.source.abandon(isSuperseded: true)
    }

    /// Returns an iterator over the body. A second one throws ``NetError/Code/usage``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: owner.source.beginReading() ? StreamReader(owner) : nil)
    }

    /// Returns the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: StreamReader?
        private var isOver = false

        fileprivate init(reader: StreamReader?) {
            self.reader = reader
        }

        /// Returns all bytes that have arrived, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Bytes? {
            guard !isOver else { return nil }
            guard let reader else {
                isOver = true
                throw NetError(.usage, "a streamed body can be read once only")
            }
            do throws(NetError) {
                let bytes = try await reader.owner.source.next()
                isOver = bytes == nil
                return bytes
            } catch {
                isOver = true
                throw error
            }
        }

        /// Returns all bytes that have arrived, or `nil` at the end.
        public mutating func next() async throws(NetError) -> Bytes? {
            try await next(isolation: nil)
        }
    }
}

extension ResponseStream {
    /// Reads the whole body into memory.
    ///
    /// - Parameter maxBytes: a longer body throws ``NetError/Code/bodyTooLarge``.
    public func collect(upTo maxBytes: Int) async throws(NetError) -> Bytes {
        var whole: [UInt8] = []
        for try await chunk in self {
            if chunk.count > maxBytes - whole.count {
                throw NetError(.bodyTooLarge, "the body is larger than \(maxBytes) bytes")
            }
            whole.append(contentsOf: chunk)
        }
        return Bytes(whole)
    }

    /// The body's lines without their ends, of at most 1 MiB each.
    public var lines: ResponseLines { lines(upTo: 1 << 20) }

    /// Returns the body's lines without their ends.
    ///
    /// - Parameter maxBytes: a longer line throws ``NetError/Code/tooLarge``.
    public func lines(upTo maxBytes: Int) -> ResponseLines {
        ResponseLines(stream: self, maxBytes: maxBytes)
    }
}

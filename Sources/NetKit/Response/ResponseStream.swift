/// A response whose body comes in pieces, in bounded memory: the head is there, the body is read by one `for` loop.
///
///     let stream = try await agent.stream(Request<Bytes>("large"))
///     for try await chunk in stream { … }
///
/// The server has to wait while enough of it waits here. Letting the stream go, or its iterator, or cancelling the
/// task that reads, cancels the transfer.
public struct ResponseStream: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Bytes
    /// What ended the body early.
    public typealias Failure = NetError

    /// The status code, 100 to 999.
    public let status: Int
    /// The fields of the last head.
    public let headers: Headers
    /// The protocol of the last hop.
    public let httpVersion: HTTPVersion
    /// The URL that answers, after redirects, without credentials; empty for a stub that names none.
    public let url: String
    /// The heads of the redirects that led here, in order; what they said in their bodies is dropped.
    public let earlierHeads: [ResponseHead]

    /// What the cache had to do with it; nil where none was asked.
    public var cache: CacheReport? { cacheNote?.report }

    var cacheNote: CacheNote?
    /// As ``Response/cameByChallenge``.
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

    /// The fields after the body (RFC 9110, 6.5); empty until the end.
    public var trailers: Headers { owner.source.ending?.trailers ?? [:] }

    /// What each hop cost. Until the end it is what was known with the head, and ``HopMetrics/ended`` of the last hop
    /// is nil.
    public var metrics: Metrics { owner.source.ending?.metrics ?? Metrics(hops) }

    /// Whether nothing but the end of the connection told where the body ended; false until then.
    public var isCloseDelimited: Bool { owner.source.ending?.isCloseDelimited ?? false }

    var source: any ChunkSource { owner.source }

    /// The same head before another body.
    func replaced(by source: any ChunkSource) -> ResponseStream {
        let head = ResponseHead(status: status, headers: headers, httpVersion: httpVersion, url: url)
        var stream = ResponseStream(head, after: earlierHeads, hops: hops, source: source)
        stream.cacheNote = cacheNote
        stream.cameByChallenge = cameByChallenge
        return stream
    }

    /// The same head before another body, behind these redirects, at the cost of all these hops.
    func replaced(
        by source: any ChunkSource, after heads: [ResponseHead], hops: [HopMetrics]
    ) -> ResponseStream {
        let head = ResponseHead(status: status, headers: headers, httpVersion: httpVersion, url: url)
        var stream = ResponseStream(head, after: heads + earlierHeads, hops: hops, source: source)
        stream.cacheNote = cacheNote
        stream.cameByChallenge = cameByChallenge
        return stream
    }

    /// Lets go of it, because another transfer takes its place.
    func supersede() {
        owner.source.abandon(isSuperseded: true)
    }

    /// Reads the body; a second iterator fails with ``NetError/Code/usage``.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: owner.source.beginReading() ? StreamReader(owner) : nil)
    }

    /// Gives the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: StreamReader?
        private var isOver = false

        fileprivate init(reader: StreamReader?) {
            self.reader = reader
        }

        /// The next bytes: as many as have come; nil at the end.
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

        /// The next bytes: as many as have come; nil at the end.
        public mutating func next() async throws(NetError) -> Bytes? {
            try await next(isolation: nil)
        }
    }
}

extension ResponseStream {
    /// Reads the whole body into memory.
    ///
    /// - Parameter maxBytes: a longer body fails with ``NetError/Code/bodyTooLarge``.
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

    /// The body's lines of at most 1 MiB, without their ends.
    public var lines: ResponseLines { lines(upTo: 1 << 20) }

    /// The body's lines, without their ends.
    ///
    /// - Parameter maxBytes: a longer line fails with ``NetError/Code/tooLarge``.
    public func lines(upTo maxBytes: Int) -> ResponseLines {
        ResponseLines(stream: self, maxBytes: maxBytes)
    }
}

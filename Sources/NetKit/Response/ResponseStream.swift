/// A response whose body is read while it arrives, in bounded memory. The head has arrived; one `for` loop can read the
/// body.
///
///     let stream = try await agent.stream("large")
///     for try await chunk in stream { … }             // chunk: Bytes
///     for try await line in stream.lines { … }        // or: lines(as: City.self), events
///
/// If too many bytes are unread (``Request/streamBufferBytes``), the transfer pauses. The transfer is cancelled if the
/// stream or its iterator is released, or if the reading task is cancelled.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The status code, 100 to 999.
    public let status: Int
    /// The header fields of the last hop.
    public let headers: Headers
    /// The HTTP version of the last hop.
    public let httpVersion: HTTPVersion
    /// The URL of the response after redirects, without credentials; empty for a stub without one.
    public let url: String
    /// The heads of the followed redirects, in order, without their bodies.
    package let earlierHeads: [ResponseHead]

    /// The cache's report; `nil` if no cache was used.
    public var cache: CacheReport? { cacheAnnotation?.report }

    var cacheAnnotation: CacheAnnotation?
    /// The settings for decoding JSON; `nil` for the defaults.
    var json: JSONCodingStorage?
    /// Whether credentials were sent in response to a challenge; see ``Response/cameByChallenge``.
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

    /// The trailer fields (RFC 9110, 6.5). Empty until the body has ended.
    public var trailers: Headers { owner.source.ending?.trailers ?? [:] }

    /// The metrics of each hop. Until the body has ended, they show the state when the head arrived, and
    /// ``HopMetrics/ended`` of the last hop is `nil`.
    public var metrics: Metrics { owner.source.ending?.metrics ?? Metrics(hops) }

    /// Whether only the end of the connection marked the end of the body; see ``Response/isCloseDelimited``. False
    /// until the body has ended.
    public var isCloseDelimited: Bool { owner.source.ending?.isCloseDelimited ?? false }

    var source: any ChunkSource { owner.source }

    /// Returns the same head with another body.
    func replaced(by source: any ChunkSource) -> ResponseStream {
        replaced(by: source, after: [], hops: hops)
    }

    /// Returns the same head with another body, additional earlier redirects, and these metrics.
    func replaced(
        by source: any ChunkSource, after heads: [ResponseHead], hops: [HopMetrics]
    ) -> ResponseStream {
        let head = ResponseHead(status: status, headers: headers, httpVersion: httpVersion, url: url)
        var stream = ResponseStream(head, after: heads + earlierHeads, hops: hops, source: source)
        stream.cacheAnnotation = cacheAnnotation
        stream.json = json
        stream.cameByChallenge = cameByChallenge
        return stream
    }

    /// Abandons the stream because another transfer replaces it.
    func supersede() {
        owner.source.abandon(isSuperseded: true)
    }

    /// Returns an iterator over the body. A second iterator throws ``NetError/Code/usage``.
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

        /// Returns all bytes that have arrived since the last call, or `nil` at the end. Waits if there are none.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Bytes? {
            guard !isOver else { return nil }
            guard let reader else {
                isOver = true
                throw NetError(.usage, "a streamed body can be read only once")
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
    }
}

extension ResponseStream {
    /// Reads the whole body into memory.
    ///
    /// - Parameter maxBytes: the largest length of the body. A longer body throws ``NetError/Code/bodyTooLarge``.
    public func collect(upTo maxBytes: Int) async throws(NetError) -> Bytes {
        var whole: [UInt8] = []
        for try await chunk in self {
            if chunk.count > maxBytes - whole.count {
                throw NetError(.bodyTooLarge, "the body is larger than the limit of \(maxBytes) bytes")
            }
            whole.append(contentsOf: chunk)
        }
        return Bytes(whole)
    }

    /// The body's lines as text, without their line ends (LF, CR LF or CR). Bytes that are not UTF-8 are replaced by
    /// U+FFFD. A line that is longer than 1 MiB throws ``NetError/Code/tooLarge``.
    public var lines: some AsyncSequence<String, NetError> & Sendable { lines(upTo: 1 << 20) }

    /// Returns the body's lines like ``lines``.
    ///
    /// - Parameter maxBytes: the largest length of a line. A longer line throws ``NetError/Code/tooLarge``.
    public func lines(upTo maxBytes: Int) -> some AsyncSequence<String, NetError> & Sendable {
        ParsedBody(stream: self, parser: LineSplitter(maxBytes: maxBytes))
    }

    /// Returns the values of newline-delimited JSON, decoded with the ``JSONCoding`` of the request or the agent. Empty
    /// lines are skipped.
    ///
    ///     for try await token in stream.lines(as: Token.self) { … }
    ///
    /// A line that cannot be decoded ends the sequence with ``NetError/Code/decoding``. The message has the number
    /// of the line, and ``NetError/response`` its bytes.
    /// - Parameters:
    ///   - type: the type of each value.
    ///   - maxBytes: the largest length of a line. A longer line throws ``NetError/Code/tooLarge``.
    public func lines<Value: Decodable & Sendable>(
        as type: Value.Type, upTo maxBytes: Int = 1 << 20
    ) -> some AsyncSequence<Value, NetError> & Sendable {
        ParsedBody(stream: self, parser: JSONLineParser<Value>(head: headOnly, maxBytes: maxBytes))
    }

    /// The body's server-sent events (WHATWG HTML, 9.2) until it ends. A line or an event that is larger than 1 MiB
    /// throws ``NetError/Code/tooLarge``. To connect again when the connection is lost, use
    /// ``Agent/serverSentEvents(_:lastEventID:reconnectDelay:maxEventBytes:)``.
    public var events: some AsyncSequence<ServerSentEvent, NetError> & Sendable {
        ParsedBody(stream: self, parser: EventStreamParser(maxBytes: 1 << 20, json: json))
    }
}

/// The source of a streamed body.
protocol ChunkSource: AnyObject, Sendable {
    /// Returns the next bytes, or `nil` at the end. Must not be called again before it returns.
    func next() async throws(NetError) -> Bytes?
    /// Cancels the source, because its remaining bytes are not needed. `isSuperseded` is true if another transfer
    /// replaces this one.
    func abandon(isSuperseded: Bool)
    /// Reserves the source for one reader. Returns false if it already has or had a reader.
    func beginReading() -> Bool
    /// The response without its body; `nil` before the end.
    var ending: Response<Bytes>? { get }
}

/// Abandons a stream's source when its last owner is released.
private final class StreamOwner: Sendable {
    let source: any ChunkSource

    init(_ source: any ChunkSource) {
        self.source = source
    }

    deinit {
        source.abandon(isSuperseded: false)
    }
}

/// Abandons a stream's source when its reader is released, even if the stream has other owners.
private final class StreamReader: Sendable {
    let owner: StreamOwner

    init(_ owner: StreamOwner) {
        self.owner = owner
    }

    deinit {
        owner.source.abandon(isSuperseded: false)
    }
}

/// The response to a call: a head, and a body that is in memory, still arriving, or in a file.
public struct Answer: Sendable {
    /// The body.
    public enum Body: Sendable {
        /// Complete and in memory.
        case bytes(Bytes)
        /// Still arriving; it can be read once.
        case stream(ResponseStream)
        /// In a file.
        case file(SavedFile)
    }

    private enum Content: Sendable {
        case whole(Response<Bytes>)
        // Indirect, so that the usual case is no larger than a response.
        indirect case saved(Response<Bytes>, SavedFile)
        indirect case stream(ResponseStream)
    }

    private let content: Content

    /// Creates a response whose body is in memory.
    public init(_ response: Response<Bytes>) {
        content = .whole(response)
    }

    /// Creates a response whose body is in a file; `response` has no bytes.
    public init(_ response: Response<Bytes>, in file: SavedFile) {
        content = .saved(response, file)
    }

    /// Creates a response whose body is still arriving.
    public init(_ stream: ResponseStream) {
        content = .stream(stream)
    }

    /// The status code, 100 to 999.
    public var status: Int {
        switch content {
        case .whole(let response), .saved(let response, _): response.status
        case .stream(let stream): stream.status
        }
    }

    /// The fields of the last head.
    public var headers: Headers {
        switch content {
        case .whole(let response), .saved(let response, _): response.headers
        case .stream(let stream): stream.headers
        }
    }

    /// The URL of the response, after redirects; empty for a stub without one.
    public var url: String {
        switch content {
        case .whole(let response), .saved(let response, _): response.url
        case .stream(let stream): stream.url
        }
    }

    /// The metrics of each hop so far.
    public var metrics: Metrics {
        switch content {
        case .whole(let response), .saved(let response, _): response.metrics
        case .stream(let stream): stream.metrics
        }
    }

    /// The same as ``Response/cameByChallenge``.
    var cameByChallenge: Bool {
        switch content {
        case .whole(let response), .saved(let response, _): response.cameByChallenge
        case .stream(let stream): stream.cameByChallenge
        }
    }

    /// The body.
    public var body: Body {
        switch content {
        case .whole(let response): .bytes(response.bytes)
        case .saved(_, let file): .file(file)
        case .stream(let stream): .stream(stream)
        }
    }

    /// The response; without bytes unless the body is in memory.
    public var response: Response<Bytes> {
        switch content {
        case .whole(let response), .saved(let response, _): response
        case .stream(let stream): stream.headOnly
        }
    }

    /// Discards the response because another transfer replaces it. Without this, releasing a stream reports the end to
    /// the request's ``Request/progress``.
    public func discard() {
        if case .stream(let stream) = content {
            stream.supersede()
        }
    }

    /// Discards the response because another transfer replaces it, perhaps on the same connection. First reads a short
    /// body that is immediately available, as the engine does for a redirect. Errors of that are ignored.
    func leave() async {
        if case .stream(let stream) = content {
            await stream.drain()
            stream.supersede()
        }
    }

    /// Returns the first bytes of the body, and the response to continue with: its stream starts with these bytes
    /// again.
    ///
    /// Returns no bytes for a body in a file.
    /// - Parameter maxBytes: the limit for a stream; of a body in memory all bytes are returned.
    public func peek(upTo maxBytes: Int) async throws(NetError) -> (beginning: Bytes, reply: Answer) {
        switch content {
        case .whole(let response): return (response.bytes, self)
        case .saved: return ([], self)
        case .stream(let stream):
            let (beginning, again) = try await stream.peek(upTo: maxBytes)
            return (beginning, Answer(again))
        }
    }
}

extension ResponseStream {
    /// Returns the response with its whole body in memory; an error contains the head.
    func whole(upTo maxBytes: Int?) async throws(NetError) -> Response<Bytes> {
        let bytes: Bytes
        do throws(NetError) {
            bytes = try await collect(upTo: maxBytes ?? .max)
        } catch {
            throw error.telling(headOf: self)
        }
        var response = source.ending ?? headOnly
        response.cameByChallenge = cameByChallenge
        response.bytes = bytes
        response.value = bytes
        return response
    }

    /// The head as a response without a body.
    var headOnly: Response<Bytes> {
        var response = Response<Bytes>(status: status, headers: headers, metrics: metrics)
        response.httpVersion = httpVersion
        response.cacheNote = cacheNote
        if cameByChallenge {
            response.cameByChallenge = true
        }
        return response
    }

    fileprivate func drain() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await collect(upTo: 64 << 10) }
            group.addTask { try? await TimeSource.system.sleep(.seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Reads until there are enough bytes or the body ends, and returns a stream that repeats them.
    fileprivate func peek(upTo maxBytes: Int) async throws(NetError) -> (Bytes, ResponseStream) {
        guard source.beginReading() else {
            throw NetError(.usage, "a streamed body can be read once only")
        }
        var pieces: [Bytes] = []
        var beginning: [UInt8] = []
        while beginning.count < maxBytes, let piece = try await source.next() {
            pieces.append(piece)
            beginning.append(contentsOf: piece)
        }
        return (Bytes(Array(beginning.prefix(maxBytes))), replaced(by: ResumedChunks(pieces, then: self)))
    }
}

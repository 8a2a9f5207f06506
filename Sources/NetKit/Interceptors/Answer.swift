/// What a call is answered with: a head, and a body that is in memory, still coming, or in a file.
public struct Answer: Sendable {
    /// Where the body is.
    public enum Body: Sendable {
        /// In memory.
        case bytes(Bytes)
        /// Coming; it can be read once.
        case stream(ResponseStream)
        /// In a file.
        case file(SavedFile)
    }

    private enum Content: Sendable {
        case whole(Response<Bytes>)
        // Elsewhere, so that what all answers are is no larger than a response.
        indirect case saved(Response<Bytes>, SavedFile)
        indirect case stream(ResponseStream)
    }

    private let content: Content

    /// A response whose body is in memory.
    public init(_ response: Response<Bytes>) {
        content = .whole(response)
    }

    /// A response whose body is in a file; the response has no bytes.
    public init(_ response: Response<Bytes>, in file: SavedFile) {
        content = .saved(response, file)
    }

    /// A response whose body is still coming.
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

    /// The URL that answered, after redirects; empty for a stub that names none.
    public var url: String {
        switch content {
        case .whole(let response), .saved(let response, _): response.url
        case .stream(let stream): stream.url
        }
    }

    /// What each hop cost so far.
    public var metrics: Metrics {
        switch content {
        case .whole(let response), .saved(let response, _): response.metrics
        case .stream(let stream): stream.metrics
        }
    }

    /// As ``Response/cameByChallenge``.
    var cameByChallenge: Bool {
        switch content {
        case .whole(let response), .saved(let response, _): response.cameByChallenge
        case .stream(let stream): stream.cameByChallenge
        }
    }

    /// Where the body is.
    public var body: Body {
        switch content {
        case .whole(let response): .bytes(response.bytes)
        case .saved(_, let file): .file(file)
        case .stream(let stream): .stream(stream)
        }
    }

    /// The response; without bytes where the body is not in memory.
    public var response: Response<Bytes> {
        switch content {
        case .whole(let response), .saved(let response, _): response
        case .stream(let stream): stream.headOnly
        }
    }

    /// Lets go of it, because another exchange takes its place. Without this, a stream that is dropped tells its
    /// request's ``Request/progress`` that all is over.
    public func discard() {
        if case .stream(let stream) = content {
            stream.supersede()
        }
    }

    /// Lets go of it, because another exchange takes its place, perhaps over the same connection: what little of a body
    /// comes at once is read, as the engine reads that of a redirect. However it ends hinders nobody.
    func leave() async {
        if case .stream(let stream) = content {
            await stream.drain()
            stream.supersede()
        }
    }

    /// The reply's first bytes, and the reply to go on with: what was read of a stream comes again from there.
    ///
    /// A body in a file tells none.
    /// - Parameter maxBytes: at most so many of a stream; of a body in memory all.
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
    /// The response with its whole body in memory; an error tells the head.
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

    /// Its head, as a response without a body.
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

    /// Reads pieces until there are enough bytes or none are left, and makes a stream that gives them again.
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

/// The response to a call, as the interceptors receive it. Its body is in memory, still arriving, or in a file.
public struct ChainResponse: Sendable {
    /// The body.
    public enum Body: Sendable {
        /// The complete body, in memory.
        case bytes(Bytes)
        /// A body that is still arriving. It can be read once.
        case stream(ResponseStream)
        /// The complete body, in a file.
        case file(DownloadedFile)
    }

    private enum Content: Sendable {
        case whole(Response<Bytes>)
        // The rare cases are indirect, so that the enum is no larger than a response.
        indirect case saved(Response<Bytes>, DownloadedFile)
        indirect case stream(ResponseStream)
    }

    private let content: Content

    /// Creates a response whose body is in memory.
    public init(_ response: Response<Bytes>) {
        content = .whole(response)
    }

    /// Creates a response whose body is in a file. `response` must have no bytes.
    public init(_ response: Response<Bytes>, in file: DownloadedFile) {
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

    /// The header fields of the final response head.
    public var headers: Headers {
        switch content {
        case .whole(let response), .saved(let response, _): response.headers
        case .stream(let stream): stream.headers
        }
    }

    /// The URL of the response, after redirects. Empty if a stub sets none.
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

    /// The value of ``Response/cameByChallenge``.
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

    /// The response. Its bytes are empty unless the body is in memory.
    public var response: Response<Bytes> {
        switch content {
        case .whole(let response), .saved(let response, _): response
        case .stream(let stream): stream.headOnly
        }
    }

    /// Discards the response because another transfer follows.
    ///
    /// Call this instead of only releasing the response. Releasing a stream would report the end of the call to
    /// ``Request/progress``.
    public func discard() {
        if case .stream(let stream) = content {
            stream.supersede()
        }
    }

    /// Discards the response because another transfer follows. First reads the body if it is short and arrives soon, so
    /// that the connection can be reused, as the engine does for a redirect. Ignores errors of the body.
    func discardBody() async {
        if case .stream(let stream) = content {
            await stream.drain()
            stream.supersede()
        }
    }

    /// Returns the first bytes of the body, and a response to use instead of this one. The stream of that response
    /// still contains the returned bytes.
    ///
    /// - Parameter maxBytes: the largest number of bytes to read from a stream. For a body in memory all bytes are
    ///   returned, and for a body in a file none.
    public func peek(upTo maxBytes: Int) async throws(NetError) -> (beginning: Bytes, reply: ChainResponse) {
        switch content {
        case .whole(let response): return (response.bytes, self)
        case .saved: return ([], self)
        case .stream(let stream):
            let (beginning, repeated) = try await stream.peek(upTo: maxBytes)
            return (beginning, ChainResponse(repeated))
        }
    }
}

extension ResponseStream {
    /// Returns the response with its whole body in memory. An error contains the response head.
    func whole(upTo maxBytes: Int?) async throws(NetError) -> Response<Bytes> {
        let bytes: Bytes
        do throws(NetError) {
            bytes = try await collect(upTo: maxBytes ?? .max)
        } catch {
            throw error.attaching(headOf: self)
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
        response.cacheAnnotation = cacheAnnotation
        if cameByChallenge {
            response.cameByChallenge = true
        }
        if let json {
            response.jsonCoding = json
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

    /// Reads up to `maxBytes`, and returns them with a stream that still contains them.
    fileprivate func peek(upTo maxBytes: Int) async throws(NetError) -> (Bytes, ResponseStream) {
        guard source.beginReading() else {
            throw NetError(.usage, "a streamed body can be read only once")
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

extension Request {
    /// Checks status and content type of a response. If neither is accepted, the error is that of the status, and its
    /// ``NetError/underlying`` is that of the type.
    ///
    /// - Parameters:
    ///   - types: the types that the decoding accepts.
    ///   - statuses: the accepted statuses; `nil` for those of the request.
    func checkHead(
        _ received: Response<Bytes>, types: [String]?, statuses: StatusSet? = .none
    ) throws(NetError) {
        let accepted = acceptedTypes ?? (expectation != nil ? MediaTypes.json : types)
        if !(statuses ?? acceptedStatuses).contains(received.status) {
            throw NetError(unacceptable: received, underlying: received.typeError(accepted))
        }
        try received.checkType(accepted)
    }

    /// Checks status and content type of a response whose body has not arrived yet.
    ///
    /// - Parameter types: the accepted types, if the request sets none.
    package func checkHead(of stream: ResponseStream, types: [String]?) throws(NetError) {
        try checkHead(
            Response(status: stream.status, headers: stream.headers, metrics: stream.metrics), types: types)
    }

    /// Checks that the body is the expected JSON, unless the transport has checked it already.
    func checkBody(_ bytes: Bytes, of received: Response<Bytes>) throws(NetError) {
        guard let expectation, !bytes.isProven(expectation) else { return }
        do throws(NetError) {
            try expectation.check(bytes)
        } catch {
            throw received.blamingCharset(for: error).attaching(received)
        }
    }

    /// Replaces the error of a body that is not JSON by the error of its content type, if that is wrong too. The latter
    /// is the cause and therefore more useful.
    func explained(_ error: NetError) -> NetError {
        guard error.code == .badJSON, let received = error.response else { return error }
        do throws(NetError) {
            try received.checkType(acceptedTypes ?? MediaTypes.json)
            return received.blamingCharset(for: error)
        } catch {
            return error
        }
    }
}
